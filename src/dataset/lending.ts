/** Releases that are opened because somebody named them, one after the other. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Generation, Generations, LiveRelease } from './generations.js';
import { MANIFEST_FILE } from './manifest.js';
import { factsOf, type PreparedRelease } from './release-copy.js';
import { releasesDir, UnsoundRelease } from './release.js';

export interface LendingOptions {
  readonly varDir: string;
  readonly generations: Generations;
  prepare(name: string): Promise<PreparedRelease>;
  open(name: string, prepared: PreparedRelease): Generation;
}

export class Lending {
  readonly #options: LendingOptions;
  /** Until those are open that were named so far: it takes no more than one processor. */
  #last: Promise<void> = Promise.resolve();
  /** What is being opened, by name: one check answers all who wait for it. */
  readonly #opening = new Map<string, Promise<void>>();
  /** What was not sound, and how its files were then. */
  readonly #unsound = new Map<string, { readonly facts: string | null; readonly why: Error }>();

  constructor(options: LendingOptions) {
    this.#options = options;
  }

  /** Whether there is a release of this name, sound or not. */
  has(name: string): boolean {
    const { generations, varDir } = this.#options;
    return generations.find(name) !== null
      || existsSync(join(releasesDir(varDir), name, MANIFEST_FILE));
  }

  /**
   * A release by its name, kept open until it is unpinned; null when there is none of that name.
   * @throws UnsoundRelease with a sentence; other errors when it cannot be checked or opened now.
   */
  async borrow(name: string): Promise<LiveRelease | null> {
    const { generations } = this.#options;
    if (generations.find(name) === null) {
      if (!this.has(name)) return null;
      await (this.#opening.get(name) ?? this.#next(name)).catch((error: unknown) => {
        // One that was removed while it was read has no fault of its own.
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
    const { generations, varDir, prepare, open } = this.#options;
    if (generations.find(name) !== null) return;
    const facts = factsOf(join(releasesDir(varDir), name));
    const known = this.#unsound.get(name);
    // To read all of it again would find the same.
    if (known !== undefined && known.facts === facts) throw known.why;
    this.#unsound.delete(name);
    const prepared = await prepare(name).catch((why: unknown) => {
      if (why instanceof UnsoundRelease && this.has(name)) this.#unsound.set(name, { facts, why });
      throw why;
    });
    if (generations.find(name) === null) generations.lend(open(name, prepared));
    else prepared.remove();
  }
}
