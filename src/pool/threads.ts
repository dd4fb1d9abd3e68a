/** The threads of a pool, which Piscina starts, watches and ends. */
import { Piscina } from 'piscina';
import { fileURLToPath } from 'node:url';
import { messageOf, type Log } from '../log.js';
import type { ReleaseSource } from '../pool.js';
import type { ServeTask } from './lane-server.js';
import type { Lane } from './lane.js';
import type { EngineSettings } from './types.js';

/** Name of the function that a worker's file exports. */
const WORKER_EXPORT = 'serve';

/**
 * Limits of a worker's heap. Without one, V8 collects the old generation the more rarely the larger
 * it has grown, and three times the memory in use was measured. What a worker keeps on purpose
 * (records, places) takes less than half of this, and the rest suffices to read any body
 * (`json-scan`). A worker that exceeds it is ended and replaced.
 */
export const WORKER_HEAP = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 192 } as const;

/** What a pool is made with; `POOL_DEFAULTS` has the values of members left out. */
export interface PoolOptions {
  readonly releases: ReleaseSource;
  readonly log: Log;
  readonly threads: number;
  readonly worker?: URL;
  readonly settings?: EngineSettings;
  /** How many tasks a worker may hold: the one that it answers and those that wait for it. */
  readonly tasksPerWorker?: number;
  /** How many lookups a task may have; any other request counts as several, by its bytes. */
  readonly requestsPerTask?: number;
  readonly waitingMax?: number;
  readonly waitingBytesMax?: number;
  readonly taskMs?: number;
  readonly watchMs?: number;
  /** Shared memory for the requests and the answers of a task; larger ones are sent as messages. */
  readonly requestBytes?: number;
  readonly answerBytes?: number;
}

export const POOL_DEFAULTS = {
  settings: { baseUrl: '', precisionMin: 'city', logLevel: 'info' },
  /**
   * With several tasks, a worker has its next one while the answers of earlier ones are written.
   * Requests beyond them gather in one larger task.
   */
  tasksPerWorker: 4,
  /**
   * Enough to spread the cost of a task, and for a worker to keep the code of each step in its
   * cache for many lookups. In a larger task, the first request waits longer for the last.
   */
  requestsPerTask: 128,
  /** When so many requests wait, further ones are refused at once. */
  waitingMax: 4_096,
  /**
   * Bytes of waiting requests. A request whose client was told of a time-out stays here and is
   * counted nowhere else.
   */
  waitingBytesMax: 67_108_864,
  /** Longest time of a task; a worker that takes longer counts as stuck and is ended. */
  taskMs: 10_000,
  watchMs: 1_000,
  requestBytes: 65_536,
  answerBytes: 524_288,
} as const satisfies Partial<PoolOptions>;

/** Which file the threads run, and what each is told. */
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
    // Threads are never ended for being idle, since a pool would have to start them again under
    // load.
    idleTimeout: Infinity,
    // The only task of a worker is to serve its lane.
    concurrentTasksPerWorker: 1,
    recordTiming: false,
  });
  piscina.on('error', (error: unknown) => {
    log.error('worker error', { message: messageOf(error) });
  });
  return piscina;
}

/** The state of a pool, for metrics. */
export interface PoolState {
  /** Requests that no worker has taken yet (`waiting`), and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** For each lane, requests that were taken and are not answered. */
  readonly lanes: readonly number[];
  /** Workers that serve now. */
  readonly serving: number;
  /** How many workers have ended and been replaced so far. */
  readonly ended: number;
}

/** The state of a pool before its first use. */
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
