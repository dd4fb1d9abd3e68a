/**
 * Copies of releases that a server answers from, below `open` in SITUS_VAR. LMDB maps its file, and
 * a mapped file that somebody cuts, as a careless copy over it does, ends whoever reads it. So each
 * release is copied, the copy is checked, and it alone is opened: what becomes of the release's own
 * files afterwards changes no answer. One server at a time uses the folder.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, type Log } from '../log.js';
import { checkRelease } from './release-check.js';
import { releasesDir, unsoundRelease } from './release.js';

/** How often a long check is told of in the log. */
const TOLD_MS = 1_000;

/** A release that was checked and is ready to be opened. */
export interface PreparedRelease {
  readonly dir: string;
  /** Gives its disk back; to be called when nobody opens it any more. */
  remove(): void;
}

/** A release that is opened where it is. */
export function inPlace(dir: string): PreparedRelease {
  return { dir, remove: () => undefined };
}

export interface PrepareOptions {
  /** Leaves the processor to others. */
  readonly background: boolean;
  /** Ends the check. */
  readonly signal: AbortSignal;
}

export class ReleaseCopies {
  readonly #varDir: string;
  readonly #log: Log;
  #made = 0;

  /** Removes what a server left that was killed. */
  constructor(varDir: string, log: Log) {
    this.#varDir = varDir;
    this.#log = log;
    rmSync(this.#folder(), { recursive: true, force: true });
  }

  /**
   * Copies and checks a release.
   * @throws UnsoundRelease with a sentence; UnfinishedCheck when that cannot be told now.
   */
  async prepare(name: string, { background, signal }: PrepareOptions): Promise<PreparedRelease> {
    const dir = join(releasesDir(this.#varDir), name);
    mkdirSync(this.#folder(), { recursive: true, mode: 0o700 });
    const own = join(this.#folder(), String(this.#made += 1));
    const remove = (): void => rmSync(own, { recursive: true, force: true });
    const checked = await checkRelease({
      dir, copyTo: join(own, name), background, signal, progress: this.#teller(name),
    }).catch((error: unknown) => {
      remove();
      if (!signal.aborted) {
        this.#log.warn('dataset not checked', { dataset: name, message: messageOf(error) });
      }
      throw error;
    });
    if (checked.problems.length > 0) {
      remove();
      throw unsoundRelease(name, checked.problems);
    }
    if (checked.dir === dir) {
      this.#log.warn('dataset not copied', {
        dataset: name, message: 'the disk has no room; do not touch its files while it answers',
      });
    }
    return { dir: checked.dir, remove };
  }

  #folder(): string {
    return join(this.#varDir, 'open');
  }

  #teller(dataset: string): (stage: string, done: number, total: number) => void {
    let told = Date.now();
    return (stage, done, total) => {
      if (Date.now() - told < TOLD_MS) return;
      told = Date.now();
      this.#log.info('dataset being checked', { dataset, stage, done, total });
    };
  }
}
