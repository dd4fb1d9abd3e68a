/** Checks recipes against the table of readers; each fault is a sentence. */
import type { Schema } from '../base/json-schema.js';
import {
  anything,
  closed,
  list,
  type Members,
  object,
  optional,
  type Shape,
} from '../base/shape.js';
import type { FaultCheck } from '../base/validator.js';
import { READERS, SST_LAYOUT } from './readers.js';
import { type Entry, faultsOf, TEXT, TEXTS, textsByName } from './entry-shapes.js';
import { unknownName } from './spelling.js';

/** Fact tables that lookups and carts read, by the names of their documents. */
const DOCUMENTS = [
  'tic',
  'tic-words',
  'products',
  'holidays',
  'meal-tax',
  'single-article',
  'price-tiers',
  'sourcing-cases',
  'rules-not-supported',
  'product-localities',
  'holiday-categories',
  'freight-mixed',
  'handling',
  'county-time-zones',
  'population',
  'province-names',
];

const OBJECTS = list(object());

/** The shape of a recipe. Entries of its lists are checked by their readers. */
const RECIPE = faultsOf(
  closed({
    name: TEXT,
    description: TEXT,
    facts: TEXT,
    rates: TEXT,
    boundaries: list(READERS.boundaries.entry),
    zips: closed({ ...entriesOf(READERS.zips), counted: optional(TEXTS) }),
    points: OBJECTS,
    ranges: OBJECTS,
    sst: OBJECTS,
    postalPrefixes: optional(TEXT),
    documents: closed(Object.fromEntries(DOCUMENTS.map((name) => [name, optional(TEXT)]))),
  }),
);

/** The shape of its rates section. */
const RATES = faultsOf(
  closed({
    states: TEXT,
    counties: TEXT,
    places: TEXT,
    tiers: TEXT,
    aliases: TEXT,
    districtNames: TEXT,
    sources: TEXT,
    completeness: TEXT,
    notSupported: TEXT,
    members: TEXTS,
    lists: OBJECTS,
    estimates: OBJECTS,
    stated: optional(OBJECTS),
    divided: optional(TEXT),
    caps: textsByName(),
  }),
);

function entriesOf(readers: Readonly<Record<string, { entry: Shape<unknown> }>>): Members {
  return Object.fromEntries(Object.entries(readers).map(([name, { entry }]) => [name, entry]));
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The faults of a value by a shape's check. Unknown keys come first, because a misspelt key is also
 * missing under its right name. `place` is where the value stands; "" at the top.
 */
export function shapeFaults(check: FaultCheck, value: unknown, place: string): string[] {
  const [unknown, others]: [string[], string[]] = [[], []];
  for (const fault of check(value)) {
    const at = `${place}${fault.place}`;
    if (fault.kind === 'misfit') others.push(told(at, fault.message));
    else unknown.push(told(at, unknownName('key', fault.name, fault.known)));
  }
  return [...unknown, ...others];
}

/** A fault with its place, which begins with a dot except at the top. */
function told(place: string, fault: string): string {
  return place === '' ? fault : `${place.replace(/^\./, '')}: ${fault}`;
}

/** Readers, by the name that an entry gives under `key`. */
type Named = ReadonlyMap<string, Entry>;

/** A shape with the keys of all readers, for an entry that does not name its reader. */
function anyEntry(key: string, readers: Named): Shape<unknown> {
  const names = [...readers.values()].flatMap(({ entry }) =>
    Object.keys(entry.schema['properties'] as Schema),
  );
  const others = Object.fromEntries(names.map((name) => [name, optional(anything())]));
  return closed({ ...others, [key]: TEXT });
}

function entryFaults(
  section: string,
  entries: readonly Fields[],
  key: 'reader' | 'layout',
  readers: Named,
): string[] {
  return entries.flatMap((entry, at) => {
    const place = `${section}[${at}]`;
    const name = entry[key];
    if (typeof name !== 'string')
      return shapeFaults(faultsOf(anyEntry(key, readers)), entry, place);
    const reader = readers.get(name);
    return reader === undefined
      ? [`${place}.${key}: ${unknownName(key, name, readers.keys())}`]
      : shapeFaults(reader.faults, entry, place);
  });
}

/** Faults of a recipe, without its rates section. */
export function recipeFaults(value: unknown): string[] {
  const faults = shapeFaults(RECIPE, value, '');
  if (faults.length > 0) return faults;
  const { points, ranges, sst } = value as Readonly<Record<string, readonly Fields[]>>;
  const records = (sst ?? []).map((entry) => ({ layout: SST_LAYOUT, ...entry }));
  return [
    ...entryFaults('points', points ?? [], 'layout', READERS.points),
    ...entryFaults('ranges', ranges ?? [], 'layout', READERS.ranges),
    ...entryFaults('sst', records, 'layout', READERS.sst),
  ];
}

/** Faults of a rates section. */
export function ratesFaults(value: unknown): string[] {
  const faults = shapeFaults(RATES, value, '');
  if (faults.length > 0) return faults;
  const { lists, estimates, stated } = value as Readonly<Record<string, readonly Fields[]>>;
  return [
    ...entryFaults('lists', lists ?? [], 'reader', READERS.lists),
    ...entryFaults('estimates', estimates ?? [], 'reader', READERS.lists),
    ...entryFaults('stated', stated ?? [], 'reader', READERS.lists),
  ];
}
