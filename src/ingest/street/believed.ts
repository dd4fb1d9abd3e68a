/** Which ZIPs of a municipality's doors are right. */

/**
 * A ZIP that fewer than this many doors of a municipality have, and less than this share of its
 * doors with a ZIP, is a mistake, unless the ZIP's other doors are near.
 */
const BELIEVED_DOORS_MIN = 3;
const BELIEVED_SHARE_MIN = 0.01;
/** About 5 km. */
const NEAR_MICRODEGREES = 50_000;

/** The doors of a municipality with one ZIP, and the box they lie in. */
export interface Pair {
  readonly state: string;
  /** Folded name. */
  readonly municipality: string;
  readonly zip: number;
  /** Number of doors and sides of ranges. */
  doors: number;
  south: number;
  west: number;
  north: number;
  east: number;
}

type Box = Pick<Pair, 'south' | 'west' | 'north' | 'east'>;

function keyOf(state: string, municipality: string, zip: number): string {
  return `${state}|${municipality}|${zip}`;
}

function extend(box: Box & { -readonly [K in keyof Box]: number }, by: Box): void {
  box.south = Math.min(box.south, by.south);
  box.west = Math.min(box.west, by.west);
  box.north = Math.max(box.north, by.north);
  box.east = Math.max(box.east, by.east);
}

function isNear(pair: Pair, box: Box | undefined): boolean {
  return (
    box !== undefined &&
    pair.south >= box.south - NEAR_MICRODEGREES &&
    pair.north <= box.north + NEAR_MICRODEGREES &&
    pair.west >= box.west - NEAR_MICRODEGREES &&
    pair.east <= box.east + NEAR_MICRODEGREES
  );
}

/** Extends a pair's box to a door. */
export function extendPair(pair: Pair, lat: number, lng: number): void {
  if (lat < pair.south) pair.south = lat;
  if (lat > pair.north) pair.north = lat;
  if (lng < pair.west) pair.west = lng;
  if (lng > pair.east) pair.east = lng;
}

export class PairTable {
  readonly #pairs = new Map<string, Pair>();

  /** The pair of a street; null where its municipality or ZIP is not known. */
  of(state: string, municipality: string, zip: number): Pair | null {
    if (municipality === '' || zip === 0) return null;
    const key = keyOf(state, municipality, zip);
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      pair = {
        state,
        municipality,
        zip,
        doors: 0,
        south: Infinity,
        west: Infinity,
        north: -Infinity,
        east: -Infinity,
      };
      this.#pairs.set(key, pair);
    }
    return pair;
  }

  list(): readonly Pair[] {
    return [...this.#pairs.values()];
  }

  /** Adds pairs that were counted elsewhere. */
  merge(pairs: Iterable<Pair>): void {
    for (const other of pairs) {
      const own = this.of(other.state, other.municipality, other.zip);
      if (own === null) continue;
      own.doors += other.doors;
      extend(own, other);
    }
  }

  /** The pairs whose ZIP is a mistake. */
  disbelieved(): Disbelieved {
    const totals = new Map<string, number>();
    const townOf = (pair: Pair): string => `${pair.state}|${pair.municipality}`;
    for (const pair of this.#pairs.values()) {
      totals.set(townOf(pair), (totals.get(townOf(pair)) ?? 0) + pair.doors);
    }
    const doubtful = (pair: Pair): boolean =>
      pair.doors < BELIEVED_DOORS_MIN &&
      pair.doors < (totals.get(townOf(pair)) ?? 0) * BELIEVED_SHARE_MIN;
    const zips = new Map<string, Box & { -readonly [K in keyof Box]: number }>();
    for (const pair of this.#pairs.values()) {
      if (doubtful(pair)) continue;
      const zip = `${pair.state}|${pair.zip}`;
      const box = zips.get(zip);
      if (box === undefined) zips.set(zip, { ...pair });
      else extend(box, pair);
    }
    const keys = [...this.#pairs]
      .filter(([, pair]) => doubtful(pair) && !isNear(pair, zips.get(`${pair.state}|${pair.zip}`)))
      .map(([key]) => key);
    return new Disbelieved(keys);
  }
}

/** Pairs of municipality and ZIP that are mistakes. */
export class Disbelieved {
  readonly #keys: ReadonlySet<string>;

  constructor(keys: Iterable<string>) {
    this.#keys = new Set(keys);
  }

  has(state: string, municipality: string, zip: number): boolean {
    return this.#keys.size > 0 && this.#keys.has(keyOf(state, municipality, zip));
  }

  /** The pairs of one state as texts, to be passed to another thread. */
  keys(state: string): readonly string[] {
    return [...this.#keys].filter((key) => key.startsWith(`${state}|`));
  }
}
