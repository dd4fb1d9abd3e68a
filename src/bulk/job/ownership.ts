/**
 * Whose job it is. Of the servers on a store one runs a job: it was made there, or its server has
 * gone and this one took it over, which servers of one folder of jobs may. Every change of a job
 * that runs is made in a transaction that sees whether it is still its server's.
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
/** How long another server may take to give a job up, and how often that is looked for. */
const CANCEL_MS_MAX = 10_000;
const CANCEL_LOOK_MS = 50;

/** This server among those of the store. */
export interface JobMember {
  readonly id: string;
  readonly others: readonly object[];
  /** Whether the others still count with it. */
  readonly fresh: boolean;
  watch(changed: () => void): void;
}

/** Another server runs the job now. */
export class JobLost extends Error {
  override readonly name = 'JobLost';
}

/** The server that runs the job has not given it up in time. */
export class JobElsewhere extends Error {
  override readonly name = 'JobElsewhere';
}

/**
 * The name of a folder of jobs, which is in it: servers that share the folder know it by that.
 * Made where there is none.
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

  /** @param member null where no other server is on the store */
  constructor(store: Store, place: string, member: JobMember | null, fleet = '') {
    this.#store = store;
    this.#fleet = fleet;
    this.place = place;
    this.#member = member;
  }

  get id(): string {
    return this.#member?.id ?? '';
  }

  /** Whether other servers are on the store. */
  get shared(): boolean {
    return (this.#member?.others.length ?? 0) > 0;
  }

  watch(changed: () => void): void {
    this.#member?.watch(changed);
  }

  /** Whether the files of a job are in the folder of this server. */
  isHere({ place = '' }: JobRecord): boolean {
    return place === '' || place === this.place;
  }

  /** Whether the upload or the result of a job is at the broker. */
  isKept({ kept = '' }: JobRecord): boolean {
    return kept !== '' && kept === this.#fleet;
  }

  /** Whether a server lives that is named in a folder. */
  lives(id: string): boolean {
    return id !== this.id && lives(this.#store, id);
  }

  /** @throws StoreFault where the others may have taken this server's jobs over. */
  fence(): void {
    if (this.#member?.fresh === false) throw new StoreFault('unwritable');
  }

  /** Jobs that have not ended and that no server at work has. */
  free(): readonly JobRecord[] {
    return listJobs(this.#store).filter((record) => this.#isFree(this.#store, record));
  }

  /** Takes a job over, as `change` says; null where another was faster. */
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
      { quiet: true },
    );
  }

  /**
   * Stores what has become of a job of this server; whether it is to be cancelled.
   * @throws JobLost when it is no longer this server's.
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
      },
      { quiet: true },
    );
  }

  /** Whether another server was asked to cancel a job of this one. */
  isCancelled({ account, id }: JobRecord): boolean {
    return findJob(this.#store, account, id)?.cancel === true;
  }

  /**
   * Asks the server that runs a job to cancel it, and waits for its end.
   * @throws JobElsewhere when it has not come to one.
   */
  async cancel({ account, id }: JobRecord): Promise<JobRecord | null> {
    // Told to all: the one that runs it looks.
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

  /** Whether another server at work has a job. */
  isElsewhere({ owner = '' }: JobRecord): boolean {
    return owner !== '' && owner !== this.id && lives(this.#store, owner);
  }

  #isFree(reader: Pick<StoreTransaction, 'get'>, record: JobRecord): boolean {
    const { state, owner = '' } = record;
    if (ENDED.has(state) || !(this.isHere(record) || this.isKept(record))) return false;
    return owner === '' || owner === this.id || !isAtWork(reader, owner);
  }
}
