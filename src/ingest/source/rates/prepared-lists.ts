/** Lists of one state's rates that were prepared from what its authority publishes. */
import { dayBefore } from '../../../tax/date.js';
import type { PlaceFact, RateRow } from '../../model.js';
import { plainName } from '../../rates/gazetteer.js';
import {
  DATE_MIN,
  DATE_OPEN,
  fractionOf,
  joined,
  joinedCity,
  type ListContext,
  listDate,
  listedRow,
  type ListResult,
  percentOf,
  textOption,
  UNKNOWN_RATE,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';

/*
 * Lists with a publisher's code beside the name: state, level, name, code, fips, combined_pct,
 * local_pct, effective_from, as_of, source. Options: `basis` of city rows (own or total); `to`, the
 * last day of a schedule that has been replaced.
 */

const PART = /^(.*) \(([^()]+)\)$/;

interface Named {
  readonly level: 'county' | 'city';
  readonly county: string;
  readonly place: string;
  readonly name: string;
}

function named(row: TableRow, context: ListContext): Named | null {
  const { gazetteer, state, report } = context;
  const listed = row.get('name');
  if (row.get('level') === 'county') {
    const county = joined(context, listed, gazetteer.county(state, listed));
    return county === null ? null : { level: 'county', county, place: '', name: listed };
  }
  if (row.get('level') !== 'city') {
    report.drop(listed, 'a district without boundary');
    return null;
  }
  const [, name = listed, within = ''] = PART.exec(listed) ?? [];
  const match = gazetteer.county(state, `${within} County`);
  const county = match.kind === 'code' ? match.code : '';
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  return place === null ? null : { level: 'city', county, place, name };
}

/** Reads the list. */
export function readCoded(text: string, context: ListContext): ListResult {
  const total = textOption(context, 'basis', 'own') === 'total';
  const to = listDate(textOption(context, 'to'), DATE_OPEN);
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    context.report.read += 1;
    const found = named(row, context);
    if (!found) continue;
    const asOf = listDate(row.get('as_of'), context.asOf);
    const figure = row.get(total ? 'combined_pct' : 'local_pct');
    if (figure === '') {
      context.report.drop(found.name, 'listed without a figure');
      continue;
    }
    const rate = percentOf(figure, found.name);
    const [basis, from] = [
      total ? 'total' : 'own',
      listDate(row.get('effective_from'), asOf),
    ] as const;
    rows.push(listedRow(context, rate, { ...found, basis, from, to, asOf }));
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Combined rates of a state's counties and places: state, level, name, fips, county, rate
 * (decimal fraction, the state's included), kind, effective_from, effective_to. `kind` "mean" is an
 * average over parts of a county that are taxed differently, and no rate of any of them. A place
 * that is not listed has the rate of its county. Option `after`: only what begins later is read,
 * for the quarters that follow a list of another layout.
 */

function rowOf(
  row: TableRow,
  context: ListContext,
  where: Pick<RateRow, 'level' | 'county' | 'place' | 'name'>,
): RateRow {
  return listedRow(context, fractionOf(row.get('rate'), row.get('name')), {
    ...where,
    basis: 'total',
    from: listDate(row.get('effective_from'), DATE_MIN),
    to: listDate(row.get('effective_to'), DATE_OPEN),
  });
}

/** The rows of a county and of its places that the list does not name, which have its rate. */
function countyRows(
  row: TableRow,
  county: string,
  listed: ReadonlySet<string>,
  context: ListContext,
): readonly RateRow[] {
  const { gazetteer, state } = context;
  const silent = gazetteer
    .places(state)
    .filter(
      ({ geoid, counties }) => counties.includes(county) && !listed.has(`${geoid}/${county}`),
    );
  return [
    rowOf(row, context, { level: 'county', county, place: '', name: row.get('name') }),
    ...silent.map(({ geoid, name }) =>
      rowOf(row, context, { level: 'city', county, place: geoid, name }),
    ),
  ];
}

/** Reads the table. */
export function readCombined(text: string, context: ListContext): ListResult {
  const { gazetteer, report, state } = context;
  const after = listDate(textOption(context, 'after'), DATE_MIN);
  const table = readTable(text, '\t');
  const countyOf = (row: TableRow): string | null =>
    joined(context, row.get('county'), gazetteer.county(state, row.get('county')));
  const cities = table.filter((row) => row.get('level') === 'city');
  const counties = new Map(cities.map((row) => [row, countyOf(row) ?? '']));
  const listed = new Set([...counties].map(([row, county]) => `${row.get('fips')}/${county}`));
  const rows: RateRow[] = [];
  for (const row of table) {
    const [name, place] = [row.get('name'), row.get('fips')];
    const begins = listDate(row.get('effective_from'), DATE_MIN);
    report.read += 1;
    if (begins <= after) {
      report.drop(`${name} from ${row.get('effective_from')}`, 'held in another list');
    } else if (row.get('kind') !== 'exact') report.drop(name, 'a mean of several rates');
    else if (row.get('level') === 'county') rows.push(...countyRows(row, place, listed, context));
    else if (gazetteer.place(place) === undefined) {
      report.unplace(state, name, place, counties.get(row) ?? '');
    } else {
      // A city that is named in one county only has this rate in all its counties.
      const parts = cities
        .filter((other) => other.get('fips') === place)
        .map((other) => counties.get(other));
      const county = new Set(parts).size > 1 ? (counties.get(row) ?? '') : '';
      rows.push(rowOf(row, context, { level: 'city', county, place, name }));
    }
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Towns with a local option tax: town, rate_pct, effective_from, evidence. A date left empty is
 * not recorded, so the rate is held from the list's own date on. A city that is a town of its own
 * is listed under both codes, so that it is found with or without town boundaries.
 */

const KIND = / (CITY|TOWN)$/;

function same(place: PlaceFact, town: string): boolean {
  const names = [plainName(place.name), plainName(place.fullName)];
  if (names.includes(town)) return true;
  // "RUTLAND TOWN" is listed as RUTLAND beside RUTLAND CITY; a bare name never means the city.
  const isTown = place.geoid.length === 10 && town.endsWith(' TOWN');
  return isTown && names.includes(town.replace(KIND, ''));
}

/** Codes of a town: its own, and that of a city with the same extent. */
function codesOf(town: string, context: ListContext): readonly string[] {
  const { gazetteer, state } = context;
  const aliased = gazetteer.city(state, `#${town}`, '');
  if (aliased.kind === 'code') return aliased.code.split('+');
  const name = plainName(town);
  const towns = gazetteer.places(state).filter((place) => same(place, name));
  const exact = towns.filter((place) => plainName(place.fullName) === name);
  const city = KIND.test(name) ? name : `${name} CITY`;
  const cities = gazetteer
    .places(state)
    .filter((place) => place.geoid.length === 7 && plainName(place.fullName) === city);
  const chosen = exact.length > 0 ? exact : towns.filter((place) => place.geoid.length === 10);
  return [...new Set([...chosen, ...cities].map((place) => place.geoid))];
}

/**
 * A row for the time before a rate without a recorded first day, when it may have been in force.
 */
function undated(row: RateRow): RateRow {
  const note =
    `${row.name}: the first day of the local option tax is not recorded; the department's ` +
    'list with dates would fill it.';
  return { ...row, ...UNKNOWN_RATE, from: DATE_MIN, to: dayBefore(row.from), note };
}

/** Reads the list. */
export function readTownOption(text: string, context: ListContext): ListResult {
  const { state, asOf, report } = context;
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    const town = row.get('town');
    const codes = codesOf(town, context);
    if (codes.length === 0) {
      report.unplace(state, town, '', '');
      continue;
    }
    report.joined += 1;
    const rate = percentOf(row.get('rate_pct'), town);
    const began = row.get('effective_from');
    const from = listDate(began, asOf);
    for (const place of codes) {
      const listed = listedRow(context, rate, { level: 'city', place, name: town, from });
      if (began === '') rows.push(undated(listed));
      rows.push(listed);
    }
  }
  return { rows, members: [] };
}
