/**
 * The usage of one attempt at a job. Rows are used up from when they are answered, and counted in
 * the transaction that keeps the checkpoint after them: once each, however often it is killed.
 */
import type { UsageRecord } from '../../store/format.js';
import type { StoreTransaction } from '../../store/store.js';
import { NO_COUNTS, plusCounts, type Counts, type Metered } from '../../store/usage-meter.js';
import type { RowsAdmission } from '../../store/usage-rows.js';
import type { RowsUsage } from '../run/kind.js';

/** Quotas and counters of rows that are counted later than they are answered. */
export interface JobRowsUsage extends RowsUsage {
  answerRows(admission: RowsAdmission, counts: Counts): void;
  storeRows(transaction: StoreTransaction, key: Metered, counts: Counts): UsageRecord | null;
  storedRows(key: Metered, counts: Counts, record: UsageRecord | null): void;
  dropRows(key: Metered, counts: Counts): void;
}

export class JobUsage implements RowsUsage {
  readonly #usage: JobRowsUsage;
  readonly #key: Metered;
  /** Answered and not counted. */
  #open: Counts = NO_COUNTS;
  /** Counted up to the last checkpoint, by all attempts. */
  #counted: Counts;
  #over = false;

  constructor(usage: JobRowsUsage, key: Metered, counted: Counts) {
    this.#usage = usage;
    this.#key = key;
    this.#counted = counted;
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
    const counts = plusCounts(total, this.#counted, -1);
    let record: UsageRecord | null = null;
    const kept = await keep((transaction) => {
      record = this.#usage.storeRows(transaction, this.#key, counts);
    });
    this.#counted = total;
    this.#open = plusCounts(this.#open, counts, -1);
    this.#usage.storedRows(this.#key, counts, record);
    return kept;
  }

  /** The attempt is over: what it answered beyond its last checkpoint is answered again. */
  end(): void {
    this.#over = true;
    this.#usage.dropRows(this.#key, this.#open);
    this.#open = NO_COUNTS;
  }
}
