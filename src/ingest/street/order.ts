/**
 * Turns stated streets into those of the index, in the order of keys, with their doors and ranges.
 */
import { LOCALITY_IS_MUNICIPALITY, LOCALITY_WITHOUT_ZIPS } from '../../dataset/locality-list.js';
import { directionCode } from '../../dataset/street-index.js';
import type { IntColumn } from './bytes.js';
import type { StreetCollection } from './collection.js';
import type { StreetHead } from './encoding.js';
import { commonLabel, type LocalityNumbers } from './localities.js';

export interface FinalStreet extends StreetHead {
  readonly state: string;
  /** The ZIP; 0 where it is not known. */
  readonly zip: number;
  /** Locality under which the street is found without a ZIP; otherwise 0. */
  readonly town: number;
  readonly fold: string;
  /** Spellings of the name without direction and suffix. */
  readonly names: ReadonlySet<string>;
  /** Row numbers of its doors in the collection. */
  readonly points: Uint32Array;
  /** Row numbers of its sides in the collection, in order. */
  readonly sides: Uint32Array;
}

interface Draft {
  readonly key: string;
  readonly head: Omit<FinalStreet, 'label' | 'names' | 'points' | 'sides'>;
  readonly labels: Map<string, number>;
  readonly names: Set<string>;
  doors: number;
  sides: number;
}

/**
 * Merges stated streets that are the same, and orders them by state, ZIP or locality, and name.
 * `zips` are the ZIPs of the stated streets; 0 where one is missing or a mistake.
 */
export function finalStreets(
  collection: StreetCollection,
  localities: LocalityNumbers,
  zips: Int32Array,
): readonly FinalStreet[] {
  const draftOf = draftStreets(collection, localities, zips);
  const { doorStreet, sides, streets } = collection;
  for (let row = 0; row < doorStreet.length; row += 1) draftOf[doorStreet.at(row)]!.doors += 1;
  for (let row = 0; row < sides.length; row += 1) draftOf[sides.street.at(row)]!.sides += 1;
  const drafts = [...new Set(draftOf)].sort((a, b) => (a.key < b.key ? -1 : 1));
  const pointRows = rowsOf(drafts, draftOf, doorStreet, 'doors');
  const sideRows = rowsOf(drafts, draftOf, sides.street, 'sides');
  const zipOf = (row: number): number => streets[sides.street.at(row)]!.zip;
  return drafts.map((draft, index) => ({
    ...draft.head,
    label: commonLabel(draft.labels),
    names: draft.names,
    points: pointRows[index]!,
    sides: sideRows[index]!.sort((a, b) => sides.compare(a, b, zipOf)),
  }));
}

/** The row numbers of each draft; `count` has their numbers, and is overwritten. */
function rowsOf(
  drafts: readonly Draft[],
  draftOf: readonly Draft[],
  street: IntColumn,
  count: 'doors' | 'sides',
): readonly Uint32Array[] {
  const all = new Uint32Array(street.length);
  const rows = new Map<Draft, Uint32Array>();
  let at = 0;
  for (const draft of drafts) {
    rows.set(draft, all.subarray(at, at + draft[count]));
    at += draft[count];
  }
  for (let row = 0; row < street.length; row += 1) {
    const draft = draftOf[street.at(row)]!;
    draft[count] -= 1;
    rows.get(draft)![draft[count]] = row;
  }
  return drafts.map((draft) => rows.get(draft)!);
}

/** The draft of each stated street, by its number. */
function draftStreets(
  collection: StreetCollection,
  localities: LocalityNumbers,
  zips: Int32Array,
): Draft[] {
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
      state,
      String(zip).padStart(5, '0'),
      String(town).padStart(5, '0'),
      fold,
      suffix,
      directionCode(pre),
      directionCode(post),
      city,
      municipality,
    ].join('\u0001');
    let draft = drafts.get(key);
    if (draft === undefined) {
      const head = { state, zip, town, fold, pre, suffix, post, city, municipality };
      draft = { key, head, labels: new Map(), names: new Set(), sides: 0, doors: 0 };
      drafts.set(key, draft);
    }
    draft.names.add(spelling.name);
    draft.labels.set(label, (draft.labels.get(label) ?? 0) + weight);
    return draft;
  });
}
