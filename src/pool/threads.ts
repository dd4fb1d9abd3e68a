/** The threads of a pool, which Piscina starts, watches and ends. */
import { Piscina } from 'piscina';
import { fileURLToPath } from 'node:url';
import { messageOf, type Log } from '../log.js';
import type { ReleaseSource } from '../pool.js';
import type { ServeTask } from './lane-server.js';
import type { Lane } from './lane.js';
import type { EngineSettings } from './types.js';

/** Name of the function a worker file exports. */
const WORKER_EXPORT = 'serve';

/**
 * The heap of a worker. Without a limit V8 collects the longer-lived part the more seldom the
 * larger it has grown: three times what is in use was seen. What is kept on purpose (records,
 * places) comes to less than half of it, and any body can be read in the rest (`json-scan`); a
 * worker that passes it is ended and replaced.
 */
export const WORKER_HEAP = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 192 } as const;

/** What a pool is made with; what is left out is as most pools have it. */
export interface PoolOptions {
  readonly releases: ReleaseSource;
  readonly log: Log;
  readonly threads: number;
  readonly worker?: URL;
  readonly settings?: EngineSettings;
  /** Tasks a worker may hold: one being answered and the next ones waiting for it. */
  readonly tasksPerWorker?: number;
  /** Lookups of a task; other requests count as several, by their bytes. */
  readonly requestsPerTask?: number;
  readonly waitingMax?: number;
  readonly waitingBytesMax?: number;
  readonly taskMs?: number;
  readonly watchMs?: number;
  /** Shared memory of a task; larger ones go as messages. */
  readonly requestBytes?: number;
  readonly answerBytes?: number;
}

/** What a pool has unless it is given. */
export const POOL_DEFAULTS = {
  settings: { baseUrl: '', precisionMin: 'city', logLevel: 'info' },
  /**
   * So that a worker has the next task while the answers of earlier ones are being written; where
   * it has that many, what comes gathers to a larger one.
   */
  tasksPerWorker: 4,
  /**
   * Enough to share the cost of a task, and for a worker to have the code of each step at hand for
   * many lookups. Larger tasks keep their first request waiting for the last.
   */
  requestsPerTask: 128,
  /** Beyond it requests are refused at once. */
  waitingMax: 4_096,
  /**
   * A body whose client was told that it takes too long waits on, and counts nowhere else any more.
   */
  waitingBytesMax: 67_108_864,
  /** Longest time of a task, after which its worker is taken for stuck. */
  taskMs: 10_000,
  watchMs: 1_000,
  requestBytes: 65_536,
  answerBytes: 524_288,
} as const satisfies Partial<PoolOptions>;

/** Which threads, and what each is told. */
interface ThreadOptions {
  readonly threads: number;
  readonly worker: URL;
  readonly settings: EngineSettings;
  readonly log: Log;
}

/** Starts the threads. What one of them throws outside its task is logged. */
export function startThreads({
  threads,
  worker,
  settings,
  log,
}: ThreadOptions): Piscina<ServeTask, never> {
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

/** What a pool is at, for those who watch it. */
export interface PoolState {
  /** Requests that no worker has taken yet, and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Requests in each lane, taken and not answered. */
  readonly lanes: readonly number[];
  /** Workers that have begun to serve and have not ended since. */
  readonly serving: number;
  /** Workers that ended and were replaced, so far. */
  readonly ended: number;
}

/** A pool whose workers nobody has needed yet. */
export const IDLE_POOL: PoolState = {
  waiting: 0,
  waitingBytes: 0,
  lanes: [],
  serving: 0,
  ended: 0,
};

export function poolState(
  lanes: readonly Lane[],
  waiting: number,
  waitingBytes: number,
  ended: number,
): PoolState {
  return {
    waiting,
    waitingBytes,
    ended,
    lanes: lanes.map(({ load }) => load),
    serving: lanes.filter((lane) => lane.running && !lane.loading).length,
  };
}
