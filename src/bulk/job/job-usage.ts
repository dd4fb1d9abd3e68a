/** What a job counts as. */
import type { UsageRecord } from '../../store/format.js';
import type { StoreTransaction } from '../../store/store.js';
import { type Counts, type Metered, NO_COUNTS, plusCounts } from '../../store/usage-meter.js';
import type { RowsAdmission } from '../../store/usage-rows.js';
import type { RowsUsage } from '../run/kind.js';

function most(one: Counts, other: Counts): Counts {
  return {
    core: Math.max(one.core, other.core), geo: Math.max(one.geo, other.geo),
    merchant: Math.max(one.merchant, other.merchant),
  };
}

/** Quotas and counters of rows that are counted later than they are answered. */
export interface JobRowsUsage extends RowsUsage {
  answerRows(admission: RowsAdmission, counts: Counts): void;
  storeRows(transaction: StoreTransaction, key: Metered, counts: Counts): UsageRecord | null;
  storedRows(key: Metered, counts: Counts, record: UsageRecord | null): void;
  storingRows(key: Metered, by: 1 | -1): void;
  dropRows(key: Metered, counts: Counts): void;
}

/**
 * The usage of one attempt at a job. Rows are used up from when they are answered, and counted in
 * the transaction that keeps the checkpoint after them: once each, however often it is killed.
 */
export class JobUsage implements RowsUsage {
  readonly #usage: JobRowsUsage;
  readonly #key: Metered;
  /** Answered and not counted. */
  #open: Counts = NO_COUNTS;
  /** Counted up to the last checkpoint, by all attempts. */
  #counted: Counts;
  #over = false;

  /** @param counted up to where it goes on, and `before` by a server whose output is lost */
  constructor(usage: JobRowsUsage, key: Metered, counted: Counts, before: Counts) {
    this.#usage = usage;
    this.#key = key;
    this.#counted = most(counted, before);
  }

  admitRows(key: Metered, rows: number, merchant: boolean): RowsAdmission {
    return this.#usage.admitRows(key, rows, merchant);
  }

  settleRows(admission: RowsAdmission, counts: Counts): void {
    if (this.#over) {
      this.#usage.settleRows(admission, NO_COUNTS);
      return;
    }
    this.#usage.answerRows(admission, counts);
    this.#open = plusCounts(this.#open, counts, 1);
  }

  /** Keeps a checkpoint before which so much was counted in all; `keep` puts it. */
  async save<T>(
    total: Counts, keep: (beside: (transaction: StoreTransaction) => void) => Promise<T>,
  ): Promise<T> {
    const all = most(total, this.#counted);
    const counts = plusCounts(all, this.#counted, -1);
    let record: UsageRecord | null = null;
    this.#usage.storingRows(this.#key, 1);
    try {
      const kept = await keep((transaction) => {
        record = this.#usage.storeRows(transaction, this.#key, counts);
      });
      this.#counted = all;
      this.#open = plusCounts(this.#open, counts, -1);
      this.#usage.storedRows(this.#key, counts, record);
      return kept;
    } finally {
      this.#usage.storingRows(this.#key, -1);
    }
  }

  /** The attempt is over: what it answered beyond its last checkpoint is answered again. */
  end(): void {
    this.#over = true;
    this.#usage.dropRows(this.#key, this.#open);
    this.#open = NO_COUNTS;
  }
}
