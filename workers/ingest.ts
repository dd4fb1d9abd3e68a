/** Worker of a build: reads sources of addresses and builds shards of the street table. */
import { workerData } from 'node:worker_threads';
import { crewOf, type CrewWorld } from '../src/ingest/street/crew.js';

const { parse, build } = crewOf(workerData as CrewWorld);

export { build, parse };
