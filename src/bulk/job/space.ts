/** The folder of jobs, which has a folder for each job, and the disk space that jobs may use. */
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
/** File with the id of the server that creates a job. */
const MAKER = 'maker';
const JOB_NAME = /^job_/;

/** The folder of jobs, below the folder of variable data. */
export function jobsDirOf(varDir: string): string {
  return join(varDir, 'jobs');
}

/** Makes the creation and removal of files in a folder durable. */
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

/** Opens a file so that its space is not freed before it is closed; null where there is no file. */
function holding(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

/** Limits of disk space, in bytes. */
export interface SpaceLimits {
  /** For all jobs together. */
  readonly bytesMax: number;
  /** For the jobs of one account. */
  readonly accountBytesMax: number;
  /** For the refused rows in the results of one account. */
  readonly errorBytesMax: number;
}

/** The disk space of a job. The account is "" until it is known. */
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
    // Other files in the folder, as on a separate disk, are neither counted nor removed.
    for (const id of readdirSync(dir)) if (JOB_NAME.test(id)) this.measure(id);
  }

  /** How many bytes on the disk jobs use. */
  get used(): number {
    return this.#used;
  }

  /** Ids of the jobs that have a folder. */
  get ids(): readonly string[] {
    return [...this.#jobs.keys()];
  }

  input(id: string): string {
    return join(this.dir, id, INPUT);
  }

  output(id: string): string {
    return join(this.dir, id, OUTPUT);
  }

  /**
   * Measures all folders again except those of known jobs, and returns the ids of these other
   * folders.
   */
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

  /** Id of the server that created the folder of a job; empty where it is not recorded. */
  maker(id: string): string {
    try {
      return readFileSync(join(this.dir, id, MAKER), 'latin1');
    } catch {
      return '';
    }
  }

  /** Makes the folder of a job. Where the disk fails to write all of it, no folder remains. */
  make(id: string, account: string, maker = ''): void {
    // Another server of the same folder may be about to take the job over too.
    mkdirSync(join(this.dir, id), { recursive: true, mode: 0o700 });
    try {
      if (maker !== '') writeFileSync(join(this.dir, id, MAKER), maker, { mode: 0o600 });
    } catch (error) {
      rmSync(join(this.dir, id), { recursive: true, force: true });
      throw error;
    }
    this.#set(id, 0);
    this.own(id, account, 0);
  }

  /** Records the account of a job, and how many bytes of its output are refused rows. */
  own(id: string, account: string, errors: number): void {
    const job = this.#job(id);
    this.#count(job, -1);
    [job.account, job.errors] = [account, errors];
    this.#count(job, 1);
  }

  /** How many bytes on the disk the jobs of an account use. */
  usedBy(account: string): number {
    return this.#accounts.get(account)?.bytes ?? 0;
  }

  /**
   * Reserves bytes for a job.
   * @throws DiskLimit when a limit would be exceeded.
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

  /** Reserves bytes for refused rows; returns the limit when their account has no room left. */
  takeErrors(id: string, bytes: number): number | null {
    const job = this.#job(id);
    const { errorBytesMax } = this.limits;
    const used = this.#accounts.get(job.account)?.errors ?? 0;
    if (bytes > 0 && used + bytes > errorBytesMax) return errorBytesMax;
    this.setErrors(id, job.errors + bytes);
    return null;
  }

  /** Records how many bytes of the output of a job are refused rows. */
  setErrors(id: string, errors: number): void {
    this.own(id, this.#job(id).account, errors);
  }

  /** Measures the files of a job. */
  measure(id: string): void {
    this.#set(id, sizeOf(this.input(id)) + sizeOf(this.output(id)));
  }

  /** Makes the files of a job durable. */
  async sync(id: string): Promise<void> {
    await syncFolder(join(this.dir, id));
    await syncFolder(this.dir);
  }

  /**
   * Removes files that a job no longer needs after its end. Never throws: the end is stored
   * already, and files that cannot be removed now are removed with the job.
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
   * Removes all files of a job. They are held open meanwhile and closed by another thread, since
   * freeing the space of a few MiB takes the system milliseconds.
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

  /** Adds the disk space of a job to that of its account, or subtracts it. */
  #count({ account, bytes, errors }: JobDisk, sign: 1 | -1): void {
    const all = this.#accounts.get(account) ?? { bytes: 0, errors: 0 };
    all.bytes += sign * bytes;
    all.errors += sign * errors;
    if (all.bytes === 0 && all.errors === 0) this.#accounts.delete(account);
    else this.#accounts.set(account, all);
  }
}
