/**
 * Entries of recipes that name a source of the catalogue: "catalogue:KEY", with a member of its
 * archive behind "!", and behind "|" what stands in where the source was not fetched. An entry
 * without a file is left out, so that those before it hold. {state} in the key stands for every
 * state that was fetched, and together with {fips} also elsewhere in the entry.
 */
import { readCatalogue, wantedOf } from './publisher/catalogue.js';
import type { HeldFile } from './publisher/held-files.js';
import type { HeldList } from './rates/held.js';
import type { RateList, RatesRecipe, Recipe } from './recipe.js';
import { unknownName } from './spelling.js';

const NAMED = /^catalogue:([^!|]+)(![^|]*)?(?:\|(.*))?$/;

type Held = ReadonlyMap<string, HeldFile>;

/** A recipe, with the catalogue's files that are in a folder of sources. */
export interface HeldRecipe {
  readonly recipe: Recipe;
  readonly rates: RatesRecipe;
  /** Its rate lists that were fetched. */
  readonly lists: readonly HeldList[];
  /** All files of the catalogue that it uses. */
  readonly files: readonly HeldFile[];
  /** All keys of the catalogue that it names, with {state} unreplaced. */
  readonly keys: readonly string[];
}

/** The paths of all its entries. */
function pathsOf(recipe: Recipe, rates: RatesRecipe): readonly string[] {
  const { points, delivered, tabulated, cities } = recipe.zips;
  return [
    ...[...recipe.boundaries, ...rates.lists, ...rates.estimates, ...(rates.stated ?? [])].map(
      ({ path }) => path,
    ),
    ...[...recipe.points, ...recipe.ranges, ...recipe.sst].map(({ file }) => file),
    ...[points, delivered, tabulated, cities].filter((path) => path !== undefined),
  ];
}

/** Keys of the catalogue that its entries name. */
function keysOf(recipe: Recipe, rates: RatesRecipe): readonly string[] {
  return [...new Set(pathsOf(recipe, rates).flatMap((path) => NAMED.exec(path)?.[1] ?? []))];
}

/** @throws Error naming a key that is not in the catalogue. */
export function checkKeys(file: string, recipe: Recipe, rates: RatesRecipe): void {
  const named = [...keysOf(recipe, rates), ...recipe.sst.flatMap(({ unless = [] }) => unless)];
  if (named.length === 0) return;
  const wanted = readCatalogue().flatMap(wantedOf);
  const known = new Set(
    wanted.flatMap(({ key, source, state }) =>
      state === '' ? [key] : [key, `${source.name}/{state}`],
    ),
  );
  const stranger = named.find((key) => !known.has(key));
  if (stranger === undefined) return;
  throw new Error(`recipe ${file}: ${unknownName('source of the catalogue', stranger, known)}`);
}

interface Resolved {
  readonly path: string;
  /** The file of the catalogue; null for a substitute, and for an entry outside the catalogue. */
  readonly file: HeldFile | null;
}

function resolve(path: string, held: Held): readonly Resolved[] {
  const found = NAMED.exec(path);
  if (found === null) return [{ path, file: null }];
  const [, key = '', member = '', other] = found;
  const each = key.endsWith('/{state}')
    ? [...held.values()].filter((file) => file.key === key.replace('{state}', file.state))
    : [held.get(key) ?? []].flat();
  if (each.length > 0) return each.map((file) => ({ path: `${file.path}${member}`, file }));
  return other === undefined ? [] : [{ path: other, file: null }];
}

/** A value with every text in it changed, at any depth; names of members stay. */
function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => withTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withTexts(each, change)]),
  );
}

function filled<Entry>(entry: Entry, { state, fips }: HeldFile): Entry {
  const fill = (text: string): string =>
    text.replaceAll('{state}', state).replaceAll('{fips}', fips);
  return withTexts(entry, fill) as Entry;
}

interface Expanded<Entry> {
  readonly entry: Entry;
  readonly file: HeldFile | null;
}

function expand<Entry extends object>(
  entries: readonly Entry[],
  member: 'path' | 'file',
  held: Held,
): readonly Expanded<Entry>[] {
  return entries.flatMap((entry) => {
    const path = (entry as Readonly<Record<string, unknown>>)[member];
    return resolve(String(path), held).map(
      ({ path: own, file }): Expanded<Entry> => ({
        file,
        entry:
          file === null
            ? { ...entry, [member]: own }
            : filled({ ...entry, [member]: own, source: file.key }, file),
      }),
    );
  });
}

function entriesOf<Entry>(expanded: readonly Expanded<Entry>[]): readonly Entry[] {
  return expanded.map(({ entry }) => entry);
}

/**
 * The boundary-file entries of a recipe. A state's file in the catalogue replaces others that the
 * recipe has for it. It is left out if the state's codes need a rate file that was not fetched, or
 * if a source was fetched that the entry gives precedence.
 */
function boundaryFiles(
  entries: Recipe['sst'],
  held: Held,
  worthless: ReadonlySet<string | undefined>,
): Recipe['sst'] {
  const wanted = entries.flatMap(({ unless = [], ...entry }) =>
    unless.some((key) => held.has(key)) ? [] : [entry],
  );
  const expanded = expand(wanted, 'file', held).filter(
    ({ entry, file }) => file === null || !worthless.has(entry.state),
  );
  const fetched = new Set(
    expanded.filter(({ file }) => file !== null).map(({ entry }) => entry.state),
  );
  return entriesOf(
    expanded.filter(({ entry, file }) => file !== null || !fetched.has(entry.state)),
  );
}

function zipSources(zips: Recipe['zips'], held: Held): Recipe['zips'] {
  const path = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : resolve(text, held)[0]?.path;
  const own = (['delivered', 'tabulated', 'cities'] as const).flatMap(
    (name): [string, string][] => {
      const found = path(zips[name]);
      return found === undefined ? [] : [[name, found]];
    },
  );
  const { counted } = zips;
  return {
    points: path(zips.points) ?? zips.points,
    ...Object.fromEntries(own),
    ...(counted === undefined ? {} : { counted }),
  };
}

/** The list of an entry that was fetched; none for an entry that names a file itself. */
function heldList({ entry, file }: Expanded<RateList>, stated: boolean): readonly HeldList[] {
  return file === null
    ? []
    : [
        {
          name: file.key,
          publisher: file.source.publisher,
          licence: file.source.licence,
          asOf: file.asOf,
          until: file.until,
          rhythm: file.source.rhythm,
          state: entry.state ?? '',
          levels: file.source.levels,
          ...(stated ? { stated } : {}),
        },
      ];
}

/** Resolves the catalogue's names in a recipe to files in a folder. */
export function withHeld(
  { recipe, rates }: Pick<HeldRecipe, 'recipe' | 'rates'>,
  held: Held,
): HeldRecipe {
  const lists = expand(rates.lists, 'path', held);
  const { stated: beside = [], ...section } = rates;
  const stated = expand(beside, 'path', held);
  const own: Recipe = {
    ...recipe,
    boundaries: entriesOf(expand(recipe.boundaries, 'path', held)),
    zips: zipSources(recipe.zips, held),
    points: entriesOf(expand(recipe.points, 'file', held)),
    ranges: entriesOf(expand(recipe.ranges, 'file', held)),
    sst: boundaryFiles(
      recipe.sst,
      held,
      new Set(
        beside
          .filter(({ state }) => !stated.some(({ entry }) => entry.state === state))
          .map(({ state }) => state),
      ),
    ),
  };
  const listed: RatesRecipe = {
    ...section,
    lists: entriesOf(lists),
    estimates: entriesOf(expand(rates.estimates, 'path', held)),
    ...(stated.length === 0 ? {} : { stated: entriesOf(stated) }),
  };
  const paths = new Set(pathsOf(own, listed).map((path) => path.split('!')[0]));
  const read = lists.flatMap((list) => heldList(list, false));
  // A list that is also read as a rate list is only one source.
  const others = stated
    .flatMap((list) => heldList(list, true))
    .filter(({ name }) => !read.some((list) => list.name === name));
  return {
    recipe: own,
    rates: listed,
    keys: keysOf(recipe, rates),
    lists: [...read, ...others],
    files: [...held.values()].filter(({ path }) => paths.has(path)),
  };
}
