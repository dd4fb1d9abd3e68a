/** The rates section of a recipe: which lists are read, by which reader, in which order. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { DateInt } from '../../tax/date.js';
import type { SourceRecord } from '../../dataset/records.js';
import { placeUnplaced } from '../layer/lay.js';
import { type LayeredRates, withLayers } from '../layer/rates.js';
import type { Layer } from '../layer/layer-files.js';
import type { PlaceFact, RateBook, RateRow } from '../model.js';
import { READERS } from '../readers.js';
import { isPacked, textOf } from '../source/container.js';
import { headerAt, splitRows } from '../source/rows.js';
import { readMemberFacts } from '../source/rates/own-tables.js';
import { createRateBook, type RateBookInput } from './book.js';
import {
  type CountyFact, type DistrictMember, type DistrictName, type NotSupported, readAliases,
  readCounties, readDistrictNames, readMarks, readNotSupported, readPlaces, readSources, readStates,
  readTiers,
} from './facts.js';
import { createGazetteer, type Gazetteer } from './gazetteer.js';
import { type HeldList, settleHeld, withSources } from './held.js';
import {
  checkFigures, DATE_OPEN, type Land, type ListOptions, ListReport, type ListResult, listDate,
  percentOf,
} from './list.js';
import { isStated, landOfCodes, type StatedList } from './stated-rates.js';
import { joinVintages, type Vintage } from './timeline.js';

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
  /** Highest sum of local parts by state, in percent. */
  readonly caps: Readonly<Record<string, string>>;
}

/** Where a build finds its files and what it already knows. */
export interface RateLoad {
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

interface Loading {
  readonly files: Files;
  readonly gazetteer: Gazetteer;
  readonly sources: readonly SourceRecord[];
  readonly names: readonly DistrictName[];
}

interface ReadList {
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
  /** Of each of its publications, the newest last. */
  readonly reports: readonly ListReport[];
  readonly codes: ReadonlyMap<string, Land>;
}

function sourceIndex(sources: readonly SourceRecord[]): (name: string) => number {
  const byName = new Map(sources.map((source) => [source.name, source.id]));
  return (name) => {
    const id = byName.get(name);
    if (id === undefined) throw new RangeError(`no source named "${name}" in the table of sources`);
    return id;
  };
}

/** The source of a list whose rows name their own. */
const NO_SOURCE = -1;

/** Text in which a header is looked for; titles and notes may stand above it. */
const HEADER_CHARS_MAX = 65_536;

/** @throws Error where a list lacks a column: its publisher laid it out anew. */
function checkHeader(text: string, columns: string | undefined, path: string): void {
  if (columns === undefined) return;
  const top = text.slice(0, HEADER_CHARS_MAX);
  const rows = splitRows(top, top.slice(0, top.indexOf('\n')).includes('\t') ? '\t' : ',');
  const wanted = columns.split('|');
  if (headerAt(rows, wanted) >= 0) return;
  const found = new Set((rows[0] ?? []).map((cell) => cell.trim().toLowerCase()));
  const missing = wanted.filter((name) => !found.has(name.toLowerCase()));
  throw new Error(`${path}: its layout is another: it has no column ${missing.join(', ')}, but: `
    + `${(rows[0] ?? []).join(', ').slice(0, 200) || 'no header'}`);
}

/** Names the list in what its reader throws. */
function readIn<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads one publication of a list; it speaks for the day of its source unless another is told. */
function readVintage(
  list: RateList, loading: Loading, published?: DateInt,
): Vintage & Pick<ListResult, 'codes'> & { readonly report: ListReport } {
  const { files, gazetteer, sources, names } = loading;
  const report = new ListReport(`${list.reader} ${list.path}${list.state ? `#${list.state}` : ''}`);
  const sourceOf = sourceIndex(sources);
  const reader = READERS.lists.get(list.reader);
  if (!reader) throw new RangeError(`no reader named "${list.reader}" for ${list.path}`);
  const source = list.source === undefined ? NO_SOURCE : sourceOf(list.source);
  const state = list.state ?? '';
  const asOf = published ?? sources[source]?.asOf ?? DATE_OPEN;
  const text = files.text(list.path);
  checkHeader(text, reader.columns, list.path);
  const result = readIn(list.path, () => reader.read(text, {
    state, gazetteer, source, sourceOf, report, asOf,
    options: list.options ?? {},
    extra: (option) => files.text(list.files?.[option] ?? ''),
    districtCode: (listed) => names.find((name) =>
      name.state === state && name.listed === listed)?.code ?? null,
  }));
  readIn(list.path, () => checkFigures(result.rows));
  return { ...result, report, list: report.list, asOf };
}

/** Reads a list with its older publications, and notes where they or its rows contradict. */
function readList({ earlier = [], ...list }: RateList, loading: Loading): ReadList {
  const newest = readVintage(list, loading);
  const older = earlier.map(({ asOf, ...file }) => {
    const day = readIn(file.path, () => listDate(asOf, DATE_OPEN));
    return readVintage({ ...list, ...file }, loading, day);
  });
  const { rows, members, contradictions } = joinVintages([...older, newest]);
  newest.report.contradictions.push(...contradictions);
  return {
    rows, members, reports: [...older, newest].map(({ report }) => report),
    codes: newest.codes ?? new Map(),
  };
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

/** Whether a list has a file: one that names a source of the catalogue has none yet. */
export function isResolved({ path }: Pick<RateList, 'path'>): boolean {
  return !path.startsWith('catalogue:');
}

/** Every file that the lists of a recipe are read from. */
export function listFiles(recipe: RatesRecipe, estimated: boolean): readonly string[] {
  return [...[...recipe.lists, ...recipe.stated ?? []].filter(isResolved),
    ...(estimated ? recipe.estimates : [])]
    .flatMap((list) => [list, ...list.earlier ?? []])
    .flatMap(({ path, files = {} }) => [path, ...Object.values(files)]);
}

/** Reads every list of the recipe and builds the book. */
export function loadRates(recipe: RatesRecipe, load: RateLoad): LoadedRates {
  const files = new Files(load);
  const states = readStates(files.text(recipe.states));
  const tiers = readTiers(files.text(recipe.tiers));
  const counties = load.counties ?? readCounties(files.text(recipe.counties));
  const places = placesOf(recipe, files, { states, tiers });
  const names = readDistrictNames(files.text(recipe.districtNames));
  const named = readSources(files.text(recipe.sources));
  const { held = [], towns = [] } = load;
  const sources = withSources(named, held);
  const aliases = readAliases(files.text(recipe.aliases));
  const gazetteer = createGazetteer(states, counties, places, aliases, towns);
  const loading: Loading = { files, gazetteer, sources, names };
  const lists = recipe.lists.filter(isResolved)
    .map((list) => ({ ...readList(list, loading), of: list }));
  const estimates = load.estimated ? recipe.estimates.map((list) => readList(list, loading)) : [];
  const stated = (recipe.stated ?? []).filter(isResolved).map((list) =>
    ({ ...readList(list, loading), of: list }));
  const reports = [...lists, ...stated, ...estimates].flatMap((list) => list.reports);
  placeUnplaced(reports, load.layers ?? []);
  const derivedMembers = lists.flatMap((list) => list.members);
  const strangers = new Map(recipe.lists.filter(isResolved).flatMap(({ source = '' }, at) =>
    lists[at]!.reports.slice(-1).map((report) => [source, report] as const)));
  const settled = settleHeld(lists.flatMap((list) => list.rows),
    readMarks(files.text(recipe.completeness), sourceIndex(sources)), held, named.length,
    strangers);
  const { districts, lines, ...layered } = withLayers({
    gazetteer, sources, tiers,
    rows: settled.rows,
    members: [
      ...derivedMembers, ...recipe.members.flatMap((path) => readMemberFacts(files.text(path))),
    ],
    districtNames: new Map(names.filter((name) => name.name !== '')
      .map((name) => [`${name.state}/${name.code}`, name.name])),
    marks: settled.marks,
  }, load.layers ?? []);
  const input: RateBookInput = {
    ...layered, states, tiers, counties, places, towns,
    estimates: estimates.flatMap((list) => list.rows),
    estimable: recipe.estimates.length > 0,
    stated: stated.map(({ rows, of: { state = '', source = '' } }): StatedList => ({
      state, source: sourceIndex(sources)(source),
      until: held.find(({ name }) => name === source)?.until ?? DATE_OPEN,
      rows: rows.filter(isStated),
    })),
    caps: Object.entries(recipe.caps)
      .map(([state, cap]) => ({ state, cap: percentOf(cap, state) })),
  };
  const notSupported = readNotSupported(files.text(recipe.notSupported));
  return {
    book: createRateBook(input), input, reports, gazetteer, notSupported, derivedMembers,
    layered: { districts, lines }, heldLines: settled.lines,
    codes: landOfCodes([...lists, ...stated]
      .map(({ codes, of: { state = '' } }) => ({ state, codes }))),
  };
}
