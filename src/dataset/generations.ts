/**
 * The releases that a server has open: the active one, the one before it, and others in use. A
 * release that is neither of the two is closed when its last user has released it.
 */
import type { Dataset } from './dataset.js';
import { readManifest } from './manifest.js';
import type { PreparedRelease } from './release-copy.js';

/** Facts about a release, besides its data. */
interface ReleaseFacts {
  readonly areas: number;
  /** Names of lists in the release that are out of date but still used. */
  readonly stale: readonly string[];
}

export interface LiveRelease extends ReleaseFacts {
  readonly id: string;
  readonly dir: string;
}

/** A release that is open. */
export interface Generation {
  readonly release: LiveRelease;
  readonly dataset: Dataset;
  readonly prepared: PreparedRelease;
  pins: number;
}

/** How to open a release and read its facts. */
export interface OpenRelease {
  readonly open: (dir: string) => Dataset;
  /** Asks the release a few questions; throws when it gives no proper answers. */
  readonly probe: (dataset: Dataset, dir: string) => ReleaseFacts;
}

/** Reads the facts of a release before it becomes active. @throws Error when it holds nothing. */
export function probeRelease(dataset: Dataset, dir: string): ReleaseFacts {
  const manifest = readManifest(dir);
  const areas = manifest.counts['areas'] ?? 0;
  if (areas === 0 || dataset.states().length === 0) throw new Error('the dataset is empty');
  const today = new Date().toISOString().slice(0, 10);
  const stale = manifest.coverage.flatMap(({ state, levels }) =>
    levels
      .filter(({ until }) => until !== '' && until < today)
      .map(({ level, source }) => `${state} ${level} ${source}`),
  );
  return { areas, stale };
}

/**
 * Opens a release that was prepared. If that fails, nothing of its copy is left.
 * @throws what opening and probing throw.
 */
export function openGeneration(
  { open, probe }: OpenRelease,
  name: string,
  prepared: PreparedRelease,
): Generation {
  const { dir } = prepared;
  let dataset: Dataset | null = null;
  try {
    dataset = open(dir);
    const facts = probe(dataset, dir);
    return { release: { id: name, dir, ...facts }, dataset, prepared, pins: 0 };
  } catch (error) {
    dataset?.close();
    prepared.remove();
    throw error;
  }
}

function close({ dataset, prepared }: Generation): void {
  dataset.close();
  prepared.leave();
}

/** Most releases that stay open because requests named them; each takes a copy on the disk. */
export const ASKED_OPEN_MAX = 2;

export class Generations {
  #current: Generation | null = null;
  #previous: Generation | null = null;
  /**
   * Releases to close when their last task is done: replaced twice, or borrowed and never active.
   */
  readonly #retired = new Set<Generation>();
  /** Names of releases that requests named, the latest last. Each has one pin for being here. */
  readonly #asked = new Set<string>();

  /** The active release; null before the first. */
  get current(): Generation | null {
    return this.#current;
  }

  /** All open releases. */
  get all(): readonly Generation[] {
    return [this.#current, this.#previous, ...this.#retired].filter(
      (generation) => generation !== null,
    );
  }

  find(name: string): Generation | null {
    return this.all.find(({ release }) => release.id === name) ?? null;
  }

  /** Keeps a release open for those who pin it, without making it active. */
  lend(generation: Generation): void {
    this.#retired.add(generation);
  }

  /** Makes a release active. The one before the last is closed once nobody uses it. */
  take(next: Generation): void {
    const oldest = this.#previous;
    this.#previous = this.#current;
    this.#current = next;
    this.#retired.delete(next);
    if (oldest === null || oldest === next) return;
    if (oldest.pins === 0) close(oldest);
    else this.#retired.add(oldest);
  }

  /** Keeps a release open until `unpin`. */
  pin(generation: Generation): LiveRelease {
    generation.pins += 1;
    return generation.release;
  }

  unpin(name: string): void {
    const generation = this.find(name);
    if (generation === null) return;
    generation.pins -= 1;
    if (generation.pins === 0 && this.#retired.delete(generation)) close(generation);
  }

  /** Keeps a release open that a request named, until enough others were named. */
  keep(name: string): void {
    const generation = this.find(name);
    if (generation === null || generation === this.#current) return;
    if (!this.#asked.delete(name)) this.pin(generation);
    this.#asked.add(name);
    const [oldest] = this.#asked;
    if (this.#asked.size <= ASKED_OPEN_MAX || oldest === undefined) return;
    this.#asked.delete(oldest);
    this.unpin(oldest);
  }

  close(): void {
    for (const generation of this.all) close(generation);
    this.#current = this.#previous = null;
    this.#retired.clear();
  }
}
