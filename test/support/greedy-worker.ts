/** The worker of the service; a request with the word `allocate` takes memory without end. */
import { workerData } from 'node:worker_threads';
import { openWire } from '../../src/api/lookup/context.js';
import { OpenReleases, openDataset } from '../../src/dataset/open.js';
import { Engine } from '../../src/engine/engine.js';
import type { EngineSettings } from '../../src/pool.js';
import { serveLane, type ServeTask } from '../../src/pool/lane-server.js';
import { answerInto } from '../../src/worker.js';

const GREEDY = 'allocate';
const NUMBERS = 50_000;

const { baseUrl, precisionMin }: EngineSettings = workerData;
const releases = new OpenReleases((dir) => new Engine(openDataset(dir)));
const context = openWire({
  baseUrl,
  precisionMin,
  open: (release) => releases.get(release),
  report: () => undefined,
});

function allocate(): never {
  const kept: object[] = [];
  // Numbers with a fraction lie in the heap beside each other, so that it is soon full.
  for (;;) kept.push(new Array<number>(NUMBERS).fill(0.5));
}

export function serve(task: ServeTask): never {
  return serveLane(task, ({ dataset, frame, now }, into) => {
    if (Buffer.from(frame).includes(GREEDY)) allocate();
    answerInto(into, releases.get(dataset), frame, now, context);
  });
}
