/** Rate rows by the jurisdiction they belong to. */
import type { PlaceFact, RateRow } from '../model.js';
import type { TierFact } from './facts.js';

/** Rows of the lists; within a jurisdiction in order of precedence, the last one winning. */
export interface RowIndex {
  state(code: string): readonly RateRow[];
  county(fips: string): readonly RateRow[];
  /** Rows of a place or town in a county: those for all counties, then those for this one. */
  city(place: string, county: string): readonly RateRow[];
  /** Whether towns of the county are listed, whose boundaries then matter. */
  hasTowns(county: string): boolean;
  /** Whether any listed place is known to lie in the county. */
  hasCities(county: string): boolean;
  district(state: string, code: string): readonly RateRow[];
  /** Why the districts of a county's remainder ("" as place) or of a place cannot be told. */
  gaps(county: string, place: string): readonly RateRow[];
  readonly districtCodes: ReadonlyMap<string, readonly string[]>;
  readonly listed: ReadonlyMap<string, number>;
}

/** Digits of a county subdivision's code; a place has seven. */
const TOWN_DIGITS = 10;

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

/** A county row of a city that stands for its county is that city's row. */
function asLevied(row: RateRow, tiers: ReadonlyMap<string, TierFact>): RateRow {
  const tier = row.level === 'county' ? tiers.get(row.county) : undefined;
  if (!tier || tier.kind === 'census-area' || tier.place === '') return row;
  return { ...row, level: 'city', place: tier.place, county: '' };
}

/** Indexes rows; `places` tell in which counties a place listed without one lies. */
export function indexRows(
  rows: readonly RateRow[],
  tiers: ReadonlyMap<string, TierFact>,
  places: ReadonlyMap<string, PlaceFact>,
): RowIndex {
  const [states, counties, cities, districts, gaps] =
    [new RowGroups(), new RowGroups(), new RowGroups(), new RowGroups(), new RowGroups()];
  const withCities = new Set<string>();
  const withTowns = new Set<string>();
  const codes = new Map<string, Set<string>>();
  const seen = new Map<string, Set<string>>();
  const count = (row: RateRow, key: string): void => {
    const level = `${row.state}/${row.level}`;
    seen.set(level, (seen.get(level) ?? new Set()).add(key));
  };
  for (const given of rows) {
    const row = asLevied(given, tiers);
    if (row.level === 'state') states.add(row.state, row);
    else if (row.level === 'county') counties.add(row.county, row);
    else if (row.level === 'city') {
      cities.add(`${row.place}/${row.county}`, row);
      const within = row.county ? [row.county] : places.get(row.place)?.counties ?? [];
      for (const county of within) withCities.add(county);
      // A town's code begins with its county's.
      if (row.place.length === TOWN_DIGITS) withTowns.add(row.place.slice(0, 5));
    } else if (row.basis === 'unknown') {
      gaps.add(row.place ? `${row.place}/${row.county}` : row.county, row);
    } else {
      districts.add(`${row.state}/${row.code}`, row);
      codes.set(row.state, (codes.get(row.state) ?? new Set()).add(row.code));
    }
    const gap = row.level === 'district' && row.basis === 'unknown';
    if (!gap) count(row, row.place || row.county || row.code || row.state);
  }
  return {
    state: (code) => states.get(code),
    county: (fips) => counties.get(fips),
    city: (place, county) =>
      [...cities.get(`${place}/`), ...(county ? cities.get(`${place}/${county}`) : [])],
    hasTowns: (county) => withTowns.has(county),
    hasCities: (county) => withCities.has(county),
    district: (state, code) => districts.get(`${state}/${code}`),
    gaps: (county, place) => place
      ? [...gaps.get(`${place}/`), ...gaps.get(`${place}/${county}`)]
      : gaps.get(county),
    districtCodes: new Map([...codes].map(([state, set]) => [state, [...set].sort()])),
    listed: new Map([...seen].map(([level, set]) => [level, set.size])),
  };
}
