/** The folder of jobs: a folder for each, and the disk that all of them together may take. */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DiskLimit } from './durable-output.js';

const INPUT = 'input';
const OUTPUT = 'output';
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

export class JobSpace {
  readonly dir: string;
  readonly bytesMax: number;
  readonly #bytes = new Map<string, number>();
  #used = 0;

  constructor(dir: string, bytesMax: number) {
    this.dir = dir;
    this.bytesMax = bytesMax;
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
    return [...this.#bytes.keys()];
  }

  input(id: string): string {
    return join(this.dir, id, INPUT);
  }

  output(id: string): string {
    return join(this.dir, id, OUTPUT);
  }

  /** Makes the folder of a job. */
  make(id: string): void {
    mkdirSync(join(this.dir, id), { mode: 0o700 });
    this.#set(id, 0);
  }

  /**
   * Takes room for a job.
   * @throws DiskLimit when there is none.
   */
  take(id: string, bytes: number): void {
    if (this.#used + bytes > this.bytesMax) throw new DiskLimit(this.bytesMax);
    this.#set(id, (this.#bytes.get(id) ?? 0) + bytes);
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

  async removeInput(id: string): Promise<void> {
    await rm(this.input(id), { force: true });
    this.measure(id);
  }

  async removeOutput(id: string): Promise<void> {
    await rm(this.output(id), { force: true });
    this.measure(id);
  }

  /** Removes everything of a job. */
  remove(id: string): void {
    rmSync(join(this.dir, id), { recursive: true, force: true });
    this.#set(id, 0);
    this.#bytes.delete(id);
  }

  #set(id: string, bytes: number): void {
    this.#used += bytes - (this.#bytes.get(id) ?? 0);
    this.#bytes.set(id, bytes);
  }
}
