/** Assembles bulk jobs: their folder, their registry and their routes. */
import type { ReleaseSource } from '../../pool.js';
import type { Store } from '../../store/store.js';
import type { Uploads } from '../run/uploads.js';
import type { BulkServices } from '../run/handler.js';
import type { CreationServices } from './create.js';
import { jobRoutes } from './handler.js';
import type { Route } from '../../http/router.js';
import { JobRegistry } from './registry.js';
import type { JobKind, JobReleases, RunnerServices } from './runner.js';
import { JobSpace, jobsDirOf, type SpaceLimits } from './space.js';

export interface OpenJobOptions
  extends Pick<BulkServices, 'gate' | 'baseUrl'>,
  Pick<CreationServices, 'idempotency' | 'log'>,
  Pick<RunnerServices, 'keyOf' | 'filesDir' | 'findMerchant' | 'usage'> {
  readonly releases: ReleaseSource & JobReleases;
  /** What days are counted by. */
  readonly age: () => number;
  readonly store: Store;
  readonly varDir: string;
  /** Whose workers, limits and turns jobs share. */
  readonly uploads: Uploads;
  readonly kinds: readonly JobKind[];
  readonly limits: SpaceLimits;
  readonly days: number;
}

export interface JobParts {
  readonly routes: readonly Route[];
  readonly jobs: JobRegistry;
}

/** Opens the routes and what they need; jobs run from `jobs.start()` to `jobs.stop()`. */
export function openJobs(options: OpenJobOptions): JobParts {
  const { varDir, uploads, limits } = options;
  const jobs = new JobRegistry({
    ...options,
    space: new JobSpace(jobsDirOf(varDir), limits),
    schedule: uploads.schedule, limits: uploads.limits, now: uploads.now,
  });
  return { jobs, routes: jobRoutes({ ...options, jobs, underWay: new Set() }) };
}
