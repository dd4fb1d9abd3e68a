/** Recipes: which files a dataset is made of, and how they are read. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { checkKeys, type HeldRecipe, withHeld } from './held-recipe.js';
import { heldFiles } from './publisher/held-files.js';
import { readCatalogue } from './publisher/catalogue.js';
import { readSources, readStates } from './rates/facts.js';
import { ratesFaults, recipeFaults } from './recipe-check.js';
import { datasetsDir } from './source-files.js';
import type { BoundaryRecordSource, PointSource, RangeSource } from './source/address-source.js';
import type { BoundaryFile } from './source/boundary-file.js';
import type { ListOptions } from './rates/list.js';
import { unknownName } from './spelling.js';

/** Beginning of the paths of fact tables. */
const FACTS = 'facts/';

/** Boundaries of one layer. `path` may hold {fips}, for one file per state. */
export interface BoundarySource extends BoundaryFile {
  readonly layer: 'county' | 'province' | 'place' | 'town' | 'district';
  /** Name of its source in sources.tsv. */
  readonly source: string;
  /** State FIPS codes for {fips}; on a town layer the states that towns govern. */
  readonly states?: readonly string[];
  /** Properties that a feature must match ("^C[125678]$"). */
  readonly where?: Readonly<Record<string, string>>;
}

interface ZipSources {
  /** GeoNames postal codes. */
  readonly points: string;
  /** ZIP–county pairs of delivered addresses. */
  readonly delivered?: string;
  /** ZIP–county pairs of census areas. */
  readonly tabulated?: string;
  /** Authorities bound to ZIPs. */
  readonly cities?: string;
  /** States whose address points are complete, so that they weigh ZIPs. */
  readonly counted?: readonly string[];
}

export interface Recipe {
  readonly name: string;
  readonly description: string;
  /** Folder of fact tables below the datasets folder. */
  readonly facts: string;
  /** File of the rates section below the recipes folder. */
  readonly rates: string;
  readonly boundaries: readonly BoundarySource[];
  readonly zips: ZipSources;
  readonly points: readonly PointSource[];
  readonly ranges: readonly RangeSource[];
  /** Streamlined Sales Tax boundary files. */
  readonly sst: readonly BoundaryRecordSource[];
  /** Fact table of postal code prefixes by province. */
  readonly postalPrefixes?: string;
  /** Fact tables that become documents of the dataset, by document name. */
  readonly documents: Readonly<Record<string, string>>;
}

/** One list: a file of a publisher, or a fact table. */
export interface RateList {
  /** Name of a reader in the table of readers. */
  readonly reader: string;
  /** Below the facts folder if it begins with "facts/"; otherwise below the sources folder. */
  readonly path: string;
  /** Name of its source in sources.tsv; rows of fact tables name their own. */
  readonly source?: string;
  readonly state?: string;
  readonly options?: ListOptions;
  /** Further files of the list, by the names that its reader uses. */
  readonly files?: Readonly<Record<string, string>>;
  /** Older publications of the same list, each with the day it was published for, YYYY-MM-DD. */
  readonly earlier?: readonly (Pick<RateList, 'path' | 'files'> & { readonly asOf: string })[];
}

/** The rates section. Lists are in order of precedence: where two overlap, the later one counts. */
export interface RatesRecipe {
  readonly states: string;
  readonly counties: string;
  /** Folder of place facts by state; not read if the build has places of its own. */
  readonly places: string;
  readonly tiers: string;
  readonly aliases: string;
  readonly districtNames: string;
  readonly sources: string;
  readonly completeness: string;
  /** Table of rules that are not applied, which coverage names: state, note, source. */
  readonly notSupported: string;
  readonly members: readonly string[];
  readonly lists: readonly RateList[];
  /** The estimated layer, which is only read if it is switched on. */
  readonly estimates: readonly RateList[];
  /** Rate files for boundary files, of states whose `lists` have different codes. */
  readonly stated?: readonly RateList[];
  /** Table of land outside cities whose rate is unknown. */
  readonly divided?: string;
  /** Highest sum of local parts by state, in percent. */
  readonly caps: Readonly<Record<string, string>>;
}

/** Whether a list's path is a file. A key of the catalogue is not resolved yet. */
export function isResolved({ path }: Pick<RateList, 'path'>): boolean {
  return !path.startsWith('catalogue:');
}

/** All files from which a recipe's lists are read. */
export function listFiles(recipe: RatesRecipe, estimated: boolean): readonly string[] {
  return [
    ...[...recipe.lists, ...(recipe.stated ?? [])].filter(isResolved),
    ...(estimated ? recipe.estimates : []),
  ]
    .flatMap((list) => [list, ...(list.earlier ?? [])])
    .flatMap(({ path, files = {} }) => [path, ...Object.values(files)]);
}

/**
 * Reads a file in the recipes folder; a member that is null counts as absent.
 * @throws Error that names the file and, for each fault, its place and what was probably meant.
 */
function readJson(
  name: string,
  folder: string,
  faultsOf: (value: unknown) => readonly string[],
): unknown {
  const own = join(folder, name);
  const file = existsSync(own) ? own : join(datasetsDir(), 'recipes', name);
  if (!existsSync(file)) {
    throw new Error(`recipe ${name} cannot be read: there is no file ${own}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'), (_key, member: unknown) =>
      member === null ? undefined : member,
    );
  } catch (error) {
    throw new Error(`recipe ${name} cannot be read: ${(error as Error).message}`);
  }
  const faults = faultsOf(value);
  if (faults.length > 0) {
    throw new Error(faults.map((fault) => `recipe ${name}: ${fault}`).join('\n'));
  }
  return value;
}

/** All lists whose entries may belong to a state, by name. */
function ofStates<Name extends string>(
  lists: Readonly<Partial<Record<Name, readonly { readonly state?: string }[]>>>,
  ...names: readonly Name[]
): (readonly [place: string, state: string])[] {
  return names.flatMap((name) =>
    (lists[name] ?? []).flatMap(({ state = '' }, at) =>
      state === '' || state.includes('{') ? [] : [[`${name}[${at}].state`, state] as const],
    ),
  );
}

/** Text of a fact table; null for a publishers' file, which may not be fetched yet. */
function factText(recipe: Recipe, path: string): string | null {
  if (!path.startsWith(FACTS)) return null;
  return readFileSync(join(datasetsDir(), recipe.facts, path.slice(FACTS.length)), 'utf8');
}

/** The source of an entry, and whether the entry's path is a key of the catalogue. */
interface NamedSource {
  readonly place: string;
  readonly source: string;
  readonly isHeld: boolean;
}

/**
 * Checks that a list's source is in the table of sources or, with its path, in the catalogue.
 * Points and boundaries may have any source that is not in the catalogue.
 * @throws Error naming each entry with an unknown source, since rates would have no publisher.
 */
function checkSources(file: string, recipe: Recipe, rates: RatesRecipe): void {
  const text = factText(recipe, rates.sources);
  if (text === null) return;
  const tabled = readSources(text).map(({ name }) => name);
  const entries = (
    of: string,
    lists: Readonly<Record<string, readonly { readonly source?: string }[] | undefined>>,
  ): readonly NamedSource[] =>
    Object.entries(lists).flatMap(([name, list = []]) =>
      list.flatMap((entry, at) => {
        const { source = null, path, file: own } = entry as Partial<Record<string, string>>;
        const isHeld = !isResolved({ path: path ?? own ?? '' });
        return source === null
          ? []
          : [{ place: `recipe ${of}: ${name}[${at}].source`, source, isHeld }];
      }),
    );
  const { boundaries, points, ranges, sst } = recipe;
  const { lists, estimates, stated } = rates;
  const named = [
    ...entries(file, { boundaries, points, ranges, sst }).filter(({ isHeld }) => isHeld),
    ...entries(recipe.rates, { lists, estimates, stated }),
  ].filter(({ source }) => !tabled.includes(source));
  if (named.length === 0) return;
  const held = [...tabled, ...readCatalogue().map(({ name }) => name)];
  const faults = named.flatMap(({ place, source, isHeld }) => {
    const known = isHeld ? held : tabled;
    return known.includes(source) ? [] : [`${place}: ${unknownName('source', source, known)}`];
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/**
 * Checks the states of entries against the recipe's facts, unless the table of states is a
 * publishers' file, which may not be fetched yet.
 * @throws Error naming each entry and cap with an unknown state, which would have no effect.
 */
function checkStates(file: string, recipe: Recipe, rates: RatesRecipe): void {
  const text = factText(recipe, rates.states);
  if (text === null) return;
  const states = readStates(text);
  const known = states.map(({ code }) => code);
  const capped = states.filter(({ country }) => country !== 'CAN').map(({ code }) => code);
  const told =
    (of: string, names: readonly string[]) =>
    ([place, name]: readonly [place: string, state: string]): readonly string[] =>
      names.includes(name) ? [] : [`recipe ${of}: ${place}: ${unknownName('state', name, names)}`];
  const counted = (recipe.zips.counted ?? []).map((name) => ['zips.counted', name] as const);
  const caps = Object.keys(rates.caps).map((name) => ['caps', name] as const);
  const drawn = recipe.boundaries.flatMap(({ states: codes = [] }, at) =>
    codes.map((fips) => [`boundaries[${at}].states`, fips] as const),
  );
  const fips = ['{fips}', ...states.map((state) => state.fips)];
  const faults = [
    ...drawn.flatMap(told(file, fips)),
    ...[...counted, ...ofStates(recipe, 'points', 'ranges', 'sst')].flatMap(told(file, known)),
    ...ofStates(rates, 'lists', 'estimates', 'stated').flatMap(told(recipe.rates, known)),
    ...caps.flatMap(told(recipe.rates, capped)),
  ];
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Whether a recipe's name is the path of a file. */
export function isRecipeFile(name: string): boolean {
  return name.endsWith('.json');
}

/**
 * Reads a recipe, by name or by the path of its file, with its rates section, which lies beside it
 * or in the program's folder. Checks both against the readers. Keys of the catalogue are replaced
 * by files in the folder of sources.
 */
export function readRecipe(name: string, sources: string | null = null): HeldRecipe {
  const path = isRecipeFile(name) ? resolve(name) : null;
  if (path === null && !/^[a-z0-9-]+$/.test(name)) {
    throw new Error(`"${name}" is no recipe's name`);
  }
  const folder = path === null ? join(datasetsDir(), 'recipes') : dirname(path);
  const file = path === null ? `${name}.json` : basename(path);
  const recipe = readJson(file, folder, recipeFaults) as Recipe;
  const rates = readJson(recipe.rates, folder, ratesFaults) as RatesRecipe;
  checkKeys(file, recipe, rates);
  checkStates(file, recipe, rates);
  checkSources(file, recipe, rates);
  return withHeld({ recipe, rates }, heldFiles(sources));
}
