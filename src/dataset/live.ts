/**
 * Follows which release is active. `CURRENT` is watched; a new release is opened and probed beside
 * the present one, and then replaces it by one assignment. If anything fails, the present one
 * stays.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { type Log, messageOf } from '../log.js';
import {
  Generations,
  openGeneration,
  type Generation,
  type LiveRelease,
  type OpenRelease,
} from './generations.js';
import { ChangingRelease, Lending } from './lending.js';
import { UnfinishedCheck } from './release-check.js';
import { inPlace, type PreparedRelease, type PrepareOptions } from './release-copy.js';
import {
  currentFile,
  currentRelease,
  otherFormat,
  releasesDir,
  type OtherFormat,
} from './release.js';

export type { LiveRelease } from './generations.js';

/** Why the release that CURRENT names does not answer. */
export interface Refusal {
  /** Null where CURRENT names none. */
  readonly dataset: string | null;
  readonly reason: string;
}

interface LiveOptions extends OpenRelease {
  readonly varDir: string;
  readonly log: Log;
  /**
   * Checks a release and returns where to open it. If absent, releases are opened where they are.
   */
  readonly prepare?: (name: string, options: PrepareOptions) => Promise<PreparedRelease>;
  /** Called when this is closed. */
  readonly closed?: () => void;
  readonly pollMs?: number;
  /** Pause before a check that was interrupted is repeated. */
  readonly againMs?: number;
}

/** Interval of polling, because the operating system's watcher may miss a rename. */
const POLL_MS = 500;
/** A short pause compared with a check, but longer than most causes of an interruption last. */
const CHECK_AGAIN_MS = 5_000;

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

export class LiveDataset {
  readonly #options: LiveOptions;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | null = null;
  readonly #generations = new Generations();
  /** The activation that was tried last, so that a failure is reported only once. */
  #tried = '';
  #refusal: Refusal | null = null;
  /** The preparation under way; there is only one at a time. */
  #preparing: Promise<void> | null = null;
  readonly #stopped = new AbortController();
  readonly #lending: Lending;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#lending = new Lending({
      varDir: options.varDir,
      generations: this.#generations,
      prepare: (name) => this.#prepare(name, true),
      open: (name, prepared) => this.#open(name, prepared),
    });
    this.check();
    this.#poll = setInterval(() => this.check(), options.pollMs ?? POLL_MS).unref();
    this.#watch();
  }

  /** Waits for the active release. @throws Error when one is named and cannot answer. */
  async ready(): Promise<void> {
    while (this.release === null && this.#preparing !== null) await this.#preparing;
    if (this.release === null && this.#refusal !== null) throw new Error(this.#refusal.reason);
  }

  /** The active release; null before the first. */
  get release(): LiveRelease | null {
    return this.#generations.current?.release ?? null;
  }

  /** Why the release that CURRENT names is not the active one; null when it is. */
  get refusal(): Refusal | null {
    return this.#refusal;
  }

  /** A document of the active release; null when it lacks it, or no release is active. */
  document(name: string): unknown {
    return this.#generations.current?.dataset.document(name) ?? null;
  }

  /** Number of open releases: the active one, the one before, and those still pinned. */
  get openCount(): number {
    return this.#generations.all.length;
  }

  /** The active release, kept open until `unpin`. */
  pin(): LiveRelease | null {
    const { current } = this.#generations;
    return current === null ? null : this.#generations.pin(current);
  }

  /** Whether there is a release of this name, whether sound or not. */
  has(name: string): boolean {
    return this.#lending.has(name);
  }

  /**
   * Why this version cannot read the release of this name; null where its format is no obstacle.
   */
  otherFormat(name: string): OtherFormat | null {
    return otherFormat(this.#options.varDir, name);
  }

  /** Any release by its name, as `Lending.borrow` opens it, kept open until `unpin`. */
  borrow(name: string): Promise<LiveRelease | null> {
    return this.#lending.borrow(name);
  }

  /**
   * As `borrow`, and keeps the release open until enough others were named. A release whose files
   * keep changing counts as missing.
   */
  async ask(name: string): Promise<LiveRelease | null> {
    const release = await this.borrow(name).catch((error: unknown) => {
      if (error instanceof ChangingRelease) return null;
      throw error;
    });
    if (release !== null) this.#generations.keep(name);
    return release;
  }

  unpin(release: { readonly id: string }): void {
    this.#generations.unpin(release.id);
  }

  /** Checks now whether CURRENT has changed. */
  check(): void {
    if (this.#preparing !== null || this.#stopped.signal.aborted) return;
    const { varDir } = this.#options;
    const changed = changedAt(currentFile(varDir));
    const name = currentRelease(varDir);
    // CURRENT was replaced between the two reads, so name and time may not match. The next check
    // sees it.
    if (changedAt(currentFile(varDir)) !== changed) return;
    if (name !== null && name === this.release?.id) {
      this.#refusal = null;
      this.#tried = '';
      return;
    }
    const activation = `${name} ${changed}`;
    if (activation === this.#tried) return;
    this.#tried = activation;
    if (name === null) this.#lost();
    else this.#begin(name);
  }

  /** Ends the checks under way and stops following CURRENT. Open releases stay open. */
  stop(): void {
    this.#stopped.abort();
    clearInterval(this.#poll);
    this.#watcher?.close();
  }

  close(): void {
    this.stop();
    this.#generations.close();
    this.#options.closed?.();
  }

  /** CURRENT names nothing any more. Before the first release this is not reported. */
  #lost(): void {
    if (this.release === null) return;
    this.#refuse({ dataset: null, reason: 'CURRENT names no dataset' });
  }

  #begin(name: string): void {
    const known = this.#generations.find(name);
    if (known !== null) this.#take(known);
    else if (this.#options.prepare === undefined) {
      this.#try(name, inPlace(join(releasesDir(this.#options.varDir), name)));
    } else this.#preparing = this.#replace(name).finally(() => this.#prepared());
  }

  #prepared(): void {
    this.#preparing = null;
    this.check();
  }

  async #replace(name: string): Promise<void> {
    try {
      const prepared = await this.#prepare(name, this.release !== null);
      const known = this.#generations.find(name);
      const { aborted } = this.#stopped.signal;
      // The release was borrowed meanwhile, or is no longer wanted.
      if (known !== null || aborted || currentRelease(this.#options.varDir) !== name) {
        prepared.remove();
        if (known === null) this.#tried = '';
        else this.#take(known);
      } else this.#try(name, prepared);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#refuse({ dataset: name, reason: messageOf(error) });
      if (error instanceof UnfinishedCheck) this.#again(this.#tried);
    }
  }

  /** Tries an activation again, unless another one was tried meanwhile. */
  #again(activation: string): void {
    setTimeout(() => {
      if (this.#tried !== activation) return;
      this.#tried = '';
      this.check();
    }, this.#options.againMs ?? CHECK_AGAIN_MS).unref();
  }

  async #prepare(name: string, background: boolean): Promise<PreparedRelease> {
    const { prepare, varDir } = this.#options;
    return prepare === undefined
      ? inPlace(join(releasesDir(varDir), name))
      : prepare(name, { background, signal: this.#stopped.signal });
  }

  #try(name: string, prepared: PreparedRelease): void {
    try {
      this.#take(this.#open(name, prepared));
    } catch (error) {
      this.#refuse({ dataset: name, reason: messageOf(error) });
    }
  }

  #refuse(refusal: Refusal): void {
    this.#refusal = refusal;
    this.#options.log.error('dataset refused', {
      dataset: refusal.dataset,
      kept: this.release?.id ?? null,
      message: refusal.reason,
    });
  }

  #take(next: Generation): void {
    this.#generations.take(next);
    this.#refusal = null;
    const { id, areas } = next.release;
    this.#options.log.info('dataset active', { dataset: id, areas });
  }

  #open(name: string, prepared: PreparedRelease): Generation {
    return openGeneration(this.#options, name, prepared);
  }

  #watch(): void {
    const dir = releasesDir(this.#options.varDir);
    try {
      this.#watcher = watch(dir, { persistent: false }, () => this.check());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch (error) {
      this.#options.log.debug('datasets folder not watched', { message: messageOf(error) });
    }
  }
}
