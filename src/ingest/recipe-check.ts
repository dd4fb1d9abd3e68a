/** Checks what a recipe says against the table of readers; every fault is a sentence. */
import type { Schema } from '../base/json-schema.js';
import {
  anything,
  checkOf,
  closed,
  list,
  type Members,
  object,
  optional,
  type Shape,
} from '../base/shape.js';
import type { Check } from '../base/validator.js';
import { READERS, SST_LAYOUT } from './readers.js';
import { TEXT, TEXTS, textsByName } from './entry-shapes.js';
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
];

/** The message of the check about a key that is none of those declared. */
const UNKNOWN = 'unexpected property';

const OBJECTS = list(object());

/** The recipe itself; entries of its lists are checked by their readers. */
const RECIPE = closed({
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
});

/** Its rates section. */
const RATES = closed({
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
});

function entriesOf(readers: Readonly<Record<string, { entry: Shape<unknown> }>>): Members {
  return Object.fromEntries(Object.entries(readers).map(([name, { entry }]) => [name, entry]));
}

type Fields = Readonly<Record<string, unknown>>;

/** The schema of a member or an item, null where there is none. */
function below(schema: Schema, step: string): Schema | null {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  if (step.startsWith('[')) return (schema['items'] as Schema | undefined) ?? null;
  return Object.hasOwn(properties, step) ? properties[step]! : null;
}

/** Where an unknown key stands, its name, and the names that its place has. */
function stranger(
  schema: Schema,
  path: string,
): {
  readonly place: string;
  readonly name: string;
  readonly known: readonly string[];
} {
  let [at, here] = [0, schema];
  for (const { 0: text, index } of path.matchAll(/\[\d+\]|\.[^.[]+/g)) {
    const next = below(here, text.replace(/^\./, ''));
    if (next === null) break;
    [at, here] = [index + text.length, next];
  }
  const known = Object.keys((here['properties'] ?? {}) as Fields);
  return { place: path.slice(0, at), name: path.slice(at).replace(/^\./, ''), known };
}

/** A recipe has many entries of a few shapes; to make a check takes longer than to use it. */
const checks = new WeakMap<Shape<unknown>, Check>();

function knownCheck(shape: Shape<unknown>): Check {
  const check = checks.get(shape) ?? checkOf(shape);
  checks.set(shape, check);
  return check;
}

/**
 * What is wrong with a value of this shape, unknown keys first: one that is misspelt is also
 * missing by its right name. `place` is where the value stands, "" at the top.
 */
export function shapeFaults(shape: Shape<unknown>, value: unknown, place: string): string[] {
  const [unknown, others]: [string[], string[]] = [[], []];
  for (const { location, message } of knownCheck(shape)(value, '')) {
    if (message === UNKNOWN) {
      const found = stranger(shape.schema, location);
      const fault = unknownName('key', found.name, found.known);
      unknown.push(told(`${place}${found.place}`, fault));
    } else others.push(told(`${place}${location}`, message));
  }
  return [...unknown, ...others];
}

/** The fault with its place, which begins with a dot below the top. */
function told(place: string, fault: string): string {
  return place === '' ? fault : `${place.replace(/^\./, '')}: ${fault}`;
}

/** Readers by the name an entry gives under `key`. */
type Named = ReadonlyMap<string, { readonly entry: Shape<unknown> }>;

/** The keys that any of the readers takes: for an entry that does not name its reader. */
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
    if (typeof name !== 'string') return shapeFaults(anyEntry(key, readers), entry, place);
    const reader = readers.get(name);
    return reader === undefined
      ? [`${place}.${key}: ${unknownName(key, name, readers.keys())}`]
      : shapeFaults(reader.entry, entry, place);
  });
}

/** Faults of a recipe without its rates section. */
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
