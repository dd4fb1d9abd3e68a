/**
 * The releases that a server has open: the one that answers, the one before it, and those that are
 * still used. Each is closed when it is neither and its last user has let go of it.
 */
import type { Dataset } from './dataset.js';
import { readManifest } from './manifest.js';
import type { PreparedRelease } from './release-copy.js';

/** What is told of a release beside its data. */
interface ReleaseFacts {
  readonly areas: number;
  /** Lists behind it that have ended and are still used. */
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

/** How a release is opened and asked. */
export interface OpenRelease {
  readonly open: (dir: string) => Dataset;
  /** Asks the release a few questions; throws when it does not answer as it should. */
  readonly probe: (dataset: Dataset, dir: string) => ReleaseFacts;
}

/**
 * Reads the facts of a release before it answers anybody.
 * @throws Error when it holds nothing.
 */
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
 * Opens a release where it was prepared; nothing of it is left when that fails.
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

/** Releases that stay open because they were asked for by name; each is a copy on the disk. */
export const ASKED_OPEN_MAX = 2;

export class Generations {
  #current: Generation | null = null;
  #previous: Generation | null = null;
  /** Open until their last task is done: replaced twice, or borrowed without being active. */
  readonly #retired = new Set<Generation>();
  /** Names of those that were asked for, the last one at the end; each is pinned once for it. */
  readonly #asked = new Set<string>();

  /** The one that answers; null before the first. */
  get current(): Generation | null {
    return this.#current;
  }

  /** All that are open. */
  get all(): readonly Generation[] {
    return [this.#current, this.#previous, ...this.#retired].filter(
      (generation) => generation !== null,
    );
  }

  find(name: string): Generation | null {
    return this.all.find(({ release }) => release.id === name) ?? null;
  }

  /** Keeps one open for whoever pins it, without making it the one that answers. */
  lend(generation: Generation): void {
    this.#retired.add(generation);
  }

  /** Makes one the one that answers; the one before the last is closed once nobody uses it. */
  take(next: Generation): void {
    const oldest = this.#previous;
    this.#previous = this.#current;
    this.#current = next;
    this.#retired.delete(next);
    if (oldest === null || oldest === next) return;
    if (oldest.pins === 0) close(oldest);
    else this.#retired.add(oldest);
  }

  /** Keeps one open until `unpin`. */
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

  /** Keeps one open that was asked for by its name, until others were. */
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
