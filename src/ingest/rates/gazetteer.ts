/**
 * Finds Census codes for the names in rate lists: of counties with their kind, of places with their
 * county, and of aliases from facts, which come first. A name without a county that fits two places
 * is not matched.
 */
import { type PlaceFact, TOWN_DIGITS } from '../model.js';
import { plainCounty, plainPlace } from './book.js';
import type { CountyFact, StateName } from './facts.js';

/** A publisher's name for a jurisdiction that has another name at the Census Bureau. */
export interface NameAlias {
  readonly state: string;
  readonly level: 'county' | 'city';
  /** Name as listed. */
  readonly listed: string;
  /** County part that the alias is for, five digits; "" for all. */
  readonly county: string;
  /** Code of the county or place that is meant; "" where the row is to be left out. */
  readonly code: string;
  readonly why: string;
}

/** The result for a name. A dropped name is no jurisdiction; an unmatched one is reported. */
export type NameMatch =
  | { readonly kind: 'code'; readonly code: string; readonly county: string }
  | { readonly kind: 'dropped'; readonly why: string }
  | { readonly kind: 'unmatched' };

/** Finds the jurisdictions of a build by name. */
export interface Gazetteer {
  county(state: string, name: string): NameMatch;
  /** `county` restricts the search to places in it; "" where the list gives none. */
  city(state: string, name: string, county: string): NameMatch;
  place(geoid: string): PlaceFact | undefined;
  /** A place or town by its code, even a town without a boundary. */
  municipality(geoid: string): PlaceFact | undefined;
  countyFact(fips: string): CountyFact | undefined;
  places(state: string): readonly PlaceFact[];
  /** Towns that are divisions of a county, even those without a boundary. */
  towns(county: string): readonly PlaceFact[];
  counties(state: string): readonly CountyFact[];
  states(): readonly StateName[];
}

/** Characters of names that have no accents, as most do. */
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * The spelling in which names of lists and of the Census Bureau agree: capitals without accents,
 * words spelled out.
 */
export function plainName(name: string): string {
  return (PLAIN.test(name) ? name : name.normalize('NFD').replace(/\p{M}/gu, ''))
    .toUpperCase()
    .replace(/[.'’`]/g, '')
    .replace(/[-–]/g, ' ')
    .replace(/\bSTE?\b(?= )/g, (word) => (word === 'STE' ? 'SAINTE' : 'SAINT'))
    .replace(/\bMT\b(?= )/g, 'MOUNT')
    .replace(/\bFT\b(?= )/g, 'FORT')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Lists write "Deland" for De Land and "O Fallon" for O'Fallon. */
function closed(name: string): string {
  return name.replaceAll(' ', '');
}

const UNMATCHED: NameMatch = { kind: 'unmatched' };

/** Adds to a map with several values for a key. */
function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function one(codes: readonly string[] | undefined, county: string): NameMatch {
  const [code, second] = [...new Set(codes ?? [])];
  return code !== undefined && second === undefined ? { kind: 'code', code, county } : UNMATCHED;
}

/** Places of a state by name, in the spellings of plainName and of closed. */
interface PlaceNames {
  readonly plains: ReadonlyMap<string, readonly PlaceFact[]>;
  readonly closeds: ReadonlyMap<string, readonly PlaceFact[]>;
}

function placeNamesOf(places: readonly PlaceFact[]): PlaceNames {
  const plains = new Map<string, PlaceFact[]>();
  const closeds = new Map<string, PlaceFact[]>();
  for (const place of places) {
    const listed = new Set([place.name, plainPlace(place.name), place.fullName]);
    const names = new Set([...listed].map(plainName));
    for (const name of names) push(plains, name, place);
    for (const name of new Set([...names].map(closed))) push(closeds, name, place);
  }
  return { plains, closeds };
}

/** Counties by state, and their codes by state and name. */
interface CountyIndex {
  readonly byState: ReadonlyMap<string, readonly CountyFact[]>;
  readonly names: ReadonlyMap<string, readonly string[]>;
}

function countyIndex(counties: readonly CountyFact[]): CountyIndex {
  const names = new Map<string, string[]>();
  const byState = new Map<string, CountyFact[]>();
  for (const county of counties) {
    push(byState, county.state, county);
    push(names, `${county.state}/${plainName(county.fullName)}`, county.fips);
    const plain = plainCounty(county.fullName);
    if (plain === county.fullName) continue;
    push(names, `${county.state}/${plainName(plain)}`, county.fips);
  }
  return { byState, names };
}

/** The first digits of a town's code are its county's. */
const COUNTY_DIGITS = 5;

type Towns = ReadonlyMap<string, readonly PlaceFact[]>;

function townOf(towns: Towns, geoid: string): PlaceFact | undefined {
  return towns.get(geoid.slice(0, COUNTY_DIGITS))?.find((town) => town.geoid === geoid);
}

/** The towns among places, by county. */
function townsOf(places: readonly PlaceFact[]): Towns {
  const found = new Map<string, PlaceFact[]>();
  for (const place of places) {
    if (place.geoid.length !== TOWN_DIGITS) continue;
    push(found, place.geoid.slice(0, COUNTY_DIGITS), place);
  }
  return found;
}

/**
 * Makes the gazetteer of a build. A state's places are indexed when a list first needs them.
 * `undrawn` are towns without boundaries, which can be found by code but not by name.
 */
export function createGazetteer(
  states: readonly StateName[],
  counties: readonly CountyFact[],
  places: readonly PlaceFact[],
  aliases: readonly NameAlias[],
  undrawn: readonly PlaceFact[] = [],
): Gazetteer {
  const { names: countyNames, byState: countiesOf } = countyIndex(counties);
  const placesOf = new Map<string, PlaceFact[]>();
  for (const place of places) push(placesOf, place.state, place);
  const namesOf = new Map<string, PlaceNames>();
  const placeNames = (state: string): PlaceNames => {
    const known = namesOf.get(state) ?? placeNamesOf(placesOf.get(state) ?? []);
    namesOf.set(state, known);
    return known;
  };
  const named = new Map(
    aliases.map((alias) => [
      `${alias.level}/${alias.state}/${plainName(alias.listed)}/${alias.county}`,
      alias,
    ]),
  );
  const alias = (level: string, state: string, name: string, county: string): NameMatch | null => {
    const key = `${level}/${state}/${plainName(name)}/`;
    const found = named.get(key + county) ?? named.get(key);
    if (!found) return null;
    if (found.code === '') return { kind: 'dropped', why: found.why };
    return { kind: 'code', code: found.code, county };
  };
  const byGeoid = new Map(places.map((place) => [place.geoid, place]));
  const towns = townsOf([...undrawn, ...places]);
  const byFips = new Map(counties.map((county) => [county.fips, county]));
  return {
    county(state, name) {
      return (
        alias('county', state, name, '') ?? one(countyNames.get(`${state}/${plainName(name)}`), '')
      );
    },
    city(state, name, county) {
      const known = alias('city', state, name, county);
      if (known) return known;
      const plain = plainName(name);
      const { plains, closeds } = placeNames(state);
      const all = plains.get(plain) ?? closeds.get(closed(plain)) ?? [];
      const inside = county ? all.filter((place) => place.counties.includes(county)) : all;
      // A place's own counties exclude slivers, so a lone name may also lie in a neighbour.
      return one(
        (inside.length > 0 ? inside : all).map((place) => place.geoid),
        county,
      );
    },
    place: (geoid) => byGeoid.get(geoid),
    municipality: (geoid) => byGeoid.get(geoid) ?? townOf(towns, geoid),
    countyFact: (fips) => byFips.get(fips),
    places: (state) => placesOf.get(state) ?? [],
    towns: (county) => towns.get(county) ?? [],
    counties: (state) => countiesOf.get(state) ?? [],
    states: () => states,
  };
}
