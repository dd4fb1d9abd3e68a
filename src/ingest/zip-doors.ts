/** Doors as evidence: which parts of a ZIP address points show, and when they weigh it. */
import { tupleKey } from './zip-cities.js';
import type { AreaTuple } from './model.js';
import type { ZipCount } from './zip-model.js';

/** Fewer doors say nothing: one mistyped ZIP would bind it to a town at the other end. */
const PART_DOORS_MIN = 3;
/** Parts below 0.5 % are slivers or slips. */
const PART_SHARE_MIN = 0.005;
/** A ZIP with fewer doors is not weighed. */
const ZIP_DOORS_MIN = 20;

/** A part of a ZIP that doors show. */
export interface DoorPart {
  readonly tuple: AreaTuple;
  readonly doors: number;
}

/** What the doors of one ZIP say. */
export interface ZipDoors {
  readonly parts: ReadonlyMap<string, DoorPart>;
  /** Doors of the parts kept. */
  readonly total: number;
  /** Enough doors to weigh the ZIP, if the source holds all of them. */
  readonly enough: boolean;
}

/** Sums the counts of a ZIP and drops what is too small to be real. */
export function readDoors(counts: readonly ZipCount[]): ZipDoors {
  const sums = new Map<string, DoorPart>();
  let all = 0;
  for (const { tuple, count } of counts) {
    const key = tupleKey(tuple);
    sums.set(key, { tuple, doors: (sums.get(key)?.doors ?? 0) + count });
    all += count;
  }
  const parts = new Map([...sums].filter(([, { doors }]) =>
    doors >= PART_DOORS_MIN && doors >= all * PART_SHARE_MIN));
  let total = 0;
  for (const { doors } of parts.values()) total += doors;
  return { parts, total, enough: total >= ZIP_DOORS_MIN };
}
