/**
 * How a job of a fleet outlives its server: its upload lies at the broker from before it is
 * acknowledged until it ends, and its result from then on. Another server brings the upload here
 * and answers from the first row: the same rows of the same release give the same bytes. Rows that
 * were counted before are not counted again, nor asked of the quotas.
 */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { JobRecord } from '../../store/jobs.js';
import { type Counts, NO_COUNTS } from '../../store/usage-meter.js';
import { checkpointOf } from './open-job.js';
import type { JobSpace } from './space.js';

type KeptFile = 'input' | 'result';

/** Files of jobs where all servers of a fleet reach them. None of it throws. */
export interface JobFiles {
  /** Name of the fleet. */
  readonly name: string;
  /** False where a file is too large to be kept there, or cannot be now. */
  put(job: string, which: KeptFile, path: string, bytes: number): Promise<boolean>;
  /** False where it is not there or cannot be had. */
  bring(job: string, which: KeptFile, path: string): Promise<boolean>;
  /** Removes both, or those that are named. */
  remove(job: string, files?: readonly KeptFile[]): Promise<void>;
}

/** Rows that were counted by a server whose output is lost. */
interface Counted {
  readonly rows: number;
  readonly counts: Counts;
}

/** What was counted of a job before it began anew. */
export function countedOf({ counted }: JobRecord): Counted {
  return counted === undefined ? { rows: 0, counts: NO_COUNTS } : (JSON.parse(counted) as Counted);
}

/** A job as it begins anew on another server, whose copy of the upload has this time. */
export function begunAnew(record: JobRecord, inputModifiedMs: number): JobRecord {
  const before = countedOf(record);
  const { rows = 0, counts = NO_COUNTS } = checkpointOf(record) ?? {};
  const counted = rows > before.rows ? { rows, counts } : before;
  return { ...record, inputModifiedMs, checkpoint: null, counted: JSON.stringify(counted) };
}

export class JobKeeper {
  readonly #files: JobFiles | null;
  readonly #space: JobSpace;

  /** @param files null where jobs are kept on the disk of their server alone */
  constructor(files: JobFiles | null, space: JobSpace) {
    this.#files = files;
    this.#space = space;
  }

  /** Whether the upload of a job, or its result once it has ended, is at the broker. */
  has({ kept = '' }: JobRecord): boolean {
    return kept !== '' && kept === this.#files?.name;
  }

  /** Keeps an upload; the name of the fleet, empty where it lies here alone. */
  async keepUpload(id: string, bytes: number): Promise<string> {
    return this.#keep(id, 'input', this.#space.input(id), bytes);
  }

  /** Keeps the result of a job whose upload is kept, likewise. */
  async keepResult(record: JobRecord, bytes: number | null): Promise<string> {
    return bytes === null || !this.has(record)
      ? ''
      : this.#keep(record.id, 'result', this.#space.output(record.id), bytes);
  }

  /** A job has ended: what it no longer needs goes. */
  ended(record: JobRecord): void {
    if ((record.kept ?? '') !== '') void this.#files?.remove(record.id, ['input']);
  }

  /** A job is forgotten. */
  forget(id: string): void {
    void this.#files?.remove(id);
  }

  /**
   * Brings an upload here.
   * @returns the time of the copy; null where it cannot be had.
   * @throws DiskLimit
   */
  async bringUpload({ id, account, inputBytes }: JobRecord, maker: string): Promise<number | null> {
    const space = this.#space;
    if (!space.ids.includes(id)) space.make(id, account, maker);
    const path = space.input(id);
    if (!existsSync(path)) {
      space.take(id, inputBytes);
      if ((await this.#files?.bring(id, 'input', path)) !== true) return null;
      await space.sync(id);
    }
    space.measure(id);
    return (await stat(path)).mtimeMs;
  }

  /** Brings a result here, for who asks for it; whether it is here then. */
  async bringResult({ id, account, result }: JobRecord): Promise<boolean> {
    if (result === null) return false;
    const space = this.#space;
    try {
      if (!space.ids.includes(id)) space.make(id, account);
      space.take(id, result.bytes);
      return (await this.#files?.bring(id, 'result', space.output(id))) === true;
    } catch {
      // The disk has no room for it.
      return false;
    } finally {
      space.measure(id);
    }
  }

  async #keep(id: string, which: KeptFile, path: string, bytes: number): Promise<string> {
    const files = this.#files;
    return files !== null && (await files.put(id, which, path, bytes)) ? files.name : '';
  }
}
