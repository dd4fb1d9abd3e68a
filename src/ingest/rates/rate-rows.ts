/** Indexes rate rows by jurisdiction. */
import type { DateInt } from '../../tax/date.js';
import { type PlaceFact, type RateRow, TOWN_DIGITS } from '../model.js';
import type { DistrictMember, TierFact } from './facts.js';
import { paint } from './timeline.js';

/**
 * Rows of the lists. For each jurisdiction they are in order of precedence, the last one counting
 * most.
 */
export interface RowIndex {
  state(code: string): readonly RateRow[];
  /** Rows of a county: those for all of it, then those for what lies inside the place. */
  county(fips: string, place?: string): readonly RateRow[];
  /** Rows of a place or town in a county: those for all counties, then those for this one. */
  city(place: string, county: string): readonly RateRow[];
  /** Whether towns of the county are listed, so that their boundaries matter. */
  hasTowns(county: string): boolean;
  /** Whether any listed place is known to lie in the county. */
  hasCities(county: string): boolean;
  district(state: string, code: string): readonly RateRow[];
  /** Why the districts of a place, or of a county's remainder ("" as place), are unknown. */
  gaps(county: string, place: string): readonly RateRow[];
}

class RowGroups {
  readonly #groups = new Map<string, RateRow[]>();

  add(key: string, row: RateRow): void {
    const list = this.#groups.get(key);
    if (list) list.push(row);
    else this.#groups.set(key, [row]);
  }

  get(key: string): readonly RateRow[] {
    return this.#groups.get(key) ?? [];
  }
}

/** Turns a county row of a city that represents its county into that city's row. */
function asLevied(row: RateRow, tiers: ReadonlyMap<string, TierFact>): RateRow {
  const tier = row.level === 'county' ? tiers.get(row.county) : undefined;
  if (!tier || tier.kind === 'census-area' || tier.place === '') return row;
  return { ...row, level: 'city', place: tier.place, county: '' };
}

/** Indexes rows; `places` give the counties of places that are listed without one. */
export function indexRows(
  rows: readonly RateRow[],
  tiers: ReadonlyMap<string, TierFact>,
  places: ReadonlyMap<string, PlaceFact>,
): RowIndex {
  const [states, counties, cities, districts, gaps] = [
    new RowGroups(),
    new RowGroups(),
    new RowGroups(),
    new RowGroups(),
    new RowGroups(),
  ];
  const withCities = new Set<string>();
  const withTowns = new Set<string>();
  for (const given of rows) {
    const row = asLevied(given, tiers);
    if (row.level === 'state') states.add(row.state, row);
    else if (row.level === 'county') counties.add(`${row.county}/${row.place}`, row);
    else if (row.level === 'city') {
      cities.add(`${row.place}/${row.county}`, row);
      const within = row.county ? [row.county] : (places.get(row.place)?.counties ?? []);
      for (const county of within) withCities.add(county);
      // The first digits of a town's code are its county's.
      if (row.place.length === TOWN_DIGITS) withTowns.add(row.place.slice(0, 5));
    } else if (row.basis === 'unknown' && (row.place !== '' || row.county !== '')) {
      gaps.add(row.place ? `${row.place}/${row.county}` : row.county, row);
    } else districts.add(`${row.state}/${row.code}`, row);
  }
  return {
    state: (code) => states.get(code),
    county: (fips, place = '') => [
      ...counties.get(`${fips}/`),
      ...(place ? counties.get(`${fips}/${place}`) : []),
    ],
    city: (place, county) => [
      ...cities.get(`${place}/`),
      ...(county ? cities.get(`${place}/${county}`) : []),
    ],
    hasTowns: (county) => withTowns.has(county),
    hasCities: (county) => withCities.has(county),
    district: (state, code) => districts.get(`${state}/${code}`),
    gaps: (county, place) =>
      place ? [...gaps.get(`${place}/`), ...gaps.get(`${place}/${county}`)] : gaps.get(county),
  };
}

/** The first day on which a jurisdiction with these rows levies, or may; null where none does. */
export function firstLevy(rows: readonly RateRow[]): DateInt | null {
  const levies = paint(rows).find(
    ({ basis, sales, use }) => basis === 'unknown' || sales > 0 || use > 0,
  );
  return levies?.from ?? null;
}

// Which districts are in force in a tuple, by facts that replace boundaries.

/** Where a tuple lies; independent cities are already distinguished from counties. */
export interface Spot {
  readonly state: string;
  readonly county: string;
  /** Codes of the place and town the spot lies in; none in an unincorporated area. */
  readonly places: readonly string[];
}

/** A district that is in force at a spot, in a period. */
interface Membership {
  readonly code: string;
  readonly from: DateInt;
  readonly to: DateInt;
  /** Whether it is in force in the whole county or state, without exceptions. */
  readonly countywide: boolean;
  readonly always: boolean;
}

/** Facts by the land they concern. */
export interface MemberIndex {
  /** Districts at a spot; a code may occur several times, for different days. */
  at(spot: Spot): readonly Membership[];
  /** Whether a county's places and its remainder have different districts. */
  divides(county: string): boolean;
}

function keyOf(member: DistrictMember): string {
  if (member.scope === 'state') return member.state;
  return member.scope === 'place' ? member.place : member.county;
}

function holds(member: DistrictMember, spot: Spot): boolean {
  switch (member.scope) {
    case 'state':
      return true;
    case 'county':
      return !spot.places.some((place) => member.except.includes(place));
    case 'remainder':
      return spot.places.length === 0;
    case 'place':
      return member.county === '' || member.county === spot.county;
  }
}

/** Indexes the facts on members. */
export function indexMembers(
  members: readonly DistrictMember[],
  places: ReadonlyMap<string, PlaceFact>,
): MemberIndex {
  const byKey = new Map<string, DistrictMember[]>();
  const divided = new Set<string>();
  for (const member of members) {
    const key = keyOf(member);
    const list = byKey.get(key);
    if (list) list.push(member);
    else byKey.set(key, [member]);
    const partial =
      member.scope === 'remainder' || member.scope === 'place' || member.except.length > 0;
    const within = member.county ? [member.county] : (places.get(member.place)?.counties ?? []);
    if (partial) for (const county of within) divided.add(county);
  }
  return {
    at(spot: Spot): readonly Membership[] {
      const found: Membership[] = [];
      for (const key of [spot.state, spot.county, ...spot.places]) {
        for (const member of byKey.get(key) ?? []) {
          if (member.state !== spot.state || !holds(member, spot)) continue;
          const { code, from, to, scope, except, always = false } = member;
          const countywide = scope === 'state' || (scope === 'county' && except.length === 0);
          found.push({ code, from, to, countywide, always });
        }
      }
      return found;
    },
    divides: (county) => divided.has(county),
  };
}
