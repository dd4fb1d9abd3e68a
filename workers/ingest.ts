/** A worker of a build: parses sources of addresses, and builds shards of the street table. */
import { workerData } from 'node:worker_threads';
import { tasksOf, type World } from '../src/ingest/street/build-tasks.js';

const { parse, build } = tasksOf(workerData as World);

export { build, parse };
