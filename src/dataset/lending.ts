/** Opens releases that requests name, one after the other. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Generation, Generations, LiveRelease } from './generations.js';
import { MANIFEST_FILE } from './manifest.js';
import { UnfinishedCheck } from './release-check.js';
import type { PreparedRelease } from './release-copy.js';
import { otherFormat, releasesDir, UnsoundRelease } from './release.js';
import { SIGNATURE_FILE } from './signature.js';
import { RELEASE_FILES } from './stamp.js';

interface LendingOptions {
  readonly varDir: string;
  readonly generations: Generations;
  prepare(name: string): Promise<PreparedRelease>;
  open(name: string, prepared: PreparedRelease): Generation;
}

/** How often a release is read whose files change at the same time. */
const READS_MAX = 3;

/**
 * The files of a release changed each time it was read: it is being removed, replaced or copied.
 */
export class ChangingRelease extends UnfinishedCheck {}

/**
 * State of a release's folder and files, including missing ones. The folder is included because
 * only its state changes where a release is taken away and put back.
 */
function stateOf(dir: string): string {
  return JSON.stringify(
    ['', ...RELEASE_FILES, SIGNATURE_FILE].map((name) => {
      const found = statSync(join(dir, name), { throwIfNoEntry: false });
      return found === undefined ? null : [found.size, found.mtimeMs, found.ctimeMs, found.ino];
    }),
  );
}

export class Lending {
  readonly #options: LendingOptions;
  /**
   * Resolves when all releases named so far are open. One at a time, so only one processor is used.
   */
  #last: Promise<void> = Promise.resolve();
  /** Releases being opened, by name. All who wait for one share its check. */
  readonly #opening = new Map<string, Promise<void>>();
  /** Releases that were not sound, with the state of their files at that time. */
  readonly #unsound = new Map<string, { readonly state: string; readonly why: Error }>();

  constructor(options: LendingOptions) {
    this.#options = options;
  }

  /** Whether there is a release of this name, whether sound or not. */
  has(name: string): boolean {
    const { generations, varDir } = this.#options;
    return (
      generations.find(name) !== null || existsSync(join(releasesDir(varDir), name, MANIFEST_FILE))
    );
  }

  /**
   * A release by its name, kept open until `unpin`; null when there is none of that name.
   * @throws UnsoundRelease with a sentence, or its subclass OtherFormat; other errors when it
   * cannot be checked or opened now.
   */
  async borrow(name: string): Promise<LiveRelease | null> {
    const { generations } = this.#options;
    if (generations.find(name) === null) {
      if (!this.has(name)) return null;
      await (this.#opening.get(name) ?? this.#next(name)).catch((error: unknown) => {
        // A release that was removed while it was read counts as missing, not as faulty.
        if (this.has(name)) throw error;
      });
    }
    const generation = generations.find(name);
    return generation === null ? null : generations.pin(generation);
  }

  #next(name: string): Promise<void> {
    const opening = this.#last.then(() => this.#lend(name));
    this.#opening.set(name, opening);
    this.#last = opening.catch(() => undefined).then(() => void this.#opening.delete(name));
    return opening;
  }

  async #lend(name: string): Promise<void> {
    const { generations, open } = this.#options;
    for (let reads = 1; generations.find(name) === null; reads += 1) {
      const prepared = await this.#read(name, reads);
      if (prepared === null) continue;
      if (generations.find(name) === null) generations.lend(open(name, prepared));
      else prepared.remove();
    }
  }

  /** Reads a release; null where its files changed meanwhile, so that the result means nothing. */
  async #read(name: string, reads: number): Promise<PreparedRelease | null> {
    const dir = join(releasesDir(this.#options.varDir), name);
    const state = stateOf(dir);
    const known = this.#unsound.get(name);
    // The files are the same, so reading them again would find the same.
    if (known !== undefined && known.state === state) throw known.why;
    this.#unsound.delete(name);
    try {
      const unread = otherFormat(this.#options.varDir, name);
      if (unread !== null) throw unread;
      return await this.#options.prepare(name);
    } catch (why) {
      if (!(why instanceof UnsoundRelease) || !this.has(name)) throw why;
      if (stateOf(dir) !== state) {
        if (reads < READS_MAX) return null;
        throw new ChangingRelease(`the files of dataset ${name} change while they are read`);
      }
      this.#unsound.set(name, { state, why });
      throw why;
    }
  }
}
