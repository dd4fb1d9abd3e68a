/**
 * The overlay stage: reads boundary files into layers, divides them into cells, and interns the tax
 * area of every cell.
 */
import type { Polygon } from '../../geo/polygon.js';
import { NO_DISTRICTS, type OwnDistricts } from '../layer/districts.js';
import {
  type AreaTuple,
  type InternArea,
  type PlaceFact,
  type Progress,
  TOWN_DIGITS,
} from '../model.js';
import type { TierFact } from '../rates/facts.js';
import { READERS } from '../readers.js';
import type { ReadGeometries } from '../source/boundary-file.js';
import type { BoundarySource, Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import { nearestName } from '../spelling.js';
import { buildCells, type CellTables } from './cells.js';
import { doubtDiscs, type Doubts, wholeCounties } from './doubtful-land.js';
import { placeCounties } from './place-counties.js';
import { createSituate } from '../area-registry.js';

/** Boundaries of every layer, before they are overlaid. */
export interface Boundaries {
  readonly counties: readonly BoundaryFeature[];
  readonly provinces: readonly BoundaryFeature[];
  readonly places: readonly BoundaryFeature[];
  readonly towns: readonly BoundaryFeature[];
  readonly districts: readonly BoundaryFeature[];
  /** State FIPS codes whose place boundaries are loaded. */
  readonly placesLoaded: ReadonlySet<string>;
  readonly townsLoaded: ReadonlySet<string>;
}

function matches(feature: BoundaryFeature, source: BoundarySource): boolean {
  return Object.entries(source.where ?? {}).every(([name, pattern]) =>
    new RegExp(pattern).test(feature.properties[name] ?? ''),
  );
}

/**
 * @throws Error where no feature has a property that is required, because it is misspelt or the
 * layout is different; also where there are no features, since then no city would have its tax.
 */
function checkColumns(
  path: string,
  read: readonly BoundaryFeature[],
  source: BoundarySource,
): void {
  if (read.length === 0) throw new Error(`${path}: it has no polygons`);
  const missing = Object.keys(source.where ?? {}).filter((name) =>
    read.every(({ properties }) => !Object.hasOwn(properties, name)),
  );
  if (missing.length === 0) return;
  const columns = Object.keys(read[0]?.properties ?? {});
  const told = missing.map((name) => {
    const nearest = nearestName(name, columns);
    return nearest === null ? name : `${name} (did you mean "${nearest}"?)`;
  });
  throw new Error(
    `${path}: its layout is another: it has no column ${told.join(', ')}, but: ` +
      columns.join(', '),
  );
}

async function readSource(
  source: BoundarySource,
  files: SourceFiles,
  geometries: ReadGeometries,
): Promise<readonly BoundaryFeature[]> {
  const paths = source.path.includes('{fips}')
    ? (source.states ?? []).map((fips) => source.path.replace('{fips}', fips))
    : [source.path];
  const features: BoundaryFeature[] = [];
  for (const path of paths) {
    const named = { ...source, path: files.note(path) };
    const read = await READERS.boundaries.read(named, geometries);
    checkColumns(path, read, source);
    features.push(...read.filter((feature) => matches(feature, source)));
  }
  return features;
}

function byKey(one: BoundaryFeature, other: BoundaryFeature): number {
  return one.polygon.key < other.polygon.key ? -1 : 1;
}

/**
 * Reads every boundary file of the recipe. If a key occurs twice in a layer, the first file counts.
 * Files with all layers are taken from `geometries`, and added to it.
 */
export async function readBoundaries(
  recipe: Recipe,
  files: SourceFiles,
  progress: Progress,
  geometries: ReadGeometries = new Map(),
): Promise<Boundaries> {
  const found = new Map<BoundarySource['layer'], BoundaryFeature[]>();
  for (const [index, source] of recipe.boundaries.entries()) {
    const features = await readSource(source, files, geometries);
    const known = found.get(source.layer) ?? [];
    const held = new Set(known.map(({ polygon }) => polygon.key));
    found.set(source.layer, [
      ...known,
      ...features.filter(({ polygon }) => !held.has(polygon.key)),
    ]);
    progress('boundaries', index + 1, recipe.boundaries.length);
  }
  const layer = (name: BoundarySource['layer']): readonly BoundaryFeature[] =>
    (found.get(name) ?? []).sort(byKey);
  const statesOf = (name: BoundarySource['layer']): ReadonlySet<string> =>
    new Set(
      recipe.boundaries
        .filter((source) => source.layer === name)
        .flatMap((source) => source.states ?? []),
    );
  return {
    counties: layer('county'),
    provinces: layer('province'),
    places: layer('place'),
    towns: layer('town'),
    districts: layer('district'),
    placesLoaded: statesOf('place'),
    townsLoaded: statesOf('town'),
  };
}

/** The boundaries with those of the operator's layers, which count where keys are equal. */
export function drawnOver(
  features: readonly BoundaryFeature[],
  own: readonly BoundaryFeature[],
): readonly BoundaryFeature[] {
  const keys = new Set(own.map(({ polygon }) => polygon.key));
  return own.length === 0
    ? features
    : [...features.filter(({ polygon }) => !keys.has(polygon.key)), ...own].sort(byKey);
}

/**
 * Least share of a place without a fact that has to lie in a county to count as land in it; less is
 * the imprecision of a border.
 */
const STRANGER_SHARE_MIN = 0.02;

/**
 * Facts of the places that have a boundary: from the fact tables, or from the areas where these
 * lack the place. Without any boundaries, all facts.
 */
export function placesOf(
  boundaries: Boundaries,
  facts: readonly PlaceFact[],
  stateCodes: ReadonlyMap<string, string>,
): readonly PlaceFact[] {
  const known = new Map(facts.map((place) => [place.geoid, place]));
  const strangers = boundaries.places.filter(({ polygon }) => !known.has(polygon.key));
  const own = placeCounties(strangers, boundaries.counties);
  const drawn = new Set(boundaries.places.map(({ polygon }) => polygon.key));
  const kept = facts.filter((place) =>
    isTown(place)
      ? boundaries.townsLoaded.has(place.geoid.slice(0, 2))
      : drawn.has(place.geoid) || !boundaries.placesLoaded.has(place.geoid.slice(0, 2)),
  );
  return [
    ...kept,
    ...strangers.map(
      ({ polygon, properties }): PlaceFact => ({
        geoid: polygon.key,
        name: properties['NAME'] ?? polygon.key,
        fullName: properties['NAMELSAD'] ?? properties['NAME'] ?? polygon.key,
        state: stateCodes.get(polygon.key.slice(0, 2)) ?? '',
        counties: (own.get(polygon.key) ?? [])
          .filter(({ share }) => share >= STRANGER_SHARE_MIN)
          .map(({ county }) => county),
        independent: false,
      }),
    ),
  ].sort((one, other) => (one.geoid < other.geoid ? -1 : 1));
}

/** Governing towns have ten digits, places seven. */
export function isTown(place: PlaceFact): boolean {
  return place.geoid.length === TOWN_DIGITS;
}

/** Counties that are also cities. */
interface CityCounties {
  readonly tiers: readonly TierFact[];
  /** Cities by the counties whose whole land is theirs. */
  readonly whole: ReadonlyMap<string, string>;
}

export interface Overlay {
  readonly cells: CellTables;
  readonly tupleAt: (lat: number, lng: number) => AreaTuple | null;
  readonly areaAt: (lat: number, lng: number) => number;
}

/** Overlays the layers. `tupleOf` returns the tuple of an id that `intern` returned. */
export function overlay(
  boundaries: Boundaries,
  places: readonly PlaceFact[],
  cities: CityCounties,
  doubts: Doubts,
  registry: { readonly intern: InternArea; tuple(id: number): AreaTuple },
  progress: Progress,
  districts: OwnDistricts = NO_DISTRICTS,
): Overlay {
  const placeOfCounty = new Map(
    cities.tiers
      .filter((tier) => tier.kind === 'independent')
      .map((tier) => [tier.county, tier.place]),
  );
  const situate = createSituate({
    places,
    placesLoaded: boundaries.placesLoaded,
    placeOfCounty,
    provinces: new Set(boundaries.provinces.map(({ polygon }) => polygon.key)),
    cityCounties: cities.whole,
  });
  const layers: readonly BoundaryLayer[] = [
    { layer: 'county', features: [...boundaries.counties, ...boundaries.provinces].sort(byKey) },
    { layer: 'place', features: boundaries.places },
    { layer: 'town', features: boundaries.towns },
    { layer: 'district', features: boundaries.districts },
    {
      layer: 'doubt',
      features: [
        ...doubtDiscs(doubts.points),
        ...doubts.lands,
        ...wholeCounties(boundaries.counties, doubts.counties),
      ].sort(byKey),
    },
  ];
  const cells = buildCells(
    layers,
    (hits) => {
      const tuple = situate(hits);
      return tuple === null ? -1 : registry.intern(districts.mark(tuple));
    },
    progress,
  );
  const areaAt = (lat: number, lng: number): number => cells.index.locate(lat, lng);
  return {
    cells,
    areaAt,
    tupleAt: (lat, lng) => {
      const area = areaAt(lat, lng);
      return area < 0 ? null : registry.tuple(area);
    },
  };
}

// Boundaries in the form that the overlay needs.

/**
 * Layers of the overlay. A spot may lie in several districts, but in one polygon of any other
 * layer.
 */
const LAYERS = ['county', 'place', 'town', 'district', 'doubt'] as const;
export type LayerName = (typeof LAYERS)[number];

export interface BoundaryFeature {
  readonly polygon: Polygon;
  /** Text properties of the publisher's record. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface BoundaryLayer {
  readonly layer: LayerName;
  /** Ascending by key. Where polygons of a layer overlap, the one with the lowest key counts. */
  readonly features: readonly BoundaryFeature[];
}

/** The polygons that hold a spot, by key. The key of a doubt is "<county>/<n>". */
export interface LayerHits {
  readonly county: string;
  readonly place: string;
  readonly town: string;
  readonly districts: readonly string[];
  /** Counties in whose doubtful land the spot lies. */
  readonly doubts: readonly string[];
}
