/** Worker: bytes in, bytes out. */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { openDataset } from '../src/dataset/open.js';
import { Engine } from '../src/engine/engine.js';
import type { Unheld } from '../src/engine/lookup-query.js';
import { createLog, faultOf } from '../src/log.js';
import type { EngineSettings } from '../src/pool.js';
import { serveLane, type ServeTask } from '../src/pool/lane-server.js';
import { taskAnswerer } from '../src/worker.js';

const STDERR = 2;

/** A stream would need the event loop, which stands still while the worker serves. */
function writeLine(line: string): void {
  try {
    writeSync(STDERR, line);
  } catch {
    // Nobody reads: a lookup is worth more than its log line.
  }
}

const settings: EngineSettings = workerData;
const log = createLog(settings.logLevel, writeLine);
const COVERAGE = 'npx situs dataset coverage';

/** Whether no thread of those that share `told` has told of it. */
function isNews({ state, past }: Unheld): boolean {
  const { told } = settings;
  if (told === undefined) return true;
  return Atomics.exchange(told, 2 * parseInt(state, 36) + Number(past), 1) === 0;
}

const answerTask = taskAnswerer({
  settings,
  open: (dir) =>
    new Engine(openDataset(dir), (unheld) => {
      if (isNews(unheld)) log.info('rates not held', { ...unheld, see: COVERAGE });
    }),
  report: (error) => log.error('lookup failed', { fault: faultOf(error) }),
});

export function serve(task: ServeTask): never {
  return serveLane(task, answerTask);
}
