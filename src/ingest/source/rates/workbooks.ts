/** Rate lists that are workbooks of each place's own rates: Alaska, Florida, Iowa. */
import { type DateInt, dateOf, dayBefore } from '../../../tax/date.js';
import { type Rate, RATE_ZERO, sumRates } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN,
  fractionOf,
  joined,
  joinedCity,
  type ListContext,
  listedRow,
  type ListResult,
  percentOf,
} from '../../rates/list.js';
import { splitRows } from '../table-text.js';
import { listedDay, sheetBelow, type SheetRow } from '../workbook.js';
import { countyOf } from './located-totals.js';

/*
 * Florida's workbook of discretionary sales surtaxes (DiscretionarySalesSurtaxRates): the first
 * cell of a row names one of the 67 counties, the second its surtax as text ("1.5%"). A footnote
 * says "Rates shown above are current as of M/D/YYYY", which is the first day they are taken for.
 */

const CURRENT = /current as of (\d{1,2})\/(\d{1,2})\/(\d{4})/i;
const PERCENT = /^(\d+(?:\.\d+)?)\s*%$/;

function currentAsOf(text: string): DateInt {
  const found = CURRENT.exec(text);
  const [, month, day, year] = found ?? [];
  const date = found && dateOf(Number(year), Number(month), Number(day));
  if (date === null) throw new RangeError('its layout is another: no "current as of M/D/YYYY"');
  return date;
}

/** Reads the list. @throws RangeError where it lacks its day, or lists no county. */
export function readFlorida(text: string, context: ListContext): ListResult {
  const { state, report, gazetteer } = context;
  const day = currentAsOf(text);
  const rows: RateRow[] = [];
  for (const [name = '', figure = ''] of splitRows(text, ',')) {
    const [, percent] = PERCENT.exec(figure.trim()) ?? [];
    if (percent === undefined) {
      // Rows without a rate: a title and the header above the counties, and notes below them.
      if (rows.length === 0 || figure.trim() === '') continue;
      throw new RangeError(`${name}: not a percentage: ${figure}`);
    }
    report.read += 1;
    const listed = name.trim().replace(/ county$/i, '');
    const county = joined(context, name, gazetteer.county(state, `${listed} County`));
    if (county === null) continue;
    const rate = percentOf(percent, name);
    const full = gazetteer.countyFact(county)?.fullName ?? name;
    rows.push(
      listedRow(context, rate, { level: 'county', county, name: full, from: day, asOf: day }),
    );
  }
  if (rows.length === 0) throw new RangeError('its layout is another: it lists no county');
  return { rows, members: [] };
}

/*
 * Iowa's workbook of the local option tax: A1 "Effective Jul 1, 2026", a header in the third row:
 * A County (the state's number), B County, C City, D Jurisdiction has LOST, E Unincorporated
 * Jurisdiction, F Jurisdiction LOST Rate (0.01, 0 or n/a), G Unincorporated LOST Rate, H Total
 * Rate, I LOST From, J Sunset Date (serial numbers of days). A city that is not listed has the rate
 * of its county's unincorporated area, which therefore stands as the county's here, and the listed
 * cities' instead of it.
 */

const IOWA_COLUMNS = {
  A: 'County',
  B: 'County',
  C: 'City',
  D: 'Jurisdiction has LOST',
  E: 'Unincorporated Jurisdiction',
  F: 'Jurisdiction LOST Rate',
  G: 'Unincorporated LOST Rate',
  H: 'Total Rate',
  I: 'LOST From',
  J: 'Sunset Date',
};
const EFFECTIVE = /^Effective (\w+ \d{1,2}, \d{4})$/i;

/**
 * The last day of a tax by its sunset date. If that is the first of a month, the tax is no longer
 * levied on it.
 */
function lastDay(text: string, where: string): DateInt {
  if (text === '') return DATE_OPEN;
  const day = listedDay(text, where);
  return day % 100 === 1 ? dayBefore(day) : day;
}

function rowOf(row: SheetRow, listed: DateInt, context: ListContext): RateRow | null {
  const { gazetteer, report, state } = context;
  const where = `row ${row.line}: ${row.at('C')} in ${row.at('B')}`;
  const [has, rest] = [row.at('D'), row.at('E')];
  if (!/^(?:YES|NO)$/.test(has) || !/^(?:YES|NO)$/.test(rest)) {
    throw new RangeError(`${where}: "${has}" and "${rest}" are not YES or NO`);
  }
  const rate = has === 'YES' ? fractionOf(row.at(rest === 'YES' ? 'G' : 'F'), where) : RATE_ZERO;
  const period =
    has === 'YES'
      ? { from: listedDay(row.at('I'), where), to: lastDay(row.at('J'), where) }
      : { from: listed, to: DATE_OPEN };
  const county = countyOf(row.at('B'), context);
  if (county === '') {
    report.miss(`${row.at('C')} in ${row.at('B')}`);
    return null;
  }
  const common = { county, ...period, asOf: listed };
  if (rest === 'YES') {
    report.joined += 1;
    const name = gazetteer.countyFact(county)?.fullName ?? row.at('B');
    return listedRow(context, rate, { ...common, level: 'county', name });
  }
  const name = row.at('C');
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  if (place === null) return null;
  return listedRow(context, rate, { ...common, level: 'city', place, name, basis: 'sole' });
}

/** Reads the list. @throws RangeError where it names no day, or a row says neither YES nor NO. */
export function readIowa(text: string, context: ListContext): ListResult {
  const { titles, rows } = sheetBelow(text, IOWA_COLUMNS);
  const [, day] = EFFECTIVE.exec(titles[0] ?? '') ?? [];
  if (day === undefined) throw new RangeError(`its layout is another: A1 is "${titles[0] ?? ''}"`);
  const listed = listedDay(day, 'A1');
  const made = rows
    .filter((row) => row.at('B') !== '')
    .map((row) => {
      context.report.read += 1;
      return rowOf(row, listed, context);
    })
    .filter((row) => row !== null);
  if (made.length === 0) throw new RangeError('it lists no jurisdiction');
  return { rows: made.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Rates of the members of Alaska's commission of remote sellers (ARSSTC-Sales-Tax-Rate-Sheet-
 * M-D-YY.xlsx): a title "As of M/D/YYYY", a header in the fourth row with the borough in columns A
 * to F and the city or taxing area in G to L, and M, the total. Fractions. A row without a city is
 * a borough outside its cities. In a city whose row lacks its borough's rate the city's stands
 * alone. The state levies nothing; who is no member is not in the list.
 */

const ALASKA_COLUMNS = {
  A: 'Borough / Census Tract Name',
  B: 'Borough Tax Rate',
  C: 'Tax Filing Code',
  D: 'Date adopted Remote Sellers Code',
  E: 'Remote Sellers Tax Collection Start Date',
  F: 'Tax Rate Effective Date',
  G: 'City/Taxing Area',
  H: 'City / Taxing Area Sales Tax Rate',
  I: 'Tax Filing Code',
  J: 'Date adopted Remote Sellers Code',
  K: 'Remote Sellers Tax Collection Start Date',
  L: 'Tax Rate Effective Date',
  M: 'Sales Tax Rate Total',
};
const AS_OF = /As of\s+(\d{1,2}\/\d{1,2}\/\d{4})/i;

interface Member {
  readonly row: SheetRow;
  readonly borough: Rate;
  readonly city: Rate;
  readonly total: Rate;
}

function memberOf(row: SheetRow): Member {
  const where = `row ${row.line}`;
  const rate = (column: string): Rate =>
    row.at(column) === '' ? RATE_ZERO : fractionOf(row.at(column), where);
  const [borough, city, total] = [rate('B'), rate('H'), rate('M')];
  if (sumRates([borough, city]) !== total) {
    throw new RangeError(`${where}: ${row.at('B')} and ${row.at('H')} are not ${row.at('M')}`);
  }
  if (!/^\d{4,6}$/.test(row.at(row.at('G') === '' ? 'C' : 'I'))) {
    throw new RangeError(`${where}: without a filing code`);
  }
  return { row, borough, city, total };
}

/**
 * The row of a member, with its rate from the day in the row or the list's; null where it matches
 * no place.
 */
function alaskaRow(
  { row, borough, city, total }: Member,
  boroughs: ReadonlyMap<string, Rate>,
  asOf: DateInt,
  context: ListContext,
): RateRow | null {
  const { gazetteer, state } = context;
  const since = (text: string, where: string): DateInt =>
    text === '' ? asOf : listedDay(text, where);
  const [named, name, where] = [row.at('A'), row.at('G'), `row ${row.line}`];
  const match = gazetteer.county(state, named);
  const county = match.kind === 'code' ? match.code : '';
  if (name === '') {
    const from = since(row.at('F'), where);
    return joined(context, named, match) === null
      ? null
      : listedRow(context, borough, { level: 'county', county, name: named, from, asOf });
  }
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  if (place === null) return null;
  const alone = (boroughs.get(named) ?? 0) !== borough;
  const rate = alone ? total : city;
  const from = since(row.at('L'), where);
  // Some boroughs are listed as cities.
  if (place.length === 5) {
    return listedRow(context, total, { level: 'county', county: place, name, from, asOf });
  }
  const basis = alone ? 'sole' : 'own';
  return listedRow(context, rate, { level: 'city', place, name, basis, from, asOf });
}

/** Reads the list. @throws RangeError where it names no day, or a row does not add up. */
export function readAlaska(text: string, context: ListContext): ListResult {
  const { titles, rows } = sheetBelow(text, ALASKA_COLUMNS);
  const [, day] = titles.map((title) => AS_OF.exec(title)).find((found) => found !== null) ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "As of M/D/YYYY"');
  const asOf = listedDay(day, 'As of');
  const members = rows.filter((row) => row.at('M') !== '').map(memberOf);
  if (members.length === 0) throw new RangeError('it lists no member');
  const boroughs = new Map(
    members
      .filter(({ row }) => row.at('G') === '')
      .map(({ row, borough }) => [row.at('A'), borough]),
  );
  const made = members
    .map((member) => {
      context.report.read += 1;
      return alaskaRow(member, boroughs, asOf, context);
    })
    .filter((row) => row !== null);
  return { rows: made.sort((a, b) => a.from - b.from), members: [] };
}
