/**
 * Builds a release from a recipe: boundaries are overlaid, doors and ZIPs are bound to tax areas,
 * the rate book says what each area levies, and the writer makes a folder of it.
 */
import type { SourceRecord, StateRecord } from '../dataset/records.js';
import { listReleases } from '../dataset/release.js';
import { DATE_OPEN, type DateInt, formatDate } from '../tax/date.js';
import { AreaRegistry } from './area-registry.js';
import { type Boundaries, isTown, type Overlay, overlay } from './boundary/overlay.js';
import { dividedFeatures, doubtsOf, NO_DOUBTS } from './boundary/doubtful-land.js';
import { heldCoverage } from './coverage.js';
import { loadStateRecords, loadZipFacts, postalPrefixes, type StateFact } from './state-facts.js';
import { boundaryFindings } from './findings/finding.js';
import { layerLabel, layerVersion } from './layer/layer-files.js';
import type { OwnDistricts } from './layer/districts.js';
import type { Progress } from './model.js';
import type { HeldRecipe } from './held-recipe.js';
import { meanwhile } from './progress.js';
import { FileSums } from './file-sums.js';
import { PartCache, partsDir } from './part-cache.js';
import { eachFile } from './street/address-work.js';
import { buildAddresses } from './street/addresses.js';
import { districtCounties } from './boundary/place-counties.js';
import { statedPlaces } from './street/named-areas.js';
import { inTemporary, makeTemporary, scratchDir, writeRelease } from './release-writer.js';
import { bindZips, mergeParts, readZipLists, zipCounties } from './zip/bind.js';
import { knownZips } from './zip/reach.js';
import type { ZipLists } from './zip/zip-facts.js';
import { type Input, newestDate, readInput } from './build-input.js';

/** Layers that --with switches on. */
export const OPTIONAL_LAYERS = ['estimated'] as const;

export interface BuildOptions {
  readonly varDir: string;
  /** Name of a recipe in datasets/recipes, or a recipe as an object. */
  readonly recipe: string | (Pick<HeldRecipe, 'recipe' | 'rates'> & Partial<HeldRecipe>);
  /** Folder of publishers' files, null for recipes that need none. */
  readonly sources: string | null;
  /** Names of OPTIONAL_LAYERS. */
  readonly layers: readonly string[];
  /** Files of the operator's own layers, in addition to those in datasets/layers. */
  readonly own?: readonly string[];
  /** Whether to keep what was read and sorted for later builds (`PartCache`). */
  readonly keepParts?: boolean;
  /** Threads that read and sort addresses; if absent, one for each processor. */
  readonly workers?: number;
  readonly progress: Progress;
  /** Called with lines about what was left out, and why. */
  readonly report: (line: string) => void;
}

function layersOf(boundaries: Boundaries, states: readonly StateFact[], streets: number): string[] {
  const codes = new Map(states.map((state) => [state.fips, state.code]));
  const named = (layer: string, fips: ReadonlySet<string>): string[] =>
    [...fips].map((state) => `${layer}:${codes.get(state) ?? state}`);
  return [
    ...named('places', boundaries.placesLoaded),
    ...named('towns', boundaries.townsLoaded),
    ...(boundaries.provinces.length > 0 ? ['provinces'] : []),
    ...(streets > 0 ? ['streets'] : []),
  ].sort();
}

/** @throws Error for an unknown layer. */
function checkLayers(layers: readonly string[]): void {
  const unknown = layers.find((layer) => !(OPTIONAL_LAYERS as readonly string[]).includes(layer));
  if (unknown === undefined) return;
  throw new Error(`no layer "${unknown}"; there is: ${OPTIONAL_LAYERS.join(', ')}`);
}

function drawAreas(
  { recipe, files, states, boundaries, places, rates, layered }: Input,
  registry: AreaRegistry,
  progress: Progress,
): ReturnType<typeof overlay> {
  const whole = new Map(
    loadZipFacts(files.factsDir)
      .municipal.filter(({ sole }) => sole)
      .map(({ county, place }) => [county, place]),
  );
  const doubtful =
    boundaries.places.length > 0
      ? {
          ...doubtsOf(
            recipe,
            files,
            states,
            rates.reports.flatMap((report) => report.unplaced),
            rates.input.counties,
          ),
          lands: dividedFeatures(rates.input.divided ?? []),
        }
      : NO_DOUBTS;
  return overlay(
    boundaries,
    places,
    { tiers: rates.input.tiers, whole },
    doubtful,
    registry,
    progress,
    layered.districts,
  );
}

function zipListsOf(
  { boundaries, places, rates, ...input }: Input,
  drawn: Overlay,
  districts: OwnDistricts,
  { intern }: AreaRegistry,
): ZipLists {
  return readZipLists({
    ...input,
    boundaries,
    overlay: drawn,
    districts,
    intern,
    // Without town boundaries, no door can be found to lie in a town.
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
  return inTemporary(makeTemporary(options.varDir), async (temporary) => {
    const parts = new PartCache(keep ? partsDir(options.varDir) : scratchDir(temporary), keep);
    const name = await buildFrom(input, options, temporary, parts);
    if (keep) parts.settle(name, input.hash(), listReleases(options.varDir));
    sums.write();
    return name;
  });
}

/** A state with the last day of its boundary file, if the file has one. */
function withStatedUntil(
  state: StateRecord,
  file: { readonly lastDay: DateInt } | undefined,
): StateRecord {
  return file === undefined || file.lastDay === DATE_OPEN
    ? state
    : { ...state, statedUntil: file.lastDay };
}

/** The results of binding doors and ZIPs. */
interface Bound {
  readonly addresses: Awaited<ReturnType<typeof buildAddresses>>;
  readonly zips: ReturnType<typeof bindZips>;
}

/** Binds doors and ZIPs to the tax areas of the overlay. */
async function bind(
  input: Input,
  { progress, workers, report }: BuildOptions,
  drawn: Overlay,
  registry: AreaRegistry,
  temporary: string,
  parts: PartCache,
): Promise<Bound> {
  const { recipe, files, states, boundaries, places, counties, rates } = input;
  const districts = input.layered.districts.learned(registry.tuples());
  const settled = districts.settled(registry.tuples(), registry.intern);
  const lists = zipListsOf(input, drawn, districts, registry);
  const addressed = buildAddresses({
    recipe: eachFile(recipe, files),
    files,
    states,
    places,
    counties,
    cells: drawn.cells,
    tuples: registry.tuples(),
    place: statedPlaces({
      rates,
      states,
      districts,
      registry,
      counties: () => zipCounties(recipe, files, states),
      locations: () => districtCounties(boundaries.districts, boundaries.counties),
    }),
    today: input.asOf,
    progress,
    report,
    own: { districts: districts.list, settled },
    scratch: scratchDir(temporary),
    parts,
    ...(workers === undefined ? {} : { workers }),
  });
  // While other threads read and sort addresses, this one only hands out tasks, so it does this
  // too.
  const [addresses, known] = await meanwhile(addressed, knownZips(lists));
  progress('zips', 0, known.postalZips.length);
  const zips = bindZips({ ...lists, counts: addresses.zipCounts }, known);
  progress('zips', zips.zips.length, zips.zips.length);
  return { addresses, zips };
}

/** The names of what the release was made of: its recipe, and the layers over it. */
function madeOf({ recipe, layers }: Input, optional: readonly string[]): string {
  return [recipe.name, ...optional, ...layers.map((own) => layerLabel(own.name))].join('+');
}

async function buildFrom(
  input: Input,
  options: BuildOptions,
  temporary: string,
  parts: PartCache,
): Promise<string> {
  const { progress } = options;
  const { recipe, files, states, counties, boundaries, places, rates, layers } = input;
  const registry = new AreaRegistry();
  const drawn = drawAreas(input, registry, progress);
  const { addresses, zips } = await bind(input, options, drawn, registry, temporary, parts);
  const prefixes = postalPrefixes(recipe, files, registry);
  const sources: SourceRecord[] = [...rates.book.sources];
  const stateRecords = loadStateRecords(files.factsDir, (source) => {
    sources.push({ id: sources.length, ...source });
    return sources.length - 1;
  }).map((state) => withStatedUntil(state, addresses.stated.get(state.code)));
  const { areas, components } = registry.records(rates.book, states, counties);
  const overlaps = drawn.cells.overlaps.overlaps();
  const findings = boundaryFindings({ boundaries, places, counties, input: rates.input, overlaps });
  const documents = [['states', stateRecords], ...prefixes, ...input.layered.documents] as const;
  const name = await writeRelease(
    options.varDir,
    {
      manifest: {
        ...(findings.length === 0 ? {} : { findings }),
        recipe: madeOf(input, options.layers),
        asOf: formatDate(newestDate(rates.book.sources)),
        sources,
        files: [...files.list(), ...layers.flatMap((own) => own.files)],
        coverage: heldCoverage(input, addresses, zips.zips),
        layers: [
          ...layersOf(boundaries, states, addresses.counts.points + addresses.counts.sides),
          ...layers.map(layerVersion),
        ],
      },
      areas,
      components,
      zips: mergeParts(zips.zips, areas),
      cities: zips.cities,
      documents: new Map<string, object>(documents),
      tiles: drawn.cells.tiles,
      leaves: drawn.cells.leaves,
      streets: addresses.entries,
    },
    progress,
    temporary,
  );
  for (const line of input.layered.lines) options.report(line);
  return name;
}
