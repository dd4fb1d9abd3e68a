/** The worker of the service; a request with the word `allocate` takes memory without end. */
import { workerData } from 'node:worker_threads';
import { openDataset } from '../../src/dataset/open.js';
import { Engine } from '../../src/engine/engine.js';
import { serveLane, type ServeTask } from '../../src/pool/lane-server.js';
import { taskAnswerer } from '../../src/worker.js';

const GREEDY = 'allocate';
const NUMBERS = 50_000;

const answerTask = taskAnswerer({
  settings: workerData,
  open: (dir) => new Engine(openDataset(dir)),
  report: () => undefined,
});

function allocate(): never {
  const kept: object[] = [];
  // Numbers with a fraction lie in the heap beside each other, so that it is soon full.
  for (;;) kept.push(new Array<number>(NUMBERS).fill(0.5));
}

export function serve(task: ServeTask): never {
  return serveLane(task, (each, into) => {
    if (Buffer.from(each.frame).includes(GREEDY)) allocate();
    answerTask(each, into);
  });
}
