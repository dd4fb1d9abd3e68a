/**
 * Decides which server owns a job. A job is run by only one of the servers on a store: the one
 * where it was created, or one that took it over when that had ended. Only servers with the same
 * folder of jobs, or whose fleet keeps its files, may take it over. Every change of a running job
 * is a transaction that checks whether the server still owns it.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFault } from '../../store/fault.js';
import { findJob, listJobs, putJob, type JobRecord, type JobState } from '../../store/jobs.js';
import { isAtWork, lives } from '../../store/nodes.js';
import type { Store, StoreTransaction } from '../../store/store.js';
import { errorCode } from '../../base/error-code.js';

export const ENDED: ReadonlySet<JobState> = new Set(['done', 'failed', 'cancelled']);

const PLACE_FILE = 'place';
const PLACE_BYTES = 8;
/** How long another server may take to cancel a job, and how often that is checked. */
const CANCEL_MS_MAX = 10_000;
const CANCEL_LOOK_MS = 50;

/** This server as one of those on the store. */
export interface JobMember {
  readonly id: string;
  readonly others: readonly object[];
  /** Whether the other servers still regard this one as running. */
  readonly fresh: boolean;
  watch(changed: () => void): void;
}

/** Thrown when another server owns the job now. */
export class JobLost extends Error {
  override readonly name = 'JobLost';
}

/** Thrown when the server that runs a job has not cancelled it in time. */
export class JobElsewhere extends Error {
  override readonly name = 'JobElsewhere';
}

/**
 * The name of a folder of jobs, by which servers that share the folder recognize it. It is in a
 * file of the folder, which is created where there is none.
 */
export function placeOf(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, PLACE_FILE);
  try {
    writeFileSync(path, randomBytes(PLACE_BYTES).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'latin1').trim();
}

export class JobOwnership {
  readonly #store: Store;
  readonly #member: JobMember | null;
  readonly place: string;
  /** Name of the fleet whose broker keeps files of jobs; empty for none. */
  readonly #fleet: string;

  /** @param member null where this is the only server on the store */
  constructor(store: Store, place: string, member: JobMember | null, fleet = '') {
    this.#store = store;
    this.#fleet = fleet;
    this.place = place;
    this.#member = member;
  }

  get id(): string {
    return this.#member?.id ?? '';
  }

  /** Whether there are other servers on the store. */
  get shared(): boolean {
    return (this.#member?.others.length ?? 0) > 0;
  }

  watch(changed: () => void): void {
    this.#member?.watch(changed);
  }

  /** Whether the files of a job are in this server's folder. */
  isHere({ place = '' }: JobRecord): boolean {
    return place === '' || place === this.place;
  }

  /** Whether the broker has the upload or the result of a job. */
  isKept({ kept = '' }: JobRecord): boolean {
    return kept !== '' && kept === this.#fleet;
  }

  /** Whether another server of this id is running. */
  lives(id: string): boolean {
    return id !== this.id && lives(this.#store, id);
  }

  /**
   * Checks that this server may still write. @throws StoreFault where others may have taken its
   * jobs over.
   */
  fence(): void {
    if (this.#member?.fresh === false) throw new StoreFault('unwritable');
  }

  /** Jobs that have not ended, can be run here and are not owned by another running server. */
  free(): readonly JobRecord[] {
    return listJobs(this.#store).filter((record) => this.#isFree(this.#store, record));
  }

  /** Takes a job over, changed by `change`; null where another server was faster. */
  async claim(
    { account, id }: Pick<JobRecord, 'account' | 'id'>,
    change: (record: JobRecord) => JobRecord = (record) => record,
  ): Promise<JobRecord | null> {
    return this.#store.write(
      (transaction) => {
        const record = findJob(transaction, account, id);
        if (record === null || !this.#isFree(transaction, record)) return null;
        const taken = { ...change(record), owner: this.id, place: this.place };
        putJob(transaction, taken);
        return taken;
      },
      { quiet: true, certain: true },
    );
  }

  /**
   * Stores the state of a job that this server owns; returns whether the job is to be cancelled.
   * @throws JobLost when another server owns it.
   */
  async put(
    record: JobRecord,
    beside: (transaction: StoreTransaction) => void = () => undefined,
  ): Promise<boolean> {
    return this.#store.write(
      (transaction) => {
        const before = findJob(transaction, record.account, record.id);
        if (before === null || (before.owner ?? '') !== this.id) throw new JobLost(record.id);
        const cancel = before.cancel === true;
        putJob(transaction, { ...record, ...(cancel ? { cancel } : {}) });
        beside(transaction);
        return cancel;
        // Waits for the outcome: else the job would go on from an earlier checkpoint than the
        // stored one, and rows would be counted twice.
      },
      { quiet: true, certain: true },
    );
  }

  /** Whether another server was asked to cancel a job that this one runs. */
  isCancelled({ account, id }: JobRecord): boolean {
    return findJob(this.#store, account, id)?.cancel === true;
  }

  /**
   * Asks the server that runs a job to cancel it, and waits until it has ended.
   * @throws JobElsewhere when it has not ended in time.
   */
  async cancel({ account, id }: JobRecord): Promise<JobRecord | null> {
    // All servers are notified of this change; the one that runs the job looks for it.
    await this.#store.write((transaction) => {
      const record = findJob(transaction, account, id);
      if (record !== null && !ENDED.has(record.state)) {
        putJob(transaction, { ...record, cancel: true });
      }
    });
    const until = performance.now() + CANCEL_MS_MAX;
    for (;;) {
      const record = findJob(this.#store, account, id);
      if (record === null || ENDED.has(record.state)) return record;
      if (performance.now() >= until) throw new JobElsewhere(id);
      await new Promise((resolve) => setTimeout(resolve, CANCEL_LOOK_MS));
      this.#store.refresh();
    }
  }

  /** Whether another running server owns a job. */
  isElsewhere({ owner = '' }: JobRecord): boolean {
    return owner !== '' && owner !== this.id && lives(this.#store, owner);
  }

  #isFree(reader: Pick<StoreTransaction, 'get'>, record: JobRecord): boolean {
    const { state, owner = '' } = record;
    if (ENDED.has(state) || !(this.isHere(record) || this.isKept(record))) return false;
    return owner === '' || owner === this.id || !isAtWork(reader, owner);
  }
}
