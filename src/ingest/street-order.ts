/** Stated streets → the streets of the index, in key order, with their doors and ranges. */
import {
  directionCode, LOCALITY_IS_MUNICIPALITY, LOCALITY_WITHOUT_ZIPS,
} from '../dataset/street-format.js';
import { commonLabel, type StatedSide, type StreetCollection } from './street-collection.js';
import type { StreetHead } from './street-encoding.js';
import { believedZips, type LocalityNumbers } from './street-localities.js';

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
