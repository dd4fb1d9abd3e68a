/** A file that is written under another name until it is whole, and how far it has come. */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseCheckpoint, type Checkpoint } from '../bulk/run/checkpoint.js';
import type { FileIdentity } from '../bulk/job/byte-source.js';

/** What a partial file is the beginning of. */
export interface PartialRun {
  readonly job: string;
  readonly nowMs: number;
  readonly dataset: string;
  readonly input: FileIdentity;
  /** Digest of the options, which must be the same to go on. */
  readonly options: string;
}

interface Kept extends PartialRun {
  readonly v: 1;
  readonly checkpoint: Checkpoint;
}

/** A digest of options. */
export function optionsDigest(options: object): string {
  return createHash('sha256').update(JSON.stringify(options)).digest('hex');
}

export class PartialFile {
  /** Where output is written. */
  readonly path: string;
  readonly #target: string;
  readonly #state: string;

  constructor(target: string) {
    this.#target = target;
    this.path = `${target}.part`;
    this.#state = `${target}.part.json`;
  }

  /** Keeps how far it has come: whole or not at all. */
  save(run: PartialRun, checkpoint: Checkpoint): void {
    const kept: Kept = { v: 1, ...run, checkpoint };
    const next = `${this.#state}.new`;
    writeFileSync(next, JSON.stringify(kept), { mode: 0o600 });
    renameSync(next, this.#state);
  }

  /**
   * How far it had come.
   * @throws Error when there is nothing to go on with.
   */
  load(): { readonly run: PartialRun; readonly checkpoint: Checkpoint } {
    let kept: Partial<Kept>;
    try {
      kept = JSON.parse(readFileSync(this.#state, 'utf8')) as Partial<Kept>;
    } catch {
      throw new Error(`nothing to resume: there is no ${this.#state}`);
    }
    const { v, job, nowMs, dataset, input, options } = kept;
    const checkpoint = parseCheckpoint(kept.checkpoint);
    if (v !== 1 || job === undefined || nowMs === undefined || dataset === undefined
      || input === undefined || options === undefined || checkpoint === undefined) {
      throw new Error(`nothing to resume: ${this.#state} cannot be read`);
    }
    return { run: { job, nowMs, dataset, input, options }, checkpoint };
  }

  /** Gives it its name. */
  finish(): void {
    renameSync(this.path, this.#target);
    rmSync(this.#state, { force: true });
  }

  /** Removes what was begun. */
  remove(): void {
    rmSync(this.path, { force: true });
    rmSync(this.#state, { force: true });
  }
}
