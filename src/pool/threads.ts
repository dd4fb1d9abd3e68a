/** The threads of a pool, which Piscina starts, watches and ends. */
import { Piscina } from 'piscina';
import { fileURLToPath } from 'node:url';
import { messageOf, type Log } from '../log.js';
import type { ServeTask } from './lane-server.js';
import type { EngineSettings } from './types.js';

/** Name of the function a worker file exports. */
const WORKER_EXPORT = 'serve';

/**
 * The heap of a worker. Without a limit V8 collects the longer-lived part the more seldom the
 * larger it has grown: three times what is in use was seen. What is kept on purpose (records,
 * places) comes to less than half of it; a worker that passes it is ended and replaced.
 */
export const WORKER_HEAP = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 160 } as const;

/** Which threads, and what each is told. */
export interface ThreadOptions {
  readonly threads: number;
  readonly worker: URL;
  readonly settings: EngineSettings;
  readonly log: Log;
}

/** Starts the threads. What one of them throws outside its task is logged. */
export function startThreads(
  { threads, worker, settings, log }: ThreadOptions,
): Piscina<ServeTask, never> {
  const piscina = new Piscina<ServeTask, never>({
    filename: fileURLToPath(worker),
    name: WORKER_EXPORT,
    workerData: settings,
    resourceLimits: WORKER_HEAP,
    minThreads: threads,
    maxThreads: threads,
    // Never: a pool that lets idle threads go starts them again under load.
    idleTimeout: Infinity,
    // A worker's one task serves its lane.
    concurrentTasksPerWorker: 1,
    recordTiming: false,
  });
  piscina.on('error', (error: unknown) => {
    log.error('worker error', { message: messageOf(error) });
  });
  return piscina;
}
