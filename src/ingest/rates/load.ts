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

/** Where a build finds its files and what it already knows. */
interface RateLoad {
  readonly factsDir: string;
  /** Publishers' files; not needed by a recipe that reads facts alone. */
  readonly sourcesDir: string;
  readonly estimated: boolean;
  /** Places of the build's own boundaries; place facts are read without. */
  readonly places?: readonly PlaceFact[];
  /** Towns that the build has no boundary of. */
  readonly towns?: readonly PlaceFact[];
  /** Counties of the build's own; county facts are read without. */
  readonly counties?: readonly CountyFact[];
  /** Texts of lists that are workbooks or lie in zip archives, by their paths. */
  readonly packed?: (path: string) => string;
  /** Layers of the operator, over all lists. */
  readonly layers?: readonly Layer[];
  /** Which of the lists were fetched, by the names of their sources. */
  readonly held?: readonly HeldList[];
}

/** A book with what its lists became. */
export interface LoadedRates {
  readonly book: RateBook;
  readonly input: RateBookInput;
  readonly reports: readonly ListReport[];
  readonly gazetteer: Gazetteer;
  /** What the codes of lists stand for, by state and code. */
  readonly codes: ReadonlyMap<string, Land>;
  readonly notSupported: readonly NotSupported[];
  /** Members worked out from the lists, without those of fact tables. */
  readonly derivedMembers: readonly DistrictMember[];
  /** What layers placed and replaced. */
  readonly layered: Pick<LayeredRates, 'districts' | 'lines'>;
  /** Sentences on lists that were fetched. */
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

/** Facts on states and what lies in them, of the build where it has its own. */
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

/** Every list of a recipe as read. */
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

/** Newest reports of lists by their sources: what joined to nothing is told of there. */
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

/** Takes what layers draw from the listed cities that no boundary is held for. */
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

/** What local taxes of a state may come to together, at most. */
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
