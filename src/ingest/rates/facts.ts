/**
 * Facts in addition to rate lists: which lists are complete, where districts are in force, and
 * names.
 */
import { FIVE_DIGITS } from '../../base/patterns.js';
import type { SourceRecord } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import { type Microdegrees, toMicrodegrees } from '../../geo/microdegrees.js';
import { COUNTRIES, type Country, type Level } from '../../tax/jurisdiction.js';
import type { Rate } from '../../tax/rate.js';
import type { PlaceFact } from '../model.js';
import { oneOf } from '../source/rates/own-tables.js';
import { readTable } from '../source/table-text.js';
import type { NameAlias } from './gazetteer.js';
import { DATE_OPEN, listDate } from './list.js';

/** A state, province or territory, as far as rates need it. */
export interface StateName {
  /** Two letters; "CA-ON" style for Canadian provinces. */
  readonly code: string;
  readonly fips: string;
  readonly name: string;
  readonly country: Country;
}

/** A county or county equivalent. */
export interface CountyFact {
  /** Five digits. */
  readonly fips: string;
  readonly state: string;
  /** With its kind: "Baltimore County" and "Baltimore city" are different. */
  readonly fullName: string;
  /** The state's own number where answers show that one; otherwise "". */
  readonly code: string;
}

/**
 * A county equivalent without a county government: an independent city is its own county, a
 * consolidated government levies as a city, and a census area has no government at all.
 */
export interface TierFact {
  readonly county: string;
  /** Place that represents the county; "" where there is none. */
  readonly place: string;
  readonly kind: 'independent' | 'consolidated' | 'census-area';
}

/** Where a district is in force: in whole counties, in their land outside places, or in places. */
export interface DistrictMember {
  readonly state: string;
  readonly code: string;
  readonly scope: 'state' | 'county' | 'remainder' | 'place';
  /** Five digits. For a place: the county part; "" for all parts. */
  readonly county: string;
  /** Seven-digit place or ten-digit town code. */
  readonly place: string;
  /** Places of the county that are not in the district. */
  readonly except: readonly string[];
  readonly from: DateInt;
  readonly to: DateInt;
  /**
   * Set if it also applies where an authority's record lists all districts, because the authority
   * does not know this one.
   */
  readonly always?: boolean;
}

/** What a state's lists contain of one level, and what it means that they lack a jurisdiction. */
export interface ListMark {
  readonly state: string;
  readonly level: Exclude<Level, 'state'>;
  /** `not-levied`: by law the level levies nothing, so it needs no list. */
  readonly mark: 'complete' | 'partial' | 'none' | 'not-levied';
  /** What a jurisdiction levies that is not listed. */
  readonly unlisted: 'nothing' | 'unknown';
  /** First day of the list; before it, everything that is not listed is unknown. */
  readonly since: DateInt;
  /**
   * Before its first row, a listed jurisdiction levied nothing (`full`) or an unknown rate
   * (`current`).
   */
  readonly history: 'full' | 'current';
  /** Last day the list was published for. After it, the list is used and marked as stale. */
  readonly until: DateInt;
  readonly source: number;
  /** What would supply missing rates, as the end of a sentence. */
  readonly fill: string;
  /** What the list is known to lack, although it answers; "" for nothing. */
  readonly gap: string;
}

/** Highest sum of all local parts a state's law allows. */
export interface LocalCap {
  readonly state: string;
  readonly cap: Rate;
}

// Reads the fact tables beside the rates: states, counties, places, sources, marks and names.

/** States, provinces and territories: state, fips, name, country. */
export function readStates(text: string): readonly StateName[] {
  return readTable(text, '\t').map((row) => {
    const country = oneOf(COUNTRIES, row, 'country');
    const province = `CA-${row.get('state')}`;
    return country === 'CAN'
      ? { code: province, fips: province, name: row.get('name'), country }
      : { code: row.get('state'), fips: row.get('fips'), name: row.get('name'), country };
  });
}

/** Counties: county, state, full_name, own_number (where the wire shows the state's own). */
export function readCounties(text: string): readonly CountyFact[] {
  return readTable(text, '\t').map((row) => ({
    fips: row.get('county'),
    state: row.get('state'),
    fullName: row.get('full_name'),
    code: row.get('own_number'),
  }));
}

/**
 * Places: geoid, name, full_name, class, counties, slight; `tiers`: which are their county.
 * @throws RangeError naming `path` and line of a row without a code, name or county of its own.
 */
export function readPlaces(
  text: string,
  state: string,
  tiers: readonly TierFact[],
  path: string,
): readonly PlaceFact[] {
  const alone = new Set(tiers.map((tier) => tier.place));
  return readTable(text, '\t').map((row) => {
    const fault = (what: string): RangeError =>
      new RangeError(`${path}, line ${row.line}: ${what}`);
    const countiesOf = (column: string): readonly string[] => {
      const counties = row
        .get(column)
        .split(' ')
        .filter((county) => county !== '');
      const wrong = counties.find((county) => !FIVE_DIGITS.test(county));
      if (wrong !== undefined) throw fault(`${column} has ${wrong}, no county's five digits`);
      return counties;
    };
    const [geoid, name, counties] = [row.get('geoid'), row.get('name'), countiesOf('counties')];
    if (!/^(\d{7}|\d{10})$/.test(geoid)) throw fault(`geoid "${geoid}" has not 7 or 10 digits`);
    if (name === '') throw fault('the place has no name');
    if (counties.length === 0) throw fault('the place lies in no county');
    return {
      geoid,
      name,
      fullName: row.get('full_name'),
      state,
      counties,
      slight: countiesOf('slight'),
      independent: alone.has(geoid),
    };
  });
}

/** Sources: id, publisher, title, origin, licence, as_of, estimated. */
export function readSources(text: string): readonly SourceRecord[] {
  return readTable(text, '\t').map((row, id) => ({
    id,
    name: row.get('id'),
    publisher: row.get('publisher'),
    licence: row.get('licence'),
    asOf: listDate(row.get('as_of'), DATE_OPEN),
    estimated: row.get('estimated') === 'yes',
  }));
}

/** Counties without a government of their own: county, place, kind. */
export function readTiers(text: string): readonly TierFact[] {
  return readTable(text, '\t').map((row) => ({
    county: row.get('county'),
    place: row.get('place'),
    kind: oneOf(['independent', 'consolidated', 'census-area'] as const, row, 'kind'),
  }));
}

/**
 * Names that lists and the Census Bureau spell differently: state, level, listed, county, code,
 * why.
 */
export function readAliases(text: string): readonly NameAlias[] {
  return readTable(text, '\t').map((row) => ({
    state: row.get('state'),
    level: oneOf(['county', 'city'] as const, row, 'level'),
    listed: row.get('listed'),
    county: row.get('county'),
    code: row.get('code'),
    why: row.get('why'),
  }));
}

/** A district's code, its name in answers, and the name in its publisher's lists. */
export interface DistrictName {
  readonly state: string;
  readonly code: string;
  readonly name: string;
  readonly listed: string;
}

/** District names: state, code, name, listed. */
export function readDistrictNames(text: string): readonly DistrictName[] {
  return readTable(text, '\t').map((row) => ({
    state: row.get('state'),
    code: row.get('code'),
    name: row.get('name'),
    listed: row.get('listed'),
  }));
}

/** Names in answers, by state and code. */
export function shownNames(names: readonly DistrictName[]): ReadonlyMap<string, string> {
  return new Map(
    names
      .filter((name) => name.name !== '')
      .map((name) => [`${name.state}/${name.code}`, name.name]),
  );
}

/** Completeness: state, level, mark, unlisted, since, history, until, source, fill, gap. */
export function readMarks(text: string, sourceOf: (name: string) => number): readonly ListMark[] {
  return readTable(text, '\t').map((row) => ({
    state: row.get('state'),
    level: oneOf(['county', 'city', 'district'] as const, row, 'level'),
    mark: oneOf(['complete', 'partial', 'none', 'not-levied'] as const, row, 'mark'),
    unlisted: oneOf(['nothing', 'unknown'] as const, row, 'unlisted'),
    since: listDate(row.get('since'), DATE_OPEN),
    history: oneOf(['full', 'current'] as const, row, 'history'),
    until: listDate(row.get('until'), DATE_OPEN),
    source: sourceOf(row.get('source')),
    fill: row.get('fill'),
    gap: row.get('gap'),
  }));
}

/**
 * Land that contains a ward or district whose line is not available, so that outside cities its
 * rate is unknown. The county's row applies to land outside the box.
 */
export interface DividedLand {
  /** Five digits. */
  readonly county: string;
  readonly south: Microdegrees;
  readonly west: Microdegrees;
  readonly north: Microdegrees;
  readonly east: Microdegrees;
  readonly note: string;
}

/** Divided land: county, south, west, north, east (degrees), note, says. */
export function readDividedLand(text: string): readonly DividedLand[] {
  return readTable(text, '\t').map((row) => {
    const at = (side: string): Microdegrees => {
      if (!/^-?\d{1,3}(\.\d+)?$/.test(row.get(side))) {
        throw new RangeError(`line ${row.line}: ${side}: ${row.get(side)}`);
      }
      return toMicrodegrees(Number(row.get(side)));
    };
    const [south, west, north, east] = [at('south'), at('west'), at('north'), at('east')];
    if (south >= north || west >= east) throw new RangeError(`line ${row.line}: no box`);
    return { county: row.get('county'), south, west, north, east, note: row.get('note') };
  });
}

/** A rule of a state that is listed but not applied. */
export interface NotSupported {
  readonly state: string;
  readonly note: string;
}

/** Rules not applied: state, note, source. */
export function readNotSupported(text: string): readonly NotSupported[] {
  return readTable(text, '\t').map((row) => ({ state: row.get('state'), note: row.get('note') }));
}

/**
 * Looks up the number of a source by its name.
 * @throws RangeError where the table of sources lacks it.
 */
export function sourceIndex(sources: readonly SourceRecord[]): (name: string) => number {
  const byName = new Map(sources.map((source) => [source.name, source.id]));
  return (name) => {
    const id = byName.get(name);
    if (id === undefined) throw new RangeError(`no source named "${name}" in the table of sources`);
    return id;
  };
}
