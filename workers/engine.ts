/** A worker that answers requests: it takes frames of bytes and returns frames of bytes. */
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

/**
 * Written synchronously: a stream would need the event loop, which stands still while a worker
 * serves.
 */
function writeLine(line: string): void {
  try {
    writeSync(STDERR, line);
  } catch {
    // Nobody reads the log, and a lookup is more important than its log line.
  }
}

const settings: EngineSettings = workerData;
const log = createLog(settings.logLevel, writeLine);
const COVERAGE = 'npx situs dataset coverage';

/** Whether no thread has reported this yet, of all threads that share `told`. */
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
