/** Finds the jurisdictions that rows of a layer name. */
import { FIVE_DIGITS } from '../../base/patterns.js';
import type { SourceRecord } from '../../dataset/records.js';
import { countiesWithLand, type PlaceFact, type RateRow } from '../model.js';
import type { DistrictMember, ListMark, StateName, TierFact } from '../rates/facts.js';
import type { Gazetteer, NameMatch } from '../rates/gazetteer.js';
import { DATE_MIN, DATE_OPEN, OWN_CODE } from '../rates/list.js';
import type { RowIndex } from '../rates/rate-rows.js';
import { nearestName } from '../spelling.js';
import type { Layer } from './layer-files.js';
import type { LayerRate } from './table.js';
import type { LayerColumn } from './checked-cells.js';

/** What the lists contain, before any layer. */
export interface BaseRates {
  readonly gazetteer: Gazetteer;
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
  /** District name by "<state>/<code>". */
  readonly districtNames: ReadonlyMap<string, string>;
  readonly marks: readonly ListMark[];
  readonly sources: readonly SourceRecord[];
  readonly tiers: readonly TierFact[];
}

/** What the lists contain before any layer, with rows by jurisdiction, and the states. */
export interface Base extends BaseRates {
  readonly index: RowIndex;
  readonly states: ReadonlyMap<string, StateName>;
}

/** The jurisdiction that a row is for. */
export type Found = Pick<RateRow, 'county' | 'place' | 'code'> & { readonly label: string };

/** Finds the jurisdictions of a layer's rows. A row whose jurisdiction is unclear is a fault. */
export class Finder {
  constructor(
    readonly base: Base,
    readonly layer: Layer,
  ) {}

  fault(row: LayerRate, column: LayerColumn, why: string): null {
    this.layer.faults.add(row.line, column, why);
    return null;
  }

  #matched(
    row: LayerRate,
    column: LayerColumn,
    name: string,
    match: NameMatch,
    names: readonly string[],
  ): string | null {
    if (match.kind === 'code') return match.code;
    const nearest = nearestName(name, names);
    return this.fault(
      row,
      column,
      match.kind === 'dropped'
        ? `"${name}" is no jurisdiction: ${match.why}`
        : `${row.state} has no "${name}" that is one place` +
            (nearest === null ? '' : `; did you mean "${nearest}"?`),
    );
  }

  county(row: LayerRate, column: LayerColumn, name: string): string | null {
    const { gazetteer } = this.base;
    const fips = this.base.states.get(row.state)?.fips ?? '';
    if (FIVE_DIGITS.test(name) && name.startsWith(fips) && gazetteer.countyFact(name)) return name;
    return this.#matched(
      row,
      column,
      name,
      gazetteer.county(row.state, name),
      gazetteer.counties(row.state).map(({ fullName }) => fullName),
    );
  }

  city(row: LayerRate, column: LayerColumn, name: string, county: string): string | null {
    const { gazetteer } = this.base;
    return this.#matched(
      row,
      column,
      name,
      gazetteer.city(row.state, name, county),
      gazetteer.places(row.state).map((place) => place.name),
    );
  }

  /** The jurisdictions of a row: one, several for "*", or none where it has a fault. */
  find(row: LayerRate): readonly Found[] {
    if (!this.base.states.has(row.state)) {
      this.fault(row, 'state', `"${row.state}" is no state of the recipe`);
      return [];
    }
    switch (row.level) {
      case 'state':
        return [{ county: '', place: '', code: '', label: `${row.state}` }];
      case 'county':
        return this.#countyRow(row);
      case 'city':
        return this.#cityRows(row);
      case 'district':
        return this.#districtRow(row);
    }
  }

  #countyRow(row: LayerRate): readonly Found[] {
    const fips = this.county(row, row.code === '' ? 'name' : 'code', row.code || row.name);
    const fact = fips === null ? undefined : this.base.gazetteer.countyFact(fips);
    return fact === undefined
      ? []
      : [{ county: fact.fips, place: '', code: '', label: `${fact.fullName}, ${row.state}` }];
  }

  #cityRows(row: LayerRate): readonly Found[] {
    const { gazetteer } = this.base;
    const county = row.counties.length === 0 ? '' : this.county(row, 'county', row.counties[0]!);
    if (county === null) return [];
    if (row.counties.length > 1) this.fault(row, 'county', 'a row of a city has one county');
    if (row.name === '*') return this.#otherCities(row, county);
    const known = row.code === '' ? null : gazetteer.place(row.code);
    if (known === undefined) {
      this.fault(row, 'code', `no boundary of a city ${row.code} is held: name a file of it`);
      return [];
    }
    const place = known?.geoid ?? this.city(row, 'name', row.name, county);
    if (place === null) return [];
    const fips = this.base.states.get(row.state)?.fips ?? '';
    if (!place.startsWith(fips)) {
      this.fault(
        row,
        'code',
        `${place} is no city of ${row.state}, whose codes begin with ` + fips,
      );
      return [];
    }
    // The lists may have a city by county parts. Their rows would take precedence over one for the
    // whole city, so each part gets a row.
    const parts =
      county !== ''
        ? [county]
        : [
            '',
            ...new Set(
              this.base.rows
                .filter((held) => held.place === place && held.county !== '')
                .map((held) => held.county),
            ),
          ];
    const label = `${gazetteer.place(place)?.fullName ?? row.name}, ${row.state}`;
    return parts.map((part) => ({ county: part, place, code: '', label }));
  }

  #otherCities(row: LayerRate, county: string): readonly Found[] {
    const { gazetteer } = this.base;
    if (county === '') {
      this.fault(row, 'county', 'every other city ("*") of which county?');
      return [];
    }
    const named = new Set(
      this.layer.rates.flatMap((other) =>
        other.level !== 'city' || other.state !== row.state || other.name === '*'
          ? []
          : [other.code || codeOf(gazetteer.city(row.state, other.name, county))],
      ),
    );
    return gazetteer
      .places(row.state)
      .filter((place) => countiesWithLand(place).includes(county) && !named.has(place.geoid))
      .map((place: PlaceFact) => ({
        county,
        place: place.geoid,
        code: '',
        label: `${place.fullName}, ${row.state}`,
      }));
  }

  #districtRow(row: LayerRate): readonly Found[] {
    const named = [...this.base.districtNames].filter(
      ([key, name]) =>
        key.startsWith(`${row.state}/`) && name.toLowerCase() === row.name.toLowerCase(),
    );
    if (row.code === '' && named.length > 1) {
      this.fault(row, 'name', `${named.length} districts have this name: write the code`);
      return [];
    }
    const own = OWN_CODE + row.name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '-');
    const code = row.code || named[0]?.[0].slice(row.state.length + 1) || own;
    return [{ county: '', place: '', code, label: `the district ${row.name}, ${row.state}` }];
  }
}

function codeOf(match: NameMatch): string {
  return match.kind === 'code' ? match.code : '';
}

/** Counties and cities in which a row says that a district is in force, in the form of facts. */
export function membersOf(finder: Finder, row: LayerRate, code: string): readonly DistrictMember[] {
  const common = {
    state: row.state,
    code,
    except: [],
    from: DATE_MIN,
    to: DATE_OPEN,
    always: true,
  };
  return [
    ...row.counties.flatMap((name): DistrictMember[] => {
      const county = finder.county(row, 'county', name);
      return county === null ? [] : [{ ...common, scope: 'county', county, place: '' }];
    }),
    ...row.cities.flatMap((name): DistrictMember[] => {
      const place = finder.city(row, 'city', name, '');
      return place === null ? [] : [{ ...common, scope: 'place', county: '', place }];
    }),
  ];
}
