/** What a registry of jobs is opened with. */
import type { Log } from '../../log.js';
import type { Store } from '../../store/store.js';
import type { JobFiles } from './job-keeper.js';
import type { JobMember } from './ownership.js';
import type { RunnerServices } from './runner.js';

export interface JobRegistryOptions extends RunnerServices {
  readonly store: Store;
  readonly log: Log;
  /** How long a job is kept after its end. */
  readonly days: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What days are counted by: a clock that does not jump. */
  readonly age: () => number;
  /** This server among those of the store, and the name of its folder; alone where left out. */
  readonly member?: JobMember;
  readonly place?: string;
  /** Where files of jobs are kept for all servers of a fleet; null where each has its own. */
  readonly files?: JobFiles | null;
}
