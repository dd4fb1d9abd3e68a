/** What sessions share, and what each is opened with. */
import type { ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import type { FindMerchant, RowsUsage } from '../run/kind.js';
import type { ChunkSchedule } from '../run/schedule.js';

export interface SessionServices {
  readonly schedule: ChunkSchedule;
  readonly releases: ReleaseSource;
  readonly usage: RowsUsage;
  readonly findMerchant: FindMerchant;
  /** Milliseconds since 1970: what "today" is told from. */
  readonly now: () => number;
  /** Limits of the operator's, told in the header. */
  readonly limits: Readonly<Record<string, number>>;
}

export interface SessionOptions {
  readonly job: string;
  readonly token: string;
  /** Of the key that opened it; none other resumes it. */
  readonly keyId: string;
  readonly account: string;
  /** The key as it is now; null once it is disabled or deleted. */
  readonly key: () => KeyRecord | null;
}
