/** The rates section of a recipe: which lists are read, by which reader, in which order. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { SourceRecord } from '../../dataset/records.js';
import { type LayeredRates, withLayers } from '../layer/rates.js';
import type { Layer } from '../layer/layer-files.js';
import type { PlaceFact, RateBook } from '../model.js';
import { isPacked, textOf } from '../source/container.js';
import { readMemberFacts } from '../source/rates/own-tables.js';
import { createRateBook, type RateBookInput } from './book.js';
import {
  type CountyFact,
  type DistrictMember,
  type NotSupported,
  readAliases,
  readCounties,
  readDistrictNames,
  readDividedLand,
  readMarks,
  readNotSupported,
  readPlaces,
  readSources,
  readStates,
  readTiers,
  shownNames,
  sourceIndex,
} from './facts.js';
import { createGazetteer, type Gazetteer, plainName } from './gazetteer.js';
import { type HeldList, settleHeld, withSources } from './held.js';
import { DATE_OPEN, type Land, type ListReport, percentOf } from './list.js';
import { isStated, landOfCodes, type StatedList } from './stated-rates.js';
import { isResolved, type RateList, type RatesRecipe } from '../recipe.js';
import { type Loading, readList, type ReadList } from './read-list.js';

/** The files of a build, and what it already knows. */
interface RateLoad {
  readonly factsDir: string;
  /** Folder of publishers' files; not needed for a recipe that only reads facts. */
  readonly sourcesDir: string;
  readonly estimated: boolean;
  /** Places of the build's boundaries; if absent, place facts are read. */
  readonly places?: readonly PlaceFact[];
  /** Towns without a boundary in the build. */
  readonly towns?: readonly PlaceFact[];
  /** Counties of the build; if absent, county facts are read. */
  readonly counties?: readonly CountyFact[];
  /** Texts of lists that are workbooks or in zip archives, by path. */
  readonly packed?: (path: string) => string;
  /** The operator's layers, which are applied to all lists. */
  readonly layers?: readonly Layer[];
  /** The lists that were fetched; their names are those of their sources. */
  readonly held?: readonly HeldList[];
}

/** A book, with what became of its lists. */
export interface LoadedRates {
  readonly book: RateBook;
  readonly input: RateBookInput;
  readonly reports: readonly ListReport[];
  readonly gazetteer: Gazetteer;
  /** Land that the codes of lists stand for, by state and code. */
  readonly codes: ReadonlyMap<string, Land>;
  readonly notSupported: readonly NotSupported[];
  /** Members that were derived from the lists, without those of fact tables. */
  readonly derivedMembers: readonly DistrictMember[];
  /** What layers placed and replaced. */
  readonly layered: Pick<LayeredRates, 'districts' | 'lines'>;
  /** Sentences about lists that were fetched. */
  readonly heldLines: readonly string[];
}

class Files {
  constructor(readonly load: RateLoad) {}

  text(path: string): string {
    if (isPacked(path) && this.load.packed) return this.load.packed(path);
    const bytes = readFileSync(this.#fileOf(path));
    return textOf(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  }

  has(path: string): boolean {
    return existsSync(this.#fileOf(path));
  }

  #fileOf(path: string): string {
    return path.startsWith('facts/')
      ? join(this.load.factsDir, path.slice('facts/'.length))
      : join(this.load.sourcesDir, path);
  }
}

function placesOf(
  recipe: RatesRecipe,
  files: Files,
  input: Pick<RateBookInput, 'states' | 'tiers'>,
): readonly PlaceFact[] {
  const { places } = files.load;
  if (places) return places;
  return input.states.flatMap((state) => {
    const path = `${recipe.places}/${state.code}.tsv`;
    return files.has(path) ? readPlaces(files.text(path), state.code, input.tiers, path) : [];
  });
}

/** Facts about states and what lies in them, from the build where it has its own. */
type StateFacts = Pick<RateBookInput, 'states' | 'tiers' | 'counties' | 'places'> & {
  readonly towns: readonly PlaceFact[];
};

function stateFacts(recipe: RatesRecipe, files: Files): StateFacts {
  const states = readStates(files.text(recipe.states));
  const tiers = readTiers(files.text(recipe.tiers));
  const counties = files.load.counties ?? readCounties(files.text(recipe.counties));
  const places = placesOf(recipe, files, { states, tiers });
  return { states, tiers, counties, places, towns: files.load.towns ?? [] };
}

/** All lists of a recipe after reading. */
interface ReadLists {
  readonly lists: readonly ListOf[];
  readonly estimates: readonly ReadList[];
  readonly stated: readonly ListOf[];
}

type ListOf = ReadList & { readonly of: RateList };

function readLists(recipe: RatesRecipe, loading: Loading, estimated: boolean): ReadLists {
  const ofThose = (those: readonly RateList[]): readonly ListOf[] =>
    those.filter(isResolved).map((list) => ({ ...readList(list, loading), of: list }));
  const lists = ofThose(recipe.lists);
  const estimates = estimated ? recipe.estimates.map((list) => readList(list, loading)) : [];
  return { lists, estimates, stated: ofThose(recipe.stated ?? []) };
}

/** The newest report of each list by its source, to find unmatched names. */
function reportsBySource(
  recipe: RatesRecipe,
  lists: readonly ReadList[],
): ReadonlyMap<string, ListReport> {
  return new Map(
    recipe.lists
      .filter(isResolved)
      .flatMap(({ source = '' }, at) =>
        lists[at]!.reports.slice(-1).map((report) => [source, report] as const),
      ),
  );
}

/** The rate files beside boundary files. */
function statedLists(
  stated: readonly ListOf[],
  sources: readonly SourceRecord[],
  held: readonly HeldList[],
): readonly StatedList[] {
  return stated.map(
    ({ rows, of: { state = '', source = '' } }): StatedList => ({
      state,
      source: sourceIndex(sources)(source),
      until: held.find(({ name }) => name === source)?.until ?? DATE_OPEN,
      rows: rows.filter(isStated),
    }),
  );
}

/** Removes from the listed cities without a boundary those that a layer draws. */
function placeUnplaced(reports: readonly ListReport[], layers: readonly Layer[]): void {
  const drawn = new Set(
    layers
      .flatMap(({ rates }) => rates)
      .filter(({ level, boundary }) => level === 'city' && boundary !== '')
      .map(({ state, name }) => `${state}/${plainName(name)}`),
  );
  if (drawn.size === 0) return;
  for (const { unplaced } of reports) {
    const left = unplaced.filter(({ state, name }) => !drawn.has(`${state}/${plainName(name)}`));
    unplaced.splice(0, unplaced.length, ...left);
  }
}

/** The highest sum of local taxes in each state. */
function capsOf({ caps }: RatesRecipe): RateBookInput['caps'] {
  return Object.entries(caps).map(([state, cap]) => ({ state, cap: percentOf(cap, state) }));
}

/** Reads every list of the recipe and builds the book. */
export function loadRates(recipe: RatesRecipe, load: RateLoad): LoadedRates {
  const files = new Files(load);
  const facts = stateFacts(recipe, files);
  const { states, tiers, counties, places, towns } = facts;
  const names = readDistrictNames(files.text(recipe.districtNames));
  const named = readSources(files.text(recipe.sources));
  const { held = [] } = load;
  const sources = withSources(named, held);
  const aliases = readAliases(files.text(recipe.aliases));
  const gazetteer = createGazetteer(states, counties, places, aliases, towns);
  const loading: Loading = { files, gazetteer, sources, names };
  const { lists, estimates, stated } = readLists(recipe, loading, load.estimated);
  const reports = [...lists, ...stated, ...estimates].flatMap((list) => list.reports);
  placeUnplaced(reports, load.layers ?? []);
  const derivedMembers = lists.flatMap((list) => list.members);
  const settled = settleHeld(
    lists.flatMap((list) => list.rows),
    readMarks(files.text(recipe.completeness), sourceIndex(sources)),
    held,
    named.length,
    reportsBySource(recipe, lists),
  );
  const listed = recipe.members.flatMap((path) => readMemberFacts(files.text(path)));
  const { districts, lines, ...layered } = withLayers(
    {
      gazetteer,
      sources,
      tiers,
      rows: settled.rows,
      marks: settled.marks,
      members: [...derivedMembers, ...listed],
      districtNames: shownNames(names),
    },
    load.layers ?? [],
  );
  const input: RateBookInput = {
    ...layered,
    ...facts,
    estimates: estimates.flatMap((list) => list.rows),
    estimable: recipe.estimates.length > 0,
    stated: statedLists(stated, sources, held),
    divided: recipe.divided === undefined ? [] : readDividedLand(files.text(recipe.divided)),
    caps: capsOf(recipe),
  };
  return {
    notSupported: readNotSupported(files.text(recipe.notSupported)),
    book: createRateBook(input),
    input,
    reports,
    gazetteer,
    derivedMembers,
    layered: { districts, lines },
    heldLines: settled.lines,
    codes: landOfCodes(
      [...lists, ...stated].map(({ codes, of: { state = '' } }) => ({ state, codes })),
    ),
  };
}
