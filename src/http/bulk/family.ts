/** Assembles bulk: workers of its own, the schedule of their time, the desk and the routes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../log.js';
import type { EngineSettings } from '../../pool.js';
import { bulkRoutes, type BulkServices } from '../handle/bulk.js';
import type { Route } from '../router.js';
import { CHUNKS_PER_WORKER, openChunkPool } from './chunk-pool.js';
import { BulkDesk, type BulkLimits } from './desk.js';
import { ChunkSchedule, type ChunkPool } from './schedule.js';
import { SpoolSpace } from './spool.js';

export interface BulkFamilyOptions
  extends Pick<
    BulkServices, 'findKey' | 'gate' | 'usage' | 'releases' | 'baseUrl' | 'findMerchant'
  > {
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

/** Opens the family; nothing starts before the first stream. */
export function openBulkFamily(options: BulkFamilyOptions): BulkFamily {
  const { log, threads, settings, releases, limits, spoolDir, spoolBytesMax } = options;
  rmSync(spoolDir, { recursive: true, force: true });
  const { worker } = options;
  const pool = openChunkPool({
    releases, log, threads, settings, ...(worker === undefined ? {} : { worker }),
  });
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
