/** The folder of jobs: a folder for each, and the disk that all of them together may take. */
import {
  close,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, type Log } from '../../log.js';
import { DiskLimit } from './durable-output.js';

const INPUT = 'input';
const OUTPUT = 'output';
/** Names the server that makes a job. */
const MAKER = 'maker';
const JOB_NAME = /^job_/;

/** Folder of jobs below the folder of variables. */
export function jobsDirOf(varDir: string): string {
  return join(varDir, 'jobs');
}

/** Makes what was created or removed in a folder durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A file that stays until it is closed; null where there is none. */
function holding(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

/** Bytes of disk. */
export interface SpaceLimits {
  /** Of all jobs together. */
  readonly bytesMax: number;
  /** Of the jobs of one account. */
  readonly accountBytesMax: number;
  /** Of the rows in the results of one account that were refused. */
  readonly errorBytesMax: number;
}

/** What a job has; of nobody until it is known whose it is. */
interface JobDisk {
  account: string;
  bytes: number;
  errors: number;
}

interface AccountDisk {
  bytes: number;
  errors: number;
}

export class JobSpace {
  readonly dir: string;
  readonly limits: SpaceLimits;
  readonly #jobs = new Map<string, JobDisk>();
  readonly #accounts = new Map<string, AccountDisk>();
  #used = 0;

  constructor(dir: string, limits: SpaceLimits) {
    this.dir = dir;
    this.limits = limits;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    // Whatever else is there, as on a disk of its own, is not ours to count or remove.
    for (const id of readdirSync(dir)) if (JOB_NAME.test(id)) this.measure(id);
  }

  /** Bytes that jobs have on the disk. */
  get used(): number {
    return this.#used;
  }

  /** Jobs that have a folder. */
  get ids(): readonly string[] {
    return [...this.#jobs.keys()];
  }

  input(id: string): string {
    return join(this.dir, id, INPUT);
  }

  output(id: string): string {
    return join(this.dir, id, OUTPUT);
  }

  /** Looks at the folders again, but for some, and returns the jobs that have one of these. */
  look(isKnown: (id: string) => boolean): readonly string[] {
    for (const id of this.ids) {
      if (isKnown(id) || existsSync(join(this.dir, id))) continue;
      this.own(id, '', 0);
      this.#set(id, 0);
      this.#jobs.delete(id);
    }
    const others = readdirSync(this.dir).filter((id) => JOB_NAME.test(id) && !isKnown(id));
    for (const id of others) this.measure(id);
    return others;
  }

  /** Id of the server that made the folder of a job; empty where it is not told. */
  maker(id: string): string {
    try {
      return readFileSync(join(this.dir, id, MAKER), 'latin1');
    } catch {
      return '';
    }
  }

  /** Makes the folder of a job of an account; where the disk does not take all of it, none. */
  make(id: string, account: string, maker = ''): void {
    mkdirSync(join(this.dir, id), { mode: 0o700 });
    try {
      if (maker !== '') writeFileSync(join(this.dir, id, MAKER), maker, { mode: 0o600 });
    } catch (error) {
      rmSync(join(this.dir, id), { recursive: true, force: true });
      throw error;
    }
    this.#set(id, 0);
    this.own(id, account, 0);
  }

  /** Tells whose a job is, and how much of its output is rows that were refused. */
  own(id: string, account: string, errors: number): void {
    const job = this.#job(id);
    this.#count(job, -1);
    [job.account, job.errors] = [account, errors];
    this.#count(job, 1);
  }

  /** Bytes that the jobs of an account have on the disk. */
  usedBy(account: string): number {
    return this.#accounts.get(account)?.bytes ?? 0;
  }

  /**
   * Takes room for a job.
   * @throws DiskLimit when there is none.
   */
  take(id: string, bytes: number): void {
    const { bytesMax, accountBytesMax } = this.limits;
    const job = this.#job(id);
    if (this.usedBy(job.account) + bytes > accountBytesMax) {
      throw new DiskLimit(accountBytesMax, 'All jobs of the account');
    }
    if (this.#used + bytes > bytesMax) throw new DiskLimit(bytesMax);
    this.#set(id, job.bytes + bytes);
  }

  /** Takes room for rows that were refused; the limit in bytes when their account has none left. */
  takeErrors(id: string, bytes: number): number | null {
    const job = this.#job(id);
    const { errorBytesMax } = this.limits;
    const used = this.#accounts.get(job.account)?.errors ?? 0;
    if (bytes > 0 && used + bytes > errorBytesMax) return errorBytesMax;
    this.setErrors(id, job.errors + bytes);
    return null;
  }

  /** States how much of the output of a job is rows that were refused. */
  setErrors(id: string, errors: number): void {
    this.own(id, this.#job(id).account, errors);
  }

  /** Looks at what a job has. */
  measure(id: string): void {
    this.#set(id, sizeOf(this.input(id)) + sizeOf(this.output(id)));
  }

  /** Makes the files of a job durable. */
  async sync(id: string): Promise<void> {
    await syncFolder(join(this.dir, id));
    await syncFolder(this.dir);
  }

  /**
   * Removes what a job that has ended no longer needs. Never throws: its end is stored already, and
   * what cannot be removed now goes with the job.
   */
  async removeUnneeded(id: string, hasResult: boolean, log: Log): Promise<void> {
    try {
      await this.removeInput(id);
      if (!hasResult) await this.removeOutput(id);
    } catch (error) {
      log.error('files of a job not removed', { job: id, message: messageOf(error) });
    }
  }

  async removeInput(id: string): Promise<void> {
    await rm(this.input(id), { force: true });
    this.measure(id);
  }

  async removeOutput(id: string): Promise<void> {
    await rm(this.output(id), { force: true });
    this.setErrors(id, 0);
    this.measure(id);
  }

  /**
   * Removes everything of a job. What long files took is given back when they are closed, by
   * another thread: of a few MiB that takes the system milliseconds.
   */
  remove(id: string): void {
    const files = [holding(this.input(id)), holding(this.output(id))];
    try {
      rmSync(join(this.dir, id), { recursive: true, force: true });
    } finally {
      for (const file of files) if (file !== null) close(file, () => undefined);
    }
    this.own(id, '', 0);
    this.#set(id, 0);
    this.#jobs.delete(id);
  }

  #job(id: string): JobDisk {
    let job = this.#jobs.get(id);
    if (job === undefined) {
      job = { account: '', bytes: 0, errors: 0 };
      this.#jobs.set(id, job);
    }
    return job;
  }

  #set(id: string, bytes: number): void {
    const job = this.#job(id);
    this.#used += bytes - job.bytes;
    this.#count(job, -1);
    job.bytes = bytes;
    this.#count(job, 1);
  }

  /** Adds what a job has to its account, or takes it away. */
  #count({ account, bytes, errors }: JobDisk, sign: 1 | -1): void {
    const all = this.#accounts.get(account) ?? { bytes: 0, errors: 0 };
    all.bytes += sign * bytes;
    all.errors += sign * errors;
    if (all.bytes === 0 && all.errors === 0) this.#accounts.delete(account);
    else this.#accounts.set(account, all);
  }
}
