/**
 * The release that answers. `CURRENT` is watched; a new release is opened and probed beside the old
 * one and then takes its place by one assignment. Whatever goes wrong keeps the old one.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { messageOf, type Log } from '../log.js';
import type { Dataset } from './dataset.js';
import { currentFile, currentRelease, releasesDir } from './release.js';

/** What is told of a release beside its data. */
export interface ReleaseFacts {
  readonly areas: number;
  /** Lists behind it that have ended and are still used. */
  readonly stale: readonly string[];
}

export interface LiveRelease extends ReleaseFacts {
  readonly id: string;
  readonly dir: string;
}

export interface LiveOptions {
  readonly varDir: string;
  readonly log: Log;
  readonly open: (dir: string) => Dataset;
  /** Asks the release a few questions; throws when it does not answer as it should. */
  readonly probe: (dataset: Dataset, dir: string) => ReleaseFacts;
  readonly pollMs?: number;
}

/** The watcher of the operating system may miss a rename; this does not. */
export const POLL_MS = 500;

const RELEASES_PER_WORKER = 2;

interface Generation {
  readonly release: LiveRelease;
  readonly dataset: Dataset;
  pins: number;
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

export class LiveDataset {
  readonly #options: LiveOptions;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | null = null;
  #current: Generation | null = null;
  #previous: Generation | null = null;
  /** Releases replaced twice, open until the last task that was told of them is done. */
  readonly #retired = new Set<Generation>();
  /** The last activation that failed, so that it is reported once and can be tried again. */
  #refused = '';

  constructor(options: LiveOptions) {
    this.#options = options;
    this.check();
    this.#poll = setInterval(() => this.check(), options.pollMs ?? POLL_MS).unref();
    this.#watch();
  }

  /** The release that answers, or null before the first. */
  get release(): LiveRelease | null {
    return this.#current?.release ?? null;
  }

  /** A document of the release that answers; null when it lacks it or there is no release. */
  document(name: string): unknown {
    return this.#current?.dataset.document(name) ?? null;
  }

  /** Releases open: the current one, the one before and those still pinned. */
  get openCount(): number {
    return [this.#current, this.#previous].filter((generation) => generation !== null).length
      + this.#retired.size;
  }

  /** The release that answers, kept open until `unpin`. */
  pin(): LiveRelease | null {
    if (this.#current === null) return null;
    this.#current.pins += 1;
    return this.#current.release;
  }

  unpin(release: { readonly id: string }): void {
    for (const generation of [this.#current, this.#previous, ...this.#retired]) {
      if (generation?.release.id !== release.id) continue;
      generation.pins -= 1;
      if (generation.pins === 0 && this.#retired.delete(generation)) generation.dataset.close();
      return;
    }
  }

  /** Looks at CURRENT now. */
  check(): void {
    const name = currentRelease(this.#options.varDir);
    if (name === null || name === this.#current?.release.id) return;
    const activation = `${name} ${changedAt(currentFile(this.#options.varDir))}`;
    if (activation === this.#refused) return;
    try {
      this.#take(name);
      this.#refused = '';
    } catch (error) {
      this.#refused = activation;
      this.#options.log.error('dataset refused', {
        dataset: name, kept: this.release?.id ?? null, message: messageOf(error),
      });
    }
  }

  close(): void {
    clearInterval(this.#poll);
    this.#watcher?.close();
    for (const generation of [this.#current, this.#previous, ...this.#retired]) {
      generation?.dataset.close();
    }
    this.#current = this.#previous = null;
    this.#retired.clear();
  }

  #take(name: string): void {
    const known = [this.#previous, ...this.#retired];
    const next = known.find((generation) => generation?.release.id === name) ?? this.#open(name);
    const oldest = this.#previous;
    this.#previous = this.#current;
    this.#current = next;
    this.#retired.delete(next);
    if (oldest !== null && oldest !== next) this.#retire(oldest);
    this.#options.log.info('dataset active', { dataset: name, areas: next.release.areas });
  }

  #retire(generation: Generation): void {
    if (generation.pins === 0) generation.dataset.close();
    else this.#retired.add(generation);
  }

  #open(name: string): Generation {
    const dir = join(releasesDir(this.#options.varDir), name);
    const dataset = this.#options.open(dir);
    try {
      const facts = this.#options.probe(dataset, dir);
      return { release: { id: name, dir, ...facts }, dataset, pins: 0 };
    } catch (error) {
      dataset.close();
      throw error;
    }
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

/** The releases a worker has open: the two that tasks named, the older one closes for a third. */
export class OpenReleases {
  readonly #open: (dir: string) => Dataset;
  readonly #byId = new Map<string, Dataset>();

  constructor(open: (dir: string) => Dataset) {
    this.#open = open;
  }

  /** Tasks of one worker run one after the other, so none is using what is closed here. */
  get({ id, dir }: { readonly id: string; readonly dir: string }): Dataset {
    let dataset = this.#byId.get(id);
    if (dataset !== undefined) return dataset;
    dataset = this.#open(dir);
    const [oldest] = this.#byId;
    if (oldest !== undefined && this.#byId.size === RELEASES_PER_WORKER) {
      this.#byId.delete(oldest[0]);
      oldest[1].close();
    }
    this.#byId.set(id, dataset);
    return dataset;
  }
}
