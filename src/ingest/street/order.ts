/** Stated streets → the streets of the index, in key order, with their doors and ranges. */
import {
  directionCode, LOCALITY_IS_MUNICIPALITY, LOCALITY_WITHOUT_ZIPS, type LocalityRow,
} from '../../dataset/street-format.js';
import {
  commonLabel, type StatedSide, type StatedStreet, type StreetCollection,
} from './collection.js';
import type { StreetHead } from './encoding.js';

export interface FinalStreet extends StreetHead {
  readonly state: string;
  /** 0 where it is not known. */
  readonly zip: number;
  /** Locality that stands for the ZIP where there is none; else 0. */
  readonly town: number;
  readonly fold: string;
  /** The spellings of its name proper. */
  readonly names: ReadonlySet<string>;
  /** Row numbers of its doors in the collection. */
  readonly points: Uint32Array;
  readonly sides: readonly StatedSide[];
}

interface Draft {
  readonly key: string;
  readonly head: Omit<FinalStreet, 'label' | 'names' | 'points' | 'sides'>;
  readonly labels: Map<string, number>;
  readonly names: Set<string>;
  readonly sides: StatedSide[];
  doors: number;
}

/** Merges stated streets that are one and orders them by state, ZIP or locality, and name. */
export function finalStreets(
  collection: StreetCollection,
  localities: LocalityNumbers,
): readonly FinalStreet[] {
  const draftOf = draftStreets(collection, localities);
  const { street } = collection;
  for (let row = 0; row < street.length; row += 1) draftOf[street.at(row)]!.doors += 1;
  const drafts = [...new Set(draftOf)].sort((a, b) => (a.key < b.key ? -1 : 1));
  const points = new Map(drafts.map((draft) => [draft, new Uint32Array(draft.doors)]));
  for (let row = 0; row < street.length; row += 1) {
    const draft = draftOf[street.at(row)]!;
    draft.doors -= 1;
    points.get(draft)![draft.doors] = row;
  }
  for (const side of collection.sides) draftOf[side.street]!.sides.push(side);
  return drafts.map((draft) => ({
    ...draft.head,
    label: commonLabel(draft.labels),
    names: draft.names,
    points: points.get(draft)!,
    sides: draft.sides.sort(compareSides),
  }));
}

/** The draft of each stated street, by its number. */
function draftStreets(collection: StreetCollection, localities: LocalityNumbers): Draft[] {
  const zips = believedZips(collection);
  const drafts = new Map<string, Draft>();
  return collection.streets.map((stated, index) => {
    const { state, spelling, weight } = stated;
    const zip = zips[index]!;
    const city = localities.id(state, stated.city);
    const municipality = localities.id(state, stated.municipality);
    const town = zip > 0 ? 0 : municipality || city;
    if (zip === 0) {
      localities.mark(state, city, LOCALITY_WITHOUT_ZIPS);
      localities.mark(state, municipality, LOCALITY_WITHOUT_ZIPS);
    }
    localities.mark(state, municipality, LOCALITY_IS_MUNICIPALITY);
    const { fold, pre, suffix, post, label } = spelling;
    const key = [
      state, String(zip).padStart(5, '0'), String(town).padStart(5, '0'), fold, suffix,
      directionCode(pre), directionCode(post), city, municipality,
    ].join('\u0001');
    let draft = drafts.get(key);
    if (draft === undefined) {
      const head = { state, zip, town, fold, pre, suffix, post, city, municipality };
      draft = { key, head, labels: new Map(), names: new Set(), sides: [], doors: 0 };
      drafts.set(key, draft);
    }
    draft.names.add(spelling.name);
    draft.labels.set(label, (draft.labels.get(label) ?? 0) + weight);
    return draft;
  });
}

/** Any total order of the sides' contents. */
function compareSides(a: StatedSide, b: StatedSide): number {
  return Math.min(a.side.from, a.side.to) - Math.min(b.side.from, b.side.to)
    || Math.max(a.side.from, a.side.to) - Math.max(b.side.from, b.side.to)
    || Number(a.right) - Number(b.right) || b.begin - a.begin || a.area - b.area
    || compareText(JSON.stringify([a.side, a.geometry]), JSON.stringify([b.side, b.geometry]));
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

// Localities of a state, numbered, and which ZIPs of which municipality to believe.

/**
 * A ZIP said of fewer doors of a municipality than this, and of less than this share of its doors
 * with a ZIP, is a slip of the pen, unless the ZIP's other doors are near.
 */
const BELIEVED_DOORS_MIN = 3;
const BELIEVED_SHARE_MIN = 0.01;
/** About 5 km. */
const NEAR_MICRODEGREES = 50_000;

/** Doors of a municipality that are said to have one ZIP, and the box they lie in. */
interface Pair {
  readonly zip: string;
  readonly town: string;
  doors: number;
  south: number;
  west: number;
  north: number;
  east: number;
}

/** The ZIP of each stated street, 0 where it is missing or not to be believed. */
export function believedZips(collection: StreetCollection): Int32Array {
  const pairs = new Map<string, Pair>();
  const pairOf = collection.streets.map((street) => pairFor(pairs, street));
  const { street, lat, lng } = collection;
  for (let row = 0; row < street.length; row += 1) {
    const pair = pairOf[street.at(row)];
    if (pair) extend(pair, lat.at(row), lng.at(row), lat.at(row), lng.at(row));
  }
  const totals = new Map<string, number>();
  for (const { town, doors } of pairs.values()) totals.set(town, (totals.get(town) ?? 0) + doors);
  const doubtful = (pair: Pair): boolean => pair.doors < BELIEVED_DOORS_MIN
    && pair.doors < (totals.get(pair.town) ?? 0) * BELIEVED_SHARE_MIN;
  const zips = new Map<string, Pair>();
  for (const pair of pairs.values()) {
    if (doubtful(pair)) continue;
    const { zip, south, west, north, east } = pair;
    const box = zips.get(zip);
    if (box === undefined) zips.set(zip, { ...pair });
    else extend(box, south, west, north, east);
  }
  return Int32Array.from(collection.streets, ({ zip }, index) => {
    const pair = pairOf[index];
    return !pair || !doubtful(pair) || isNear(pair, zips.get(pair.zip)) ? zip : 0;
  });
}

function pairFor(pairs: Map<string, Pair>, street: StatedStreet): Pair | null {
  const { state, municipality, zip, weight } = street;
  if (municipality === '' || zip === 0) return null;
  const key = `${state}|${municipality}|${zip}`;
  let pair = pairs.get(key);
  if (pair === undefined) {
    pair = {
      zip: `${state}|${zip}`, town: `${state}|${municipality}`, doors: 0,
      south: Infinity, west: Infinity, north: -Infinity, east: -Infinity,
    };
    pairs.set(key, pair);
  }
  pair.doors += weight;
  return pair;
}

function extend(box: Pair, south: number, west: number, north: number, east: number): void {
  box.south = Math.min(box.south, south);
  box.west = Math.min(box.west, west);
  box.north = Math.max(box.north, north);
  box.east = Math.max(box.east, east);
}

function isNear(pair: Pair, box: Pair | undefined): boolean {
  return box !== undefined && pair.south >= box.south - NEAR_MICRODEGREES
    && pair.north <= box.north + NEAR_MICRODEGREES && pair.west >= box.west - NEAR_MICRODEGREES
    && pair.east <= box.east + NEAR_MICRODEGREES;
}

/** Numbers the localities of every state from 1, in order of their folded names. */
export class LocalityNumbers {
  readonly #ids = new Map<string, number>();
  readonly #rows = new Map<string, [string, string, number][]>();

  constructor(collection: StreetCollection) {
    for (const key of [...collection.labels.keys()].sort()) {
      const state = key.slice(0, 2);
      const rows = this.#rows.get(state) ?? [['', '', 0]];
      this.#rows.set(state, rows);
      this.#ids.set(key, rows.length);
      rows.push([key.slice(3), commonLabel(collection.labels.get(key) ?? new Map()), 0]);
    }
  }

  /** 0 for no locality. */
  id(state: string, fold: string): number {
    return fold === '' ? 0 : this.#ids.get(`${state}|${fold}`) ?? 0;
  }

  /** Notes what is known of a locality: LOCALITY_WITHOUT_ZIPS, LOCALITY_IS_MUNICIPALITY. */
  mark(state: string, id: number, flag: number): void {
    const row = this.#rows.get(state)?.[id];
    if (row !== undefined) row[2] |= flag;
  }

  rows(state: string): readonly LocalityRow[] {
    return this.#rows.get(state) ?? [['', '', 0]];
  }
}
