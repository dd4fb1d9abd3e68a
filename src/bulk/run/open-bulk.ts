/** Assembles uploads: their workers, the schedule of chunks, their disk space and the routes. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../log.js';
import type { EngineSettings } from '../../pool.js';
import { bulkRoutes, type BulkServices } from './handler.js';
import type { Route } from '../../http/router.js';
import { CHUNKS_PER_WORKER, openChunkPool, type ClosingPool } from './chunk-pool.js';
import { Uploads, type BulkLimits } from './uploads.js';
import { ChunkSchedule } from './schedule.js';
import { SpoolSpace } from './spool.js';

interface OpenBulkOptions
  extends Pick<BulkServices, 'gate' | 'usage' | 'releases' | 'findMerchant' | 'kept'> {
  readonly log: Log;
  readonly threads: number;
  readonly settings: EngineSettings;
  readonly limits: BulkLimits;
  /** Folder for output that is sent when it is complete. Its contents are removed at the start. */
  readonly spoolDir: string;
  readonly spoolBytesMax: number;
  /** A worker file that tests use instead. */
  readonly worker?: URL;
}

export interface BulkParts {
  readonly routes: readonly Route[];
  readonly uploads: Uploads;
  /** The workers, for other requests that are about as large as a chunk. */
  readonly pool: ClosingPool;
  /** Ends every upload with its trailer. */
  stop(): void;
  close(): Promise<void>;
}

/** Opens the routes of uploads and what they need. No worker starts before the first upload. */
export function openUploads(options: OpenBulkOptions): BulkParts {
  const { log, threads, settings, releases, limits, spoolDir, spoolBytesMax } = options;
  rmSync(spoolDir, { recursive: true, force: true });
  const { worker } = options;
  const pool = openChunkPool({
    releases,
    log,
    threads,
    settings,
    ...(worker === undefined ? {} : { worker }),
  });
  const uploads = new Uploads({
    schedule: new ChunkSchedule(pool, threads * CHUNKS_PER_WORKER),
    space: new SpoolSpace(spoolDir, spoolBytesMax),
    limits,
    now: Date.now,
  });
  return {
    routes: bulkRoutes({ ...options, uploads }),
    uploads,
    pool,
    stop: () => uploads.stop(),
    close: () => pool.close(),
  };
}

/**
 * The folder in which a server spools output, below the folder of variable data. Removes the
 * folders of servers that no longer run.
 */
export function spoolDirOf(varDir: string, node: string, lives: (node: string) => boolean): string {
  const dir = join(varDir, 'spool');
  let names: readonly string[] = [];
  try {
    names = readdirSync(dir);
  } catch {
    // The folder does not exist yet.
  }
  for (const name of names) {
    if (!lives(name)) rmSync(join(dir, name), { recursive: true, force: true });
  }
  return join(dir, node);
}
