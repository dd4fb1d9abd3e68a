/** Which incorporated cities and towns a ZIP overlaps, and the evidence for each. */
import { closedName } from '../../address/place-name.js';
import type { AreaTuple, PlaceFact } from '../model.js';
import type { PostalZip } from './counties.js';
import type { Extent } from './extent.js';
import { type PlaceNames, placeNames } from './names.js';
import { kilometres } from './placed.js';
import type {
  Evidence,
  MunicipalCounty,
  UnplacedCity,
  ZipCity,
  ZipLists,
  ZipPoint,
} from './zip-facts.js';

/** County equivalents that are cities have codes from this one up. */
const INDEPENDENT_FROM = 510;

/** A city's part of a ZIP in one county. */
interface BoundCity {
  readonly tuple: AreaTuple;
  readonly place: PlaceFact;
  readonly evidence: Set<Evidence>;
}

/** Names, states and cities of a build, which are the same for all ZIPs. */
export interface SharedFacts {
  readonly names: PlaceNames;
  /** Two-letter code by the two FIPS digits. */
  readonly stateOf: ReadonlyMap<string, string>;
  /** States whose towns have boundaries. */
  readonly townStates: ReadonlySet<string>;
  readonly municipal: ReadonlyMap<string, MunicipalCounty>;
  /** By county, the city that is its own county. */
  readonly independents: ReadonlyMap<string, PlaceFact>;
  readonly listed: ReadonlyMap<number, readonly ZipCity[]>;
  /** By county. */
  readonly placesOf: ReadonlyMap<string, readonly PlaceFact[]>;
}

/** Groups rows by ZIP. */
export function byZip<T extends { readonly zip: number }>(rows: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(row.zip);
    if (group === undefined) groups.set(row.zip, [row]);
    else group.push(row);
  }
  return groups;
}

/** Collects what is the same for all ZIPs. */
export function sharedFacts(input: ZipLists, names: PlaceNames): SharedFacts {
  const independents = new Map<string, PlaceFact>();
  const placesOf = new Map<string, PlaceFact[]>();
  for (const place of input.places) {
    for (const county of place.counties) {
      const places = placesOf.get(county);
      if (places === undefined) placesOf.set(county, [place]);
      else places.push(place);
    }
    if (!place.independent) continue;
    for (const county of place.counties) {
      if (Number(county.slice(2)) >= INDEPENDENT_FROM) independents.set(county, place);
    }
  }
  return {
    names,
    stateOf: new Map(
      input.states.filter(({ fips }) => fips !== '').map(({ code, fips }) => [fips, code]),
    ),
    townStates: new Set(input.places.filter(isTown).map(({ state }) => state)),
    municipal: new Map(input.facts.municipal.map((fact) => [fact.county, fact])),
    independents,
    listed: byZip(input.cities),
    placesOf,
  };
}

/** Governing towns have ten digits, places seven. */
function isTown(place: PlaceFact): boolean {
  return place.geoid.length === 10;
}

/**
 * The tuple of a place within a county. Where towns have boundaries, a city is also the town with
 * the same five digits. Null for a village, whose town is not known there.
 */
export function tupleOf(shared: SharedFacts, place: PlaceFact, county: string): AreaTuple | null {
  const base = { state: county.slice(0, 2), county, districts: [] };
  const digits = place.geoid.slice(-5);
  if (isTown(place)) {
    const city = shared.names.place(county.slice(0, 2) + digits);
    const same = city !== undefined && city.name === place.name && city.counties.includes(county);
    return { ...base, place: same ? city.geoid : '', town: place.geoid };
  }
  if (shared.townStates.has(place.state)) return null;
  return { ...base, place: place.geoid, town: '' };
}

/** Whether a tuple has a city or town. */
export function isCity(tuple: AreaTuple): boolean {
  return tuple.town !== '' || (tuple.place !== '' && tuple.place !== '?');
}

/** Key of a tuple within a ZIP. */
export function tupleKey(tuple: AreaTuple): string {
  return `${tuple.county}|${tuple.place}|${tuple.town}|${tuple.districts.join(',')}`;
}

/** Key of a tuple without its districts, since only doors and polygons are evidence of these. */
export function spotKey({ county, place, town }: AreaTuple): string {
  return `${county}|${place}|${town}|`;
}

/** From this share of the ZIP's own land (5 %), a city belongs to the ZIP. */
const NEAR_PPM = 50_000;

/** Where a ZIP may lie, and whether a city can reach into it. */
export interface ZipReach {
  readonly extent: Extent | null;
  /**
   * Tuples at the points of a ZIP without land of its own; they may lie in none of its counties.
   */
  readonly spots: readonly AreaTuple[];
  mayTouch(place: PlaceFact): boolean;
  /** Whether a drawn district may reach into the ZIP. */
  mayHold(district: string): boolean;
}

/**
 * Finds a ZIP's cities by all evidence except doors. A name alone is not enough for a city whose
 * boundary cannot touch the ZIP, since post offices are named for places miles away.
 */
export function bindCities(
  shared: SharedFacts,
  zip: PostalZip,
  { extent, spots, mayTouch }: ZipReach,
): Map<string, BoundCity> {
  const bound = new Map<string, BoundCity>();
  const bind = (tuple: AreaTuple | null, place: PlaceFact, evidence: Evidence): void => {
    if (tuple === null) return;
    const key = tupleKey(tuple);
    const city = bound.get(key) ?? { tuple, place, evidence: new Set<Evidence>() };
    city.evidence.add(evidence);
    bound.set(key, city);
  };
  const bindName = (state: string, name: string, evidence: Evidence): void => {
    for (const { place, counties } of shared.names.find(state, name)) {
      if (evidence === 'name' && !mayTouch(place)) continue;
      for (const county of counties) {
        if (zip.counties.includes(county)) bind(tupleOf(shared, place, county), place, evidence);
      }
    }
  };
  const states = new Set(
    zip.counties.map((county) => shared.stateOf.get(county.slice(0, 2)) ?? ''),
  );
  for (const state of states) for (const name of zip.names) bindName(state, name, 'name');
  for (const { state, name } of shared.listed.get(zip.zip) ?? []) bindName(state, name, 'list');
  for (const county of zip.counties) {
    const place = wholeCounty(shared, county);
    if (place !== undefined) bind(tupleOf(shared, place, county), place, 'county');
  }
  const bindSpot = (tuple: AreaTuple, evidence: Evidence): void => {
    const place = shared.names.place(tuple.town || tuple.place);
    if (place !== undefined) bind({ ...tuple, districts: [] }, place, evidence);
  };
  if (extent !== null) bindSpot(extent.here, 'point');
  // For a ZIP without land, the crosswalks only know its post office's county, so point and name
  // count more.
  for (const tuple of spots) {
    const place = shared.names.place(tuple.town || tuple.place);
    const isNamed =
      place !== undefined &&
      placeNames(place).some((name) =>
        zip.names.some((other) => closedName(other) === closedName(name)),
      );
    if (isNamed) bindSpot(tuple, 'point');
  }
  for (const { tuple, land } of extent?.reached ?? []) {
    if (land >= NEAR_PPM && isCity(tuple)) bindSpot(tuple, 'near');
  }
  return bound;
}

function wholeCounty(shared: SharedFacts, county: string): PlaceFact | undefined {
  const fact = shared.municipal.get(county);
  if (fact?.sole === true) return shared.names.place(fact.place);
  return shared.independents.get(county);
}

/** Whether a county has no land outside cities, so that it has no remainder. */
export function isAllCities(shared: SharedFacts, county: string): boolean {
  const fact = shared.municipal.get(county);
  if (fact !== undefined) return shared.names.place(fact.place) !== undefined;
  return shared.independents.has(county);
}

/*
 * Land that may lie in a listed city whose boundary is not loaded.
 */

// If a listed city has no boundary, land near it may be inside or outside. The remainder of its
// county is then unknown in ZIPs with its name, and within 15 km of their points.

const NEAR_KM = 15;
const NONE: ReadonlySet<string> = new Set();

function isNear(one: ZipPoint, other: ZipPoint): boolean {
  return kilometres(one, other) <= NEAR_KM;
}

function isNamed(zip: PostalZip, name: string): boolean {
  return zip.names.some((other) => closedName(other) === closedName(name));
}

/**
 * By ZIP, the counties whose remainder cannot be distinguished from a city. `pointOf` gives a ZIP's
 * point if it can be trusted.
 */
export function doubtfulCounties(
  zips: readonly PostalZip[],
  pointOf: (zip: PostalZip) => ZipPoint | null,
  unplaced: readonly UnplacedCity[],
): (zip: PostalZip) => ReadonlySet<string> {
  const doubtful = new Map<number, Set<string>>();
  const doubt = (zip: number, county: string): void => {
    const counties = doubtful.get(zip);
    if (counties === undefined) doubtful.set(zip, new Set([county]));
    else counties.add(county);
  };
  const inCounty = new Map<string, PostalZip[]>();
  const cities = unplaced.flatMap((city) =>
    city.county !== '' ? [city] : countiesOf(zips, city).map((county) => ({ ...city, county })),
  );
  for (const { county } of cities) inCounty.set(county, []);
  for (const zip of zips) for (const county of zip.counties) inCounty.get(county)?.push(zip);
  for (const { county, name } of cities) {
    const near = inCounty.get(county) ?? [];
    const named = near.filter((zip) => isNamed(zip, name));
    const spots = named.map((zip) => pointOf(zip)).filter((spot) => spot !== null);
    for (const zip of named) doubt(zip.zip, county);
    for (const zip of near) {
      // If no ZIP has its name, the city may lie in any.
      if (named.length === 0) doubt(zip.zip, county);
      const spot = spots.length === 0 ? null : pointOf(zip);
      if (spot !== null && spots.some((other) => isNear(spot, other))) doubt(zip.zip, county);
    }
  }
  return (zip) => doubtful.get(zip.zip) ?? NONE;
}

/** The counties of a city whose list names none: those of ZIPs with its name, or else all. */
function countiesOf(zips: readonly PostalZip[], { state, name }: UnplacedCity): readonly string[] {
  const home = zips.filter((zip) => zip.state === state);
  const named = home.filter((zip) => isNamed(zip, name));
  return [...new Set((named.length > 0 ? named : home).flatMap(({ counties }) => counties))];
}
