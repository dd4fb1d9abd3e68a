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

/** What the paths of fact tables begin with. */
const FACTS = 'facts/';

/** Boundaries of one layer. `path` may hold {fips}, for one file per state. */
export interface BoundarySource extends BoundaryFile {
  readonly layer: 'county' | 'province' | 'place' | 'town' | 'district';
  /** Name in sources.tsv. */
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
  /** States of which the address points are complete, so that they weigh ZIPs. */
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
  /** Below the facts folder when it begins with "facts/", else below the sources folder. */
  readonly path: string;
  /** Name in sources.tsv; fact tables name their sources per row. */
  readonly source?: string;
  readonly state?: string;
  readonly options?: ListOptions;
  /** Further files of the list by the name its reader asks for. */
  readonly files?: Readonly<Record<string, string>>;
  /** Older publications of the same list, each with the day it was published for, YYYY-MM-DD. */
  readonly earlier?: readonly (Pick<RateList, 'path' | 'files'> & { readonly asOf: string })[];
}

/** The rates section. Lists stand in order of precedence: where two overlap the later holds. */
export interface RatesRecipe {
  readonly states: string;
  readonly counties: string;
  /** Folder of place facts by state; read unless the build hands over places of its own. */
  readonly places: string;
  readonly tiers: string;
  readonly aliases: string;
  readonly districtNames: string;
  readonly sources: string;
  readonly completeness: string;
  /** Rules of states that coverage names as not applied: state, note, source. */
  readonly notSupported: string;
  readonly members: readonly string[];
  readonly lists: readonly RateList[];
  /** The estimated layer: read only when it is switched on. */
  readonly estimates: readonly RateList[];
  /** Rate files beside boundary files, of states whose `lists` have other codes. */
  readonly stated?: readonly RateList[];
  /** Land outside cities whose rate cannot be told. */
  readonly divided?: string;
  /** Highest sum of local parts by state, in percent. */
  readonly caps: Readonly<Record<string, string>>;
}

/** Whether a list has a file: one that names a source of the catalogue has none yet. */
export function isResolved({ path }: Pick<RateList, 'path'>): boolean {
  return !path.startsWith('catalogue:');
}

/** Every file that the lists of a recipe are read from. */
export function listFiles(recipe: RatesRecipe, estimated: boolean): readonly string[] {
  return [
    ...[...recipe.lists, ...(recipe.stated ?? [])].filter(isResolved),
    ...(estimated ? recipe.estimates : []),
  ]
    .flatMap((list) => [list, ...(list.earlier ?? [])])
    .flatMap(({ path, files = {} }) => [path, ...Object.values(files)]);
}

/**
 * Reads a file of the recipes folder; a member that is null counts as absent.
 * @throws Error that names the file and, for each fault in it, the place and what was meant.
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

/** Lists of entries that may each be of a state, by their names. */
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

/** Text of a fact table; null of a file among the publishers', which may not be fetched yet. */
function factText(recipe: Recipe, path: string): string | null {
  if (!path.startsWith(FACTS)) return null;
  return readFileSync(join(datasetsDir(), recipe.facts, path.slice(FACTS.length)), 'utf8');
}

/** An entry's source, and whether the entry's path names one of the catalogue. */
interface NamedSource {
  readonly place: string;
  readonly source: string;
  readonly isHeld: boolean;
}

/**
 * A list's source has a row in the table of sources, or is of the catalogue, as its path is; what
 * points and boundaries call theirs is their recipe's to say, but where it is of the catalogue.
 * @throws Error naming each entry of a source that there is not: rates would have no publisher.
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
 * States are told by the facts of the recipe; a list of them among the publishers' files may not
 * have been fetched yet.
 * @throws Error naming each entry and cap that is of no state: its addresses would be found
 *   nowhere, and nobody's taxes be held to it.
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

/** Whether a recipe is named by its file, which may lie anywhere. */
export function isRecipeFile(name: string): boolean {
  return name.endsWith('.json');
}

/**
 * Reads a recipe by name, or by the path of its file, with its rates section, which lies beside it
 * or among those of the program, and checks both against the readers. Sources of the catalogue that
 * it names are what the folder of sources holds of them.
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
