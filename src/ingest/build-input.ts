/**
 * Reads what a build needs before doors and ZIPs are bound: facts, boundaries, rate lists and
 * layers.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceRecord } from '../dataset/records.js';
import { DATE_MIN, type DateInt } from '../tax/date.js';
import { type Boundaries, isTown, placesOf, readBoundaries } from './boundary/overlay.js';
import { documentsOf, loadCounties, loadStates, type StateFact } from './state-facts.js';
import { lay, type Layered, withCities } from './layer/lay.js';
import { type Layer, layerCities, readLayers } from './layer/layer-files.js';
import type { PlaceFact } from './model.js';
import { type CountyFact, readPlaces, readTiers } from './rates/facts.js';
import { type LoadedRates, loadRates } from './rates/load.js';
import type { FileSums } from './file-sums.js';
import { inputHash } from './inputs.js';
import { listFiles, type RatesRecipe, readRecipe, type Recipe } from './recipe.js';
import { datasetsDir, SourceFiles } from './source-files.js';
import { zipCounties } from './zip/bind.js';
import type { BuildOptions } from './build.js';

/** Reads a state's place facts. @throws Error naming file and line of a row that is no place. */
function placeFacts(
  files: SourceFiles,
  folder: string,
  states: readonly StateFact[],
): readonly PlaceFact[] {
  const tiers = readTiers(files.text('facts/independent_cities.tsv'));
  return states.flatMap(({ code }) => {
    const path = `${folder}/${code}.tsv`;
    // A state without place facts of its own has no file.
    return existsSync(files.resolve(path)) ? readPlaces(files.text(path), code, tiers, path) : [];
  });
}

/** The newest date of these sources. */
export function newestDate(sources: readonly SourceRecord[]): DateInt {
  let newest = DATE_MIN;
  for (const { asOf } of sources) if (asOf > newest && asOf < 99_990_000) newest = asOf;
  return newest;
}

/** Most contradictions of a list that are reported one by one; of the others, the number is. */
const TOLD_MAX = 20;

function reportRates(rates: LoadedRates, report: (line: string) => void): void {
  for (const line of rates.heldLines) report(line);
  for (const { list, read, joined, unmatched, unplaced, contradictions } of rates.reports) {
    for (const told of contradictions.slice(0, TOLD_MAX)) report(`${list} contradicts: ${told}`);
    const more = contradictions.length - TOLD_MAX;
    if (more > 0) report(`${list} contradicts ${more} times more`);
    if (unmatched.length === 0 && unplaced.length === 0) continue;
    report(
      `${list}: ${joined} of ${read} rows joined; without a jurisdiction: ` +
        `${unmatched.length}; cities without boundary: ${unplaced.length}`,
    );
  }
}

/**
 * @throws Error where the recipe lacks a layer that is asked for, since it would have no effect.
 */
function checkHeld(layers: readonly string[], recipe: Recipe, rates: RatesRecipe): void {
  if (!layers.includes('estimated') || rates.estimates.length > 0) return;
  throw new Error(`the recipe ${recipe.name} has no layer "estimated"`);
}

/** Everything that is read before doors and ZIPs are bound. */
export interface Input {
  readonly recipe: Recipe;
  readonly files: SourceFiles;
  readonly states: readonly StateFact[];
  readonly counties: readonly CountyFact[];
  readonly boundaries: Boundaries;
  readonly places: readonly PlaceFact[];
  readonly rates: LoadedRates;
  readonly layers: readonly Layer[];
  readonly layered: Omit<Layered, 'boundaries'>;
  /** The newest date of any source. */
  readonly asOf: DateInt;
  /** Hash of everything that the release is made of. */
  readonly hash: () => string;
}

/** Reads all of it; remarks on lists go to `options.report`. */
export async function readInput(options: BuildOptions, sums: FileSums): Promise<Input> {
  const {
    recipe,
    rates: ratesRecipe,
    lists: held = [],
  } = typeof options.recipe === 'string'
    ? readRecipe(options.recipe, options.sources)
    : options.recipe;
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
    factsDir,
    sourcesDir: options.sources ?? '',
    estimated,
    packed: (path) => files.text(path),
    ...(boundaries.places.length > 0 ? { places, towns: undrawn } : {}),
    layers,
    held,
  });
  reportRates(rates, options.report);
  const { boundaries: drawn, ...layered } = await lay(layers, {
    boundaries,
    documents: documentsOf(recipe, files),
    rates,
    zipCounties: () => zipCounties(recipe, files, states),
  });
  return {
    recipe,
    files,
    states,
    counties: loadCounties(factsDir),
    boundaries: drawn,
    places,
    rates,
    layers,
    layered: { ...layered, lines: [...lines, ...layered.lines] },
    asOf: newestDate(rates.input.sources),
    hash,
  };
}
