/** Workers of chunks, apart from those of single lookups. */
import { type PoolOptions, type PoolState, IDLE_POOL } from '../../pool/threads.js';
import { EnginePool, type PoolRequest } from '../../pool.js';
import { CHUNK_BYTES_MAX } from '../row/record-form.js';

/** Two, so that a worker that ends a chunk has the next one at hand. */
export const CHUNKS_PER_WORKER = 2;
/** A chunk takes milliseconds; a worker of low priority on a busy machine may take long. */
const CHUNK_MS_MAX = 60_000;
/** Shared memory of a chunk: its rows with what holds for all, and about what they become. */
const REQUEST_BYTES = CHUNK_BYTES_MAX + 65_536;
const ANSWER_BYTES = 1_048_576;

/** Rows seldom repeat each other, so a worker keeps few answers and takes less memory. */
export const BULK_CACHE_BYTES = 16 * 1_048_576;

const BULK_WORKER = new URL('../../../workers/bulk.js', import.meta.url);

/** A pool that is to be closed. */
export interface ClosingPool {
  submit(request: PoolRequest): void;
  close(): Promise<void>;
  readonly state: PoolState;
}

/** The workers, started by the first chunk: a service without files of rows never pays for them. */
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

/** Opens workers; none starts before the first chunk. */
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
