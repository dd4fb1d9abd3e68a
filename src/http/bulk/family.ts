/** Assembles bulk: workers of its own, the schedule of their time, the desk and the routes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../log.js';
import { EnginePool, type EngineSettings, type PoolRequest } from '../../pool.js';
import { CHUNK_BYTES_MAX } from '../../wire/bulk/limit.js';
import { bulkRoutes, type BulkServices } from '../handle/bulk.js';
import type { Route } from '../router.js';
import { BulkDesk, type BulkLimits } from './desk.js';
import { ChunkSchedule, type ChunkPool } from './schedule.js';
import { SpoolSpace } from './spool.js';

/** Two, so that a worker has the next chunk when it ends one. */
const CHUNKS_PER_WORKER = 2;
/** A chunk takes milliseconds; a worker of low priority on a busy machine may take long. */
const CHUNK_MS_MAX = 60_000;
/** Shared memory of a chunk: its rows with their job, and about what they become as NDJSON. */
const REQUEST_BYTES = CHUNK_BYTES_MAX + 65_536;
const ANSWER_BYTES = 1_048_576;

const BULK_WORKER = new URL('../../../workers/bulk.js', import.meta.url);

export interface BulkFamilyOptions
  extends Pick<BulkServices, 'findKey' | 'gate' | 'usage' | 'releases' | 'baseUrl'> {
  readonly log: Log;
  readonly threads: number;
  readonly settings: EngineSettings;
  readonly limits: BulkLimits;
  /** Folder of output that waits for its end; what a killed process left in it is removed. */
  readonly spoolDir: string;
  readonly spoolBytesMax: number;
  /** Replaced in tests. */
  readonly worker?: URL;
}

export interface BulkFamily {
  readonly routes: readonly Route[];
  readonly desk: BulkDesk;
  /** The workers by themselves, for requests that are as large as a chunk. */
  readonly pool: ChunkPool;
  /** Ends every stream with its trailer. */
  stop(): void;
  close(): Promise<void>;
}

/** The workers, started by the first chunk: who never streams never pays for them. */
class LazyPool {
  readonly #open: () => EnginePool;
  #pool: EnginePool | null = null;

  constructor(open: () => EnginePool) {
    this.#open = open;
  }

  submit(request: PoolRequest): void {
    this.#pool ??= this.#open();
    this.#pool.submit(request);
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}

/** Opens the family; nothing starts before the first stream. */
export function openBulkFamily(options: BulkFamilyOptions): BulkFamily {
  const { log, threads, settings, releases, limits, spoolDir, spoolBytesMax } = options;
  rmSync(spoolDir, { recursive: true, force: true });
  const pool = new LazyPool(() => new EnginePool({
    releases, log, threads, settings, worker: options.worker ?? BULK_WORKER,
    requestsPerTask: 1, tasksPerWorker: CHUNKS_PER_WORKER, taskMs: CHUNK_MS_MAX,
    requestBytes: REQUEST_BYTES, answerBytes: ANSWER_BYTES,
  }));
  const desk = new BulkDesk({
    schedule: new ChunkSchedule(pool, threads * CHUNKS_PER_WORKER),
    space: new SpoolSpace(spoolDir, spoolBytesMax),
    limits,
    now: Date.now,
  });
  return {
    routes: bulkRoutes({ ...options, desk }),
    desk,
    pool,
    stop: () => desk.stop(),
    close: () => pool.close(),
  };
}

/** Folder of spooled output below the folder of variables. */
export function spoolDirOf(varDir: string): string {
  return join(varDir, 'spool');
}
