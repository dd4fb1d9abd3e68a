/**
 * Keeps files of a job at the broker of a fleet, so that the job outlives its server: its upload
 * until the job ends, and then its result. Another server fetches the upload and answers it from
 * the first row; the same rows and release give the same bytes. Rows that were counted before are
 * neither counted nor checked against the quotas again.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { JobRecord } from '../../store/jobs.js';
import { type Counts, NO_COUNTS } from '../../store/usage-meter.js';
import { checkpointOf } from './open-job.js';
import type { JobSpace } from './space.js';

type KeptFile = 'input' | 'result';

/** Stores files of jobs where all servers of a fleet can reach them. No method throws. */
export interface JobFiles {
  /** Name of the fleet. */
  readonly name: string;
  /** False where the file is too large to be stored there, or the broker cannot be reached. */
  put(job: string, which: KeptFile, path: string, bytes: number): Promise<boolean>;
  /** Fetches a file to `path`; false where there is none or it cannot be fetched. */
  bring(job: string, which: KeptFile, path: string): Promise<boolean>;
  /** Removes both files of a job, or those that are named. */
  remove(job: string, files?: readonly KeptFile[]): Promise<void>;
}

/** Rows that were counted by a server whose output is lost. */
interface Counted {
  readonly rows: number;
  readonly counts: Counts;
}

/** The rows that were counted before a job was restarted on another server. */
export function countedOf({ counted }: JobRecord): Counted {
  return counted === undefined ? { rows: 0, counts: NO_COUNTS } : (JSON.parse(counted) as Counted);
}

/**
 * The record of a job that is restarted on another server. `inputModifiedMs` is the time of that
 * server's copy of the upload.
 */
export function begunAnew(record: JobRecord, inputModifiedMs: number): JobRecord {
  const before = countedOf(record);
  const { rows = 0, counts = NO_COUNTS } = checkpointOf(record) ?? {};
  const counted = rows > before.rows ? { rows, counts } : before;
  return { ...record, inputModifiedMs, checkpoint: null, counted: JSON.stringify(counted) };
}

export class JobKeeper {
  readonly #files: JobFiles | null;
  readonly #space: JobSpace;
  /** Id of this server, which makes the folders for what it fetches. */
  readonly #maker: string;
  /** Results that are being fetched, by id of their job. */
  readonly #bringing = new Map<string, Promise<boolean>>();

  /** @param files null where files of jobs are only on the disk of their server */
  constructor(files: JobFiles | null, space: JobSpace, maker: string) {
    this.#files = files;
    this.#space = space;
    this.#maker = maker;
  }

  /** Whether the broker has the upload of a job, or its result once the job has ended. */
  has({ kept = '' }: JobRecord): boolean {
    return kept !== '' && kept === this.#files?.name;
  }

  /**
   * Stores an upload at the broker. Returns the name of the fleet; empty where the upload is only
   * here.
   */
  async keepUpload(id: string, bytes: number): Promise<string> {
    return this.#keep(id, 'input', this.#space.input(id), bytes);
  }

  /** Stores the result of a job whose upload was stored, and returns the same. */
  async keepResult(record: JobRecord, bytes: number | null): Promise<string> {
    return bytes === null || !this.has(record)
      ? ''
      : this.#keep(record.id, 'result', this.#space.output(record.id), bytes);
  }

  /** Removes the upload of a job that has ended. */
  ended(record: JobRecord): void {
    if ((record.kept ?? '') !== '') void this.#files?.remove(record.id, ['input']);
  }

  /** Removes what the broker has of a job. */
  forget(record: JobRecord): void {
    if (this.has(record)) void this.#files?.remove(record.id);
  }

  /**
   * Fetches the upload of a job.
   * @returns the modification time of the copy; null where it cannot be fetched.
   * @throws DiskLimit
   */
  async bringUpload({ id, account, inputBytes }: JobRecord): Promise<number | null> {
    const space = this.#space;
    if (!space.ids.includes(id)) space.make(id, account, this.#maker);
    const path = space.input(id);
    if (!existsSync(path)) {
      space.take(id, inputBytes);
      const own = `${path}.${this.#maker}`;
      if ((await this.#files?.bring(id, 'input', own)) !== true) return null;
      // The record of a server of the same folder that was faster has the time of its copy.
      if (existsSync(path)) rmSync(own);
      else renameSync(own, path);
      await space.sync(id);
    }
    space.measure(id);
    return (await stat(path)).mtimeMs;
  }

  /** Fetches the result of a job for a download; returns whether it is here then. */
  async bringResult(record: JobRecord): Promise<boolean> {
    const { id } = record;
    const bringing = this.#bringing.get(id) ?? this.#bringResult(record);
    this.#bringing.set(id, bringing);
    try {
      return await bringing;
    } finally {
      this.#bringing.delete(id);
    }
  }

  /** Whether the result of a job is being fetched. */
  isBringing(id: string): boolean {
    return this.#bringing.has(id);
  }

  async #bringResult({ id, account, result }: JobRecord): Promise<boolean> {
    if (result === null) return false;
    const space = this.#space;
    try {
      if (!space.ids.includes(id)) space.make(id, account, this.#maker);
      space.take(id, result.bytes);
      return (await this.#files?.bring(id, 'result', space.output(id))) === true;
    } catch {
      // The disk has no room for the result.
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
