/**
 * Builds a release from a recipe: boundaries are overlaid, doors and ZIPs are bound to the tax
 * areas, the rate book says what each area levies, and the writer makes it a folder.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceRecord, StateRecord } from '../dataset/records.js';
import { listReleases } from '../dataset/release.js';
import { DATE_MIN, DATE_OPEN, type DateInt, formatDate } from '../tax/date.js';
import { AreaRegistry } from './area-registry.js';
import {
  type Boundaries, doubtsOf, isTown, NO_DOUBTS, type Overlay, overlay, placesOf, readBoundaries,
} from './boundary/overlay.js';
import { heldCoverage } from './coverage.js';
import {
  documentsOf, loadCounties, loadStateRecords, loadStates, loadZipFacts, postalPrefixes,
  type StateFact,
} from './state-facts.js';
import { boundaryFindings } from './findings/finding.js';
import { lay, type Layered, withCities } from './layer/lay.js';
import {
  type Layer, layerCities, layerLabel, layerVersion, readLayers,
} from './layer/layer-files.js';
import type { OwnDistricts } from './layer/districts.js';
import type { PlaceFact, Progress } from './model.js';
import type { HeldRecipe } from './held-recipe.js';
import { readPlaces, readTiers } from './rates/facts.js';
import { listFiles, type LoadedRates, loadRates, type RatesRecipe } from './rates/load.js';
import { meanwhile } from './progress.js';
import { FileSums } from './file-sums.js';
import { inputHash } from './inputs.js';
import { PartCache, partsDir } from './part-cache.js';
import { readRecipe, type Recipe } from './recipe.js';
import { datasetsDir, SourceFiles } from './source-files.js';
import { eachFile } from './street/address-work.js';
import { buildAddresses } from './street/addresses.js';
import { districtCounties } from './boundary/place-counties.js';
import { statedPlaces } from './street/named-areas.js';
import { makeTemporary, scratchDir, writeRelease } from './release-writer.js';
import { bindZips, mergeParts, readZipLists, zipCounties } from './zip/bind.js';
import { zipGround } from './zip/reach.js';
import type { ZipLists } from './zip/zip-facts.js';

/** Layers that are switched on with --with. */
export const OPTIONAL_LAYERS = ['estimated'] as const;

export interface BuildOptions {
  readonly varDir: string;
  /** Name of a recipe in datasets/recipes, or one that was put together otherwise. */
  readonly recipe: string | (Pick<HeldRecipe, 'recipe' | 'rates'> & Partial<HeldRecipe>);
  /** Folder of publishers' files, null for recipes that need none. */
  readonly sources: string | null;
  /** Names of OPTIONAL_LAYERS. */
  readonly layers: readonly string[];
  /** Tables of the operator's own layers, beside those of datasets/layers. */
  readonly own?: readonly string[];
  /** Keeps what was read and sorted, for a next build that does likewise; see PartCache. */
  readonly keepParts?: boolean;
  /** Threads that read and sort addresses; as many as there are processors unless told. */
  readonly workers?: number;
  readonly progress: Progress;
  /** Takes lines about what was left out and why. */
  readonly report: (line: string) => void;
}

/** @throws Error naming file and line of a row that is no place's. */
function placeFacts(
  files: SourceFiles, folder: string, states: readonly StateFact[],
): readonly PlaceFact[] {
  const tiers = readTiers(files.text('facts/independent_cities.tsv'));
  return states.flatMap(({ code }) => {
    const path = `${folder}/${code}.tsv`;
    // A state without places of its own has no file.
    return existsSync(files.resolve(path)) ? readPlaces(files.text(path), code, tiers, path) : [];
  });
}

function newestDate(sources: readonly SourceRecord[]): DateInt {
  let newest = DATE_MIN;
  for (const { asOf } of sources) if (asOf > newest && asOf < 99_990_000) newest = asOf;
  return newest;
}

function layersOf(boundaries: Boundaries, states: readonly StateFact[], streets: number): string[] {
  const codes = new Map(states.map((state) => [state.fips, state.code]));
  const named = (layer: string, fips: ReadonlySet<string>): string[] =>
    [...fips].map((state) => `${layer}:${codes.get(state) ?? state}`);
  return [
    ...named('places', boundaries.placesLoaded), ...named('towns', boundaries.townsLoaded),
    ...(boundaries.provinces.length > 0 ? ['provinces'] : []),
    ...(streets > 0 ? ['streets'] : []),
  ].sort();
}

/** Contradictions of a list that are told one by one; of others the number. */
const TOLD_MAX = 20;

function reportRates(rates: LoadedRates, report: (line: string) => void): void {
  for (const { list, read, joined, unmatched, unplaced, contradictions } of rates.reports) {
    for (const told of contradictions.slice(0, TOLD_MAX)) report(`${list} contradicts: ${told}`);
    const more = contradictions.length - TOLD_MAX;
    if (more > 0) report(`${list} contradicts ${more} times more`);
    if (unmatched.length === 0 && unplaced.length === 0) continue;
    report(`${list}: ${joined} of ${read} rows joined; without a jurisdiction: ` +
      `${unmatched.length}; cities without boundary: ${unplaced.length}`);
  }
}

/** @throws Error for a layer that there is not. */
function checkLayers(layers: readonly string[]): void {
  const unknown = layers.find((layer) => !(OPTIONAL_LAYERS as readonly string[]).includes(layer));
  if (unknown === undefined) return;
  throw new Error(`no layer "${unknown}"; there is: ${OPTIONAL_LAYERS.join(', ')}`);
}

/** @throws Error where the recipe lacks a layer that is asked for: it would change nothing. */
function checkHeld(layers: readonly string[], recipe: Recipe, rates: RatesRecipe): void {
  if (!layers.includes('estimated') || rates.estimates.length > 0) return;
  throw new Error(`the recipe ${recipe.name} has no layer "estimated"`);
}

/** Everything that is read before doors and ZIPs are bound. */
interface Input {
  readonly recipe: Recipe;
  readonly files: SourceFiles;
  readonly states: readonly StateFact[];
  readonly counties: ReturnType<typeof loadCounties>;
  readonly boundaries: Boundaries;
  readonly places: readonly PlaceFact[];
  readonly rates: LoadedRates;
  readonly layers: readonly Layer[];
  readonly layered: Omit<Layered, 'boundaries'>;
  /** The newest day that a source is as of. */
  readonly asOf: DateInt;
  /** Hash of all that the release is made of. */
  readonly hash: () => string;
}

async function readInput(options: BuildOptions, sums: FileSums): Promise<Input> {
  const { recipe, rates: ratesRecipe, lists: held = [] } = typeof options.recipe === 'string'
    ? readRecipe(options.recipe, options.sources) : options.recipe;
  const hash = (): string =>
    inputHash({ recipe, rates: ratesRecipe, lists: held }, files, options.layers);
  checkHeld(options.layers, recipe, ratesRecipe);
  const files = new SourceFiles(join(datasetsDir(), recipe.facts), options.sources, sums);
  files.noteFacts();
  const { factsDir } = files;
  const states = loadStates(factsDir);
  const codes = new Map(states.map((state) => [state.fips, state.code]));
  const layers = await readLayers(options.own ?? []);
  const read = await readBoundaries(recipe, files, options.progress);
  const cities = await layerCities(layers, new Map(states.map(({ code, fips }) => [code, fips])));
  const { boundaries, lines } = withCities(read, cities);
  const facts = placeFacts(files, ratesRecipe.places, states);
  const places = placesOf(boundaries, facts, codes);
  const undrawn = facts.filter((place) => isTown(place) && !places.includes(place));
  const estimated = options.layers.includes('estimated');
  const lists = listFiles(ratesRecipe, estimated);
  for (const path of lists.flatMap((named) => files.filesOf(named))) files.note(path);
  const { points, delivered, tabulated, cities: listed } = recipe.zips;
  await files.unpack([...lists, points, delivered, tabulated, listed]);
  const rates = loadRates(ratesRecipe, {
    factsDir, sourcesDir: options.sources ?? '', estimated, packed: (path) => files.text(path),
    ...(boundaries.places.length > 0 ? { places, towns: undrawn } : {}), layers, held,
  });
  reportRates(rates, options.report);
  const { boundaries: drawn, ...layered } = await lay(layers, {
    boundaries, documents: documentsOf(recipe, files), rates,
    zipCounties: () => zipCounties(recipe, files, states),
  });
  return {
    recipe, files, states, counties: loadCounties(factsDir), boundaries: drawn, places, rates,
    layers, layered: { ...layered, lines: [...lines, ...layered.lines] },
    asOf: newestDate(rates.input.sources), hash,
  };
}

function drawAreas(
  { recipe, files, states, boundaries, places, rates, layered }: Input, registry: AreaRegistry,
  progress: Progress,
): ReturnType<typeof overlay> {
  const whole = new Map(loadZipFacts(files.factsDir).municipal
    .filter(({ sole }) => sole).map(({ county, place }) => [county, place]));
  const doubtful = boundaries.places.length > 0
    ? doubtsOf(recipe, files, states, rates.reports.flatMap((report) => report.unplaced),
      rates.input.counties) : NO_DOUBTS;
  return overlay(
    boundaries, places, { tiers: rates.input.tiers, whole }, doubtful, registry, progress,
    layered.districts,
  );
}

function zipListsOf(
  { boundaries, places, rates, ...input }: Input, drawn: Overlay, districts: OwnDistricts,
  { intern }: AreaRegistry,
): ZipLists {
  return readZipLists({
    ...input, boundaries, overlay: drawn, districts, intern,
    // Without boundaries no door can be told to lie in a town.
    places: boundaries.places.length > 0 ? places : places.filter((place) => !isTown(place)),
    unplaced: rates.reports.flatMap((report) => report.unplaced),
  });
}

/** Builds a release and returns its folder name. A build that fails leaves nothing behind. */
export async function buildDataset(options: BuildOptions): Promise<string> {
  checkLayers(options.layers);
  const keep = options.keepParts === true;
  const sums = new FileSums(keep ? partsDir(options.varDir) : null);
  const input = await readInput(options, sums);
  const temporary = makeTemporary(options.varDir);
  try {
    const parts = new PartCache(keep ? partsDir(options.varDir) : scratchDir(temporary), keep);
    const name = await buildFrom(input, options, temporary, parts);
    if (keep) parts.settle(name, input.hash(), listReleases(options.varDir));
    sums.write();
    return name;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** A state with the last day of its boundary file, where that tells one. */
function withStatedUntil(
  state: StateRecord, file: { readonly lastDay: DateInt } | undefined,
): StateRecord {
  return file === undefined || file.lastDay === DATE_OPEN ? state
    : { ...state, statedUntil: file.lastDay };
}

async function buildFrom(
  input: Input, options: BuildOptions, temporary: string, parts: PartCache,
): Promise<string> {
  const { progress, workers } = options;
  const { recipe, files, states, counties, boundaries, places, rates, layers } = input;
  const registry = new AreaRegistry();
  const drawn = drawAreas(input, registry, progress);
  const districts = input.layered.districts.learned(registry.tuples());
  const settled = districts.settled(registry.tuples(), registry.intern);
  const lists = zipListsOf(input, drawn, districts, registry);
  const addressed = buildAddresses({
    recipe: eachFile(recipe, files), files, states, places, cells: drawn.cells,
    tuples: registry.tuples(),
    place: statedPlaces({
      rates, states, districts, registry, counties: () => zipCounties(recipe, files, states),
      locations: () => districtCounties(boundaries.districts, boundaries.counties),
    }),
    today: input.asOf, progress,
    report: options.report, own: { districts: districts.list, settled },
    scratch: scratchDir(temporary), parts,
    ...(workers === undefined ? {} : { workers }),
  });
  // While threads read and sort addresses, this one only tells them what is next.
  const [addresses, ground] = await meanwhile(addressed, zipGround(lists));
  progress('zips', 0, ground.postalZips.length);
  const zips = bindZips({ ...lists, counts: addresses.zipCounts }, ground);
  progress('zips', zips.zips.length, zips.zips.length);
  const prefixes = postalPrefixes(recipe, files, registry);
  const sources: SourceRecord[] = [...rates.book.sources];
  const stateRecords = loadStateRecords(files.factsDir, (source) => {
    sources.push({ id: sources.length, ...source });
    return sources.length - 1;
  }).map((state) => withStatedUntil(state, addresses.stated.get(state.code)));
  const { areas, components } = registry.records(rates.book, states, counties);
  const findings = boundaryFindings({
    boundaries, places, counties, input: rates.input, overlaps: drawn.cells.overlaps.overlaps(),
  });
  const name = await writeRelease(options.varDir, {
    manifest: {
      ...(findings.length === 0 ? {} : { findings }),
      recipe: [recipe.name, ...options.layers, ...layers.map((own) => layerLabel(own.name))]
        .join('+'),
      asOf: formatDate(newestDate(rates.book.sources)), sources,
      files: [...files.list(), ...layers.flatMap((own) => own.files)],
      coverage: heldCoverage(input, addresses, zips.zips),
      layers: [
        ...layersOf(boundaries, states, addresses.counts.points + addresses.counts.sides),
        ...layers.map(layerVersion),
      ],
    },
    areas, components, zips: mergeParts(zips.zips, areas), cities: zips.cities,
    documents: new Map<string, object>(
      [['states', stateRecords], ...prefixes, ...input.layered.documents]),
    tiles: drawn.cells.tiles, leaves: drawn.cells.leaves, streets: addresses.entries,
  }, progress, temporary);
  for (const line of input.layered.lines) options.report(line);
  return name;
}
