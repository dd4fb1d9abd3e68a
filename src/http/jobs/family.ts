/** Assembles bulk jobs: their folder, their desk and their routes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_FILE } from '../../dataset/manifest.js';
import { releasesDir } from '../../dataset/release.js';
import type { Store } from '../../store/store.js';
import type { BulkDesk } from '../bulk/desk.js';
import type { BulkServices } from '../handle/bulk.js';
import type { JobMaking } from '../handle/job-making.js';
import { jobRoutes } from '../handle/jobs.js';
import type { Route } from '../router.js';
import { JobDesk } from './desk.js';
import type { JobKind, RunnerServices } from './runner.js';
import { JobSpace, jobsDirOf } from './space.js';

export interface JobFamilyOptions
  extends Pick<BulkServices, 'findKey' | 'gate' | 'releases' | 'baseUrl'>,
  Pick<JobMaking, 'idempotency' | 'log'>,
  Pick<RunnerServices, 'keyOf' | 'filesDir' | 'findMerchant' | 'usage'> {
  readonly store: Store;
  readonly varDir: string;
  /** Whose workers, limits and turns jobs share. */
  readonly desk: BulkDesk;
  readonly kinds: readonly JobKind[];
  readonly bytesMax: number;
  readonly days: number;
}

export interface JobFamily {
  readonly routes: readonly Route[];
  readonly jobs: JobDesk;
}

/** Folder of a release that is there. */
function releaseDirOf(varDir: string): (id: string) => string | null {
  return (id) => {
    const dir = join(releasesDir(varDir), id);
    return existsSync(join(dir, MANIFEST_FILE)) ? dir : null;
  };
}

/** Opens the family; jobs run from `jobs.start()` to `jobs.stop()`. */
export function openJobFamily(options: JobFamilyOptions): JobFamily {
  const { varDir, desk, bytesMax } = options;
  const jobs = new JobDesk({
    ...options,
    space: new JobSpace(jobsDirOf(varDir), bytesMax),
    schedule: desk.schedule, limits: desk.limits, now: desk.now,
    releaseDir: releaseDirOf(varDir),
  });
  return { jobs, routes: jobRoutes({ ...options, jobs, underWay: new Set() }) };
}
