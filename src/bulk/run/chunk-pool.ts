/** The workers that answer chunks, which are not those of single lookups. */
import { type PoolOptions, type PoolState, IDLE_POOL } from '../../pool/threads.js';
import { EnginePool, type PoolRequest } from '../../pool.js';
import { CHUNK_BYTES_MAX } from '../row/record-form.js';

/** Two, so that a worker that has answered a chunk finds the next one waiting. */
export const CHUNKS_PER_WORKER = 2;
/** A chunk takes milliseconds, but a worker of low priority on a busy machine may need long. */
const CHUNK_MS_MAX = 60_000;
/**
 * Shared memory of a chunk: for its rows with the facts of the run, and for about the output that
 * they become.
 */
const REQUEST_BYTES = CHUNK_BYTES_MAX + 65_536;
const ANSWER_BYTES = 1_048_576;

/** Rows seldom repeat each other, so a worker keeps few answers to save memory. */
export const BULK_CACHE_BYTES = 16 * 1_048_576;

const BULK_WORKER = new URL('../../../workers/bulk.js', import.meta.url);

/** A pool that its owner has to close. */
export interface ClosingPool {
  submit(request: PoolRequest): void;
  close(): Promise<void>;
  readonly state: PoolState;
}

/**
 * Starts the workers for the first chunk, so that a service that gets no files never pays for them.
 */
class LazyPool implements ClosingPool {
  readonly #open: () => EnginePool;
  #pool: EnginePool | null = null;

  constructor(open: () => EnginePool) {
    this.#open = open;
  }

  submit(request: PoolRequest): void {
    this.#pool ??= this.#open();
    this.#pool.submit(request);
  }

  get state(): PoolState {
    return this.#pool?.state ?? IDLE_POOL;
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}

/** Opens the workers of chunks. None starts before the first chunk. */
export function openChunkPool(
  options: Pick<PoolOptions, 'releases' | 'log' | 'threads' | 'settings' | 'worker'>,
): ClosingPool {
  const { settings } = options;
  return new LazyPool(
    () =>
      new EnginePool({
        worker: BULK_WORKER,
        ...options,
        ...(settings === undefined
          ? {}
          : { settings: { ...settings, cacheBytesMax: BULK_CACHE_BYTES } }),
        requestsPerTask: 1,
        tasksPerWorker: CHUNKS_PER_WORKER,
        taskMs: CHUNK_MS_MAX,
        requestBytes: REQUEST_BYTES,
        answerBytes: ANSWER_BYTES,
      }),
  );
}
