/** Binds every ZIP to the tax areas that it overlaps. */
import type { AreaRecord, CityRecord, ZipPart, ZipRecord } from '../../dataset/records.js';
import type { Polygon } from '../../geo/polygon.js';
import type { Boundaries, Overlay } from '../boundary/overlay.js';
import { NO_DISTRICTS, type OwnDistricts } from '../layer/districts.js';
import type { AreaTuple, InternArea, PlaceFact } from '../model.js';
import type { CountyFact } from '../rates/facts.js';
import { inOneGo } from '../progress.js';
import { READERS } from '../readers.js';
import { fileError } from '../source/zip.js';
import type { Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import { loadZipFacts, type StateFact } from '../state-facts.js';
import { byZip, doubtfulCounties, type SharedFacts, spotKey, tupleKey } from './cities.js';
import type { PostalZip } from './counties.js';
import {
  countEvidence,
  type UnplacedCity,
  type ZipInput,
  type ZipLists,
  type ZipReport,
} from './zip-facts.js';
import { cityRecords } from './city-records.js';
import { bindZip, type BoundZip } from './zip-parts.js';
import type { Extent } from './extent.js';
import { SpotsInside } from './inside.js';
import { type KnownZips, knownZips, nearestSpot, type Spot, spotsOf } from './reach.js';

/** What a build writes about ZIPs and city names. */
export interface ZipBinding {
  readonly zips: readonly ZipRecord[];
  /** By "<state>|<NAME>", for every spelling that folds to the name. */
  readonly cities: ReadonlyMap<string, CityRecord>;
  readonly report: ZipReport;
}

/**
 * Binds ZIPs to areas, and city names to both. Depends only on its input, except for `intern`.
 * `known` is what the same lists show before any door is read.
 */
export function bindZips(
  input: ZipInput,
  known: KnownZips = inOneGo(knownZips(input)),
): ZipBinding {
  const { shared, postalZips, reachOf } = known;
  const counts = byZip(input.counts);
  const context = {
    shared,
    allMunicipal: new Set(
      input.states.filter((state) => state.allMunicipal).map((state) => state.code),
    ),
    placesLoaded: input.placesLoaded,
    countedStates: input.countedStates,
    countedTuples: new Set(input.counts.map(({ tuple }) => tupleKey(tuple))),
    doubtful: doubtfulCounties(
      postalZips,
      (zip) => reachOf(zip).extent?.point ?? null,
      input.unplaced,
    ),
    reachOf,
    districts: input.districts ?? NO_DISTRICTS,
    intern: input.intern,
  };
  const bound = postalZips.map((zip) => bindZip(context, zip, counts.get(zip.zip) ?? []));
  const spots = spotsOf(postalZips, reachOf);
  const inside = new SpotsInside(input);
  const spotsIn = (tuple: AreaTuple): readonly Spot[] =>
    spots.get(spotKey(tuple)) ?? inside.of(tuple);
  const zips = postalZips.map((zip, index) =>
    recordOf(shared, zip, bound[index]!, reachOf(zip).extent, spotsIn),
  );
  const cities = cityRecords(input, shared, postalZips, bound);
  return { zips, cities, report: reportOf(input, shared, postalZips, bound, cities.size) };
}

function recordOf(
  shared: SharedFacts,
  zip: PostalZip,
  bound: BoundZip,
  extent: Extent | null,
  spotsIn: (tuple: AreaTuple) => readonly Spot[],
): ZipRecord {
  const [county = ''] = zip.counties;
  return {
    zip: zip.zip,
    state: zip.state === '' ? (shared.stateOf.get(county.slice(0, 2)) ?? '') : zip.state,
    cities: namesOf(shared, zip),
    parts: bound.parts.map((part, at) =>
      part.lat !== 0 || part.lng !== 0
        ? part
        : {
            ...part,
            ...nearestSpot(spotsIn(bound.tuples[at]!), extent?.point),
          },
    ),
    reach: bound.reach,
  };
}

/** The postal names of a ZIP, and how the places that they are names of write them. */
function namesOf({ names: places }: SharedFacts, zip: PostalZip): readonly string[] {
  const own = zip.names.map((name) => places.ownSpelling(zip.state, name, zip.counties) ?? name);
  return [...new Set([...zip.names, ...own].map((name) => name.toUpperCase()))];
}

function reportOf(
  input: ZipInput,
  shared: SharedFacts,
  postalZips: readonly PostalZip[],
  bound: readonly BoundZip[],
  cities: number,
): ZipReport {
  const counties = new Map(postalZips.map((zip) => [zip.zip, zip.counties]));
  const unjoined = new Map<string, number>();
  for (const { zip, state, name } of input.cities) {
    const here = counties.get(zip) ?? [];
    const joined = shared.names
      .find(state, name)
      .some((named) => named.counties.some((county) => here.includes(county)));
    if (joined) continue;
    const key = `${state}|${name}`;
    unjoined.set(key, (unjoined.get(key) ?? 0) + 1);
  }
  return {
    zips: postalZips.length,
    partless: postalZips
      .filter((_, index) => bound[index]?.parts.length === 0)
      .map((zip) => zip.zip),
    parts: bound.reduce((sum, zip) => sum + zip.parts.length, 0),
    divided: bound.filter((zip) => zip.parts.length > 1).length,
    weighed: bound.filter((zip) => zip.weighed).length,
    interstate: postalZips.filter(
      (zip) => new Set(zip.counties.map((county) => county.slice(0, 2))).size > 1,
    ).length,
    ...countEvidence(bound),
    unjoined,
    cities,
  };
}

// The ZIP stage: makes ZIP and city records from lists of ZIPs, counts of doors and facts.

interface ZipStageInput {
  readonly recipe: Recipe;
  readonly files: SourceFiles;
  readonly states: readonly StateFact[];
  readonly counties: readonly CountyFact[];
  readonly places: readonly PlaceFact[];
  readonly boundaries: Boundaries;
  readonly overlay: Overlay;
  readonly unplaced: readonly UnplacedCity[];
  readonly districts: OwnDistricts;
  readonly intern: InternArea;
}

/** Boundaries of drawn districts by code. */
function districtPolygons({ districts }: Boundaries): (code: string) => readonly Polygon[] {
  const polygons = districts.map(({ polygon }) => polygon);
  return (code) => polygons.filter(({ key }) => key === code);
}

/** Boundaries of places by code, and of towns. */
function polygonsOf(boundaries: Boundaries): (geoid: string) => Polygon | undefined {
  const { counties, places, towns } = boundaries;
  const polygons = new Map(
    [...counties, ...places, ...towns].map(({ polygon }) => [polygon.key, polygon]),
  );
  return (geoid) => polygons.get(geoid);
}

/**
 * Reads a list.
 * @throws Error that names the list where its layout is different, or no row of it has a ZIP.
 */
function rowsOf<Row>(
  files: SourceFiles,
  path: string | undefined,
  read: (text: string) => readonly Row[],
): readonly Row[] {
  if (path === undefined) return [];
  const text = files.text(path);
  try {
    const rows = read(text);
    if (rows.length === 0) throw new RangeError('no row of it is that of a ZIP');
    return rows;
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Reads the lists of the recipe. */
export function readZipLists(input: ZipStageInput): ZipLists {
  const {
    recipe: { zips },
    files,
    states,
    boundaries,
    overlay,
  } = input;
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  const codes = new Map(states.map((state) => [state.fips, state.code]));
  const rows = <Row>(
    read: (text: string) => readonly Row[],
    path: string | undefined,
  ): readonly Row[] => rowsOf(files, path, read);
  return {
    states,
    counties: input.counties,
    places: input.places,
    placesLoaded: new Set([...boundaries.placesLoaded].map((state) => codes.get(state) ?? '')),
    unplaced: input.unplaced,
    points: rows(
      (text) => READERS.zips.points.read(text, (state) => fips.get(state) ?? ''),
      zips.points,
    ),
    delivered: rows(READERS.zips.delivered.read, zips.delivered),
    tabulated: rows(READERS.zips.tabulated.read, zips.tabulated),
    cities: rows(
      (text) => READERS.zips.cities.read(text, (of) => codes.get(of) ?? ''),
      zips.cities,
    ),
    countedStates: new Set(zips.counted ?? []),
    facts: loadZipFacts(files.factsDir),
    // Polygons of counties alone would show nothing that the crosswalks do not show better.
    ...(boundaries.places.length === 0
      ? {}
      : {
          tupleAt: overlay.tupleAt,
          polygonOf: polygonsOf(boundaries),
          polygonsOfDistrict: districtPolygons(boundaries),
        }),
    districts: input.districts,
    intern: input.intern,
  };
}

/** Counties of every ZIP, by each list of the recipe. */
export function zipCounties(
  { zips }: Recipe,
  files: SourceFiles,
  states: readonly StateFact[],
): ReadonlyMap<number, ReadonlySet<string>> {
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  const { points, delivered, tabulated } = READERS.zips;
  const pairs = [
    ...rowsOf(files, zips.points, (text) => points.read(text, (state) => fips.get(state) ?? '')),
    ...rowsOf(files, zips.delivered, delivered.read),
    ...rowsOf(files, zips.tabulated, tabulated.read),
  ];
  const counties = new Map<number, Set<string>>();
  for (const { zip, county } of pairs) {
    counties.set(zip, (counties.get(zip) ?? new Set()).add(county));
  }
  return counties;
}

// Rows of a ZIP that look the same to every reader are merged.

/** What rows show of an area: everything except the place's code and the area's number. */
function faceOf(area: AreaRecord): string {
  return JSON.stringify([
    area.state,
    area.countyFips,
    area.components,
    area.unknown,
    area.staleAfter,
    area.estimated,
  ]);
}

/** Merges such parts; the first one stays, with the sum of both shares. */
export function mergeParts(
  zips: readonly ZipRecord[],
  areas: readonly AreaRecord[],
): readonly ZipRecord[] {
  const shown: string[] = [];
  return zips.map((zip) => {
    if (zip.parts.length < 2) return zip;
    const faces = new Map<string, ZipPart>();
    for (const part of zip.parts) {
      const face = `${part.city}|${(shown[part.area] ??= faceOf(areas[part.area]!))}`;
      const known = faces.get(face);
      const weight =
        known?.weight == null || part.weight === null
          ? (known?.weight ?? part.weight)
          : known.weight + part.weight;
      const land =
        known?.land == null || part.land === null
          ? (known?.land ?? part.land)
          : known.land + part.land;
      faces.set(face, { ...(known ?? part), weight, land });
    }
    return faces.size === zip.parts.length ? zip : { ...zip, parts: [...faces.values()] };
  });
}
