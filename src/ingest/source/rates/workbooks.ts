/** Rate lists that states publish as workbooks: Florida, Iowa, Missouri, Utah, Virginia. */
import { type DateInt, dateOf, dayBefore } from '../../../tax/date.js';
import { parsePercent, parseRate, type Rate, sumRates } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, fractionOf, joined, joinedCity, type ListContext, listDate, type ListResult, minus,
  percentOf, textOption,
} from '../../rates/list.js';
import { readBelowTitles, splitRows } from '../rows.js';
import { listedDay, sheetBelow, type SheetRow } from '../workbook.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

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
  const { state, source, report, gazetteer } = context;
  const day = currentAsOf(text);
  const rows: RateRow[] = [];
  for (const [name = '', figure = ''] of splitRows(text, ',')) {
    const [, percent] = PERCENT.exec(figure.trim()) ?? [];
    if (percent === undefined) {
      // Only a title and the header stand above the counties, only notes below them.
      if (rows.length === 0 || figure.trim() === '') continue;
      throw new RangeError(`${name}: not a percentage: ${figure}`);
    }
    report.read += 1;
    const listed = name.trim().replace(/ county$/i, '');
    const county = joined(context, name, gazetteer.county(state, `${listed} County`));
    if (county === null) continue;
    const rate = percentOf(percent, name);
    rows.push({
      state, level: 'county', county, place: '', code: '', basis: 'own', sales: rate, use: rate,
      name: gazetteer.countyFact(county)?.fullName ?? name, from: day, to: DATE_OPEN,
      source, asOf: day,
    });
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
  A: 'County', B: 'County', C: 'City', D: 'Jurisdiction has LOST',
  E: 'Unincorporated Jurisdiction', F: 'Jurisdiction LOST Rate', G: 'Unincorporated LOST Rate',
  H: 'Total Rate', I: 'LOST From', J: 'Sunset Date',
};
const EFFECTIVE = /^Effective (\w+ \d{1,2}, \d{4})$/i;

/** The last day of a tax that ends on a day: a first of a month is the day it is gone. */
function lastDay(text: string, where: string): DateInt {
  if (text === '') return DATE_OPEN;
  const day = listedDay(text, where);
  return day % 100 === 1 ? dayBefore(day) : day;
}

function rowOf(row: SheetRow, listed: DateInt, context: ListContext): RateRow | null {
  const { gazetteer, report, state, source } = context;
  const where = `row ${row.line}: ${row.at('C')} in ${row.at('B')}`;
  const [has, rest] = [row.at('D'), row.at('E')];
  if (!/^(?:YES|NO)$/.test(has) || !/^(?:YES|NO)$/.test(rest)) {
    throw new RangeError(`${where}: "${has}" and "${rest}" are not YES or NO`);
  }
  const rate = has === 'YES' ? fractionOf(row.at(rest === 'YES' ? 'G' : 'F'), where) : 0 as Rate;
  const period = has === 'YES'
    ? { from: listedDay(row.at('I'), where), to: lastDay(row.at('J'), where) }
    : { from: listed, to: DATE_OPEN };
  const county = countyOf(row.at('B'), context);
  if (county === '') {
    report.miss(`${row.at('C')} in ${row.at('B')}`);
    return null;
  }
  const common = {
    state, county, code: '', sales: rate, use: rate, ...period, source, asOf: listed,
  };
  if (rest === 'YES') {
    report.joined += 1;
    const name = gazetteer.countyFact(county)?.fullName ?? row.at('B');
    return { ...common, level: 'county', place: '', name, basis: 'own' };
  }
  const name = row.at('C');
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  return place === null ? null : { ...common, level: 'city', place, name, basis: 'sole' };
}

/** Reads the list. @throws RangeError where it names no day, or a row says neither YES nor NO. */
export function readIowa(text: string, context: ListContext): ListResult {
  const { titles, rows } = sheetBelow(text, IOWA_COLUMNS);
  const [, day] = EFFECTIVE.exec(titles[0] ?? '') ?? [];
  if (day === undefined) throw new RangeError(`its layout is another: A1 is "${titles[0] ?? ''}"`);
  const listed = listedDay(day, 'A1');
  const made = rows.filter((row) => row.at('B') !== '').map((row) => {
    context.report.read += 1;
    return rowOf(row, listed, context);
  }).filter((row) => row !== null);
  if (made.length === 0) throw new RangeError('it lists no jurisdiction');
  return { rows: made.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Missouri's quarterly workbook ("Sales and Use Tax Rate Chart"): the header stands below titles,
 * in a row that changes; B Jurisdiction Name, C Jurisdiction Code, D Sales Tax Rate (0000), E Use
 * Tax Rate (0000)(0010), then food and other goods. Fractions or "5.9750%", totals with the state's
 * part. A code is CCCCC-KKK-SSS: city (00000 is the county outside cities), county by the state's
 * own number, and the districts that apply (000 for none), which have no boundary here.
 */

const COLUMNS = {
  B: 'Jurisdiction Name', C: 'Jurisdiction Code', D: 'Sales Tax Rate (0000)',
  E: 'Use Tax Rate (0000)(0010)',
};
const MISSOURI_CODE = /^(\d{5})-(\d{3})-(\d{3})$/;
const NO_CITY = '00000';
const NO_DISTRICT = '000';

function rateOf(row: SheetRow, column: string): Rate {
  const text = row.at(column);
  const rate = text.endsWith('%') ? parsePercent(text.slice(0, -1).trim()) : parseRate(text);
  if (rate === null) throw new RangeError(`row ${row.line}: not a rate: ${text}`);
  return rate;
}

/** "KANSAS CITY JACKSON COUNTY" names its county behind the city, unless it is all the name is. */
function cityName(listed: string, county: string): string {
  const name = listed.replaceAll(/\s+/g, ' ').replace(/\s*\(.*\)$/, '');
  const end = ` ${county}`;
  return name.toUpperCase().endsWith(end.toUpperCase()) ? name.slice(0, -end.length) : name;
}

/** Reads the list. Options: `state`, its part in percent; `from` and `to`, days it speaks for. */
export function readMissouri(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const period = {
    from: listDate(textOption(context, 'from'), context.asOf),
    to: listDate(textOption(context, 'to'), DATE_OPEN),
  };
  const rows = sheetBelow(text, COLUMNS).rows.filter((row) => row.at('C') !== '');
  const counties = new Map<string, string>();
  for (const row of rows) {
    const [, city, county = '', district] = MISSOURI_CODE.exec(row.at('C')) ?? [];
    if (city === undefined) throw new RangeError(`row ${row.line}: no code: ${row.at('C')}`);
    if (city === NO_CITY && district === NO_DISTRICT) counties.set(county, row.at('B'));
  }
  const located = rows.flatMap((row): readonly Located[] => {
    const [, city = '', number = '', district = ''] = MISSOURI_CODE.exec(row.at('C')) ?? [];
    const listed = counties.get(number) ?? '';
    const [county, name] = [countyOf(listed, context), cityName(row.at('B'), listed)];
    const [sales, use] = [rateOf(row, 'D'), rateOf(row, 'E')];
    if (district !== NO_DISTRICT) {
      context.report.drop(`${name} ${row.at('C')}`, 'districts without a boundary');
      return [];
    }
    if (city === NO_CITY && county === '') {
      context.report.miss(row.at('B'));
      return [];
    }
    return [{
      where: `row ${row.line}`, name, county, kind: city === NO_CITY ? 'county' : 'city',
      sales, use,
    }];
  });
  return totalRates(located, floor, period, context);
}

/*
 * Utah's workbook of combined rates (YYqNcombined.xlsx): a cell "Rates in effect as of <Month> 1,
 * <year>", then A Location, C Code (NN-NNN; NN-000 is a county outside its cities), E ST*, G to Y a
 * levy each, Z Sales Rate; fractions, and the levies add up to it. A second header below begins
 * other taxes.
 */

const UTAH_COLUMNS = { A: 'Location', C: 'Code', E: 'ST*', Z: 'Sales Rate' };
const LEVIES = [...'EGHIJKLMNOPQRSTUVWXY'];
const UTAH_CODE = /^(\d{2})-(\d{3})$/;
const IN_EFFECT = /rates in effect as of\s+(\w+ \d{1,2}, ?\d{4})/i;

interface Listed {
  readonly row: SheetRow;
  readonly county: string;
  readonly isCounty: boolean;
}

function totalOf({ row }: Listed): Rate {
  const where = `row ${row.line}: ${row.at('A')}`;
  const total = fractionOf(row.at('Z'), where);
  const levies = LEVIES.filter((column) => row.at(column) !== '')
    .map((column) => fractionOf(row.at(column), where));
  if (sumRates(levies) !== total) throw new RangeError(`${where}: its levies are not its total`);
  return total;
}

/** Reads the list. @throws RangeError where it names no day, or levies do not add up. */
export function readUtah(text: string, context: ListContext): ListResult {
  const { titles, rows } = sheetBelow(text, UTAH_COLUMNS);
  const [, day] = titles.map((title) => IN_EFFECT.exec(title)).find((found) => found !== null)
    ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "Rates in effect as of"');
  const end = rows.findIndex((row) => row.at('A') === UTAH_COLUMNS.A);
  const listed = (end < 0 ? rows : rows.slice(0, end)).flatMap((row): readonly Listed[] => {
    const [, county, place] = UTAH_CODE.exec(row.at('C')) ?? [];
    if (county !== undefined) return [{ row, county, isCounty: place === '000' }];
    if (row.at('C') === '' && row.at('Z') === '') return [];
    throw new RangeError(`row ${row.line}: ${row.at('A')}: no code: ${row.at('C')}`);
  });
  const counties = new Map(listed.filter(({ isCounty }) => isCounty)
    .map(({ county, row }) => [county, countyOf(row.at('A'), context)]));
  const located = listed.flatMap((one): readonly Located[] => {
    const [name, county] = [one.row.at('A'), counties.get(one.county) ?? ''];
    const rate = totalOf(one);
    if (one.isCounty && county === '') {
      context.report.miss(name);
      return [];
    }
    return [{
      where: `row ${one.row.line}`, name, county, kind: one.isCounty ? 'county' : 'city',
      sales: rate, use: rate,
    }];
  });
  const state = fractionOf(listed[0]?.row.at('E') ?? '', 'ST*');
  return totalRates(located, state, { from: listedDay(day, 'in effect'), to: DATE_OPEN }, context);
}

/*
 * Virginia's workbook of rates by county and independent city (sales-tax-rates.xlsx): a header in
 * the third row, fractions, county codes of three digits. What a locality levies is its total less
 * the state's part; the parts beside are not read, for the total is the law's.
 */

/** Columns without which the workbook is another. */
export const VIRGINIA_COLUMNS = [
  'State Code (FIPS)', 'County or City Code (FIPS)', 'Locality Name', 'Total General Sales Tax',
];

/** Reads the list. Option `from`: the first day it speaks for; it names none itself. */
export function readVirginia(text: string, context: ListContext): ListResult {
  const { state, source, asOf, report, gazetteer } = context;
  const from = listDate(textOption(context, 'from'), asOf);
  const floor = fractionOf(textOption(context, 'state'), 'option state');
  const rows: RateRow[] = [];
  for (const row of readBelowTitles(text, VIRGINIA_COLUMNS)) {
    const [fips, code] = [row.get('State Code (FIPS)'), row.get('County or City Code (FIPS)')];
    // Notes stand below the table, in the first column.
    if (!/^\d{1,2}$/.test(fips) || code === '') continue;
    report.read += 1;
    const county = `${fips.padStart(2, '0')}${code.padStart(3, '0')}`;
    const fact = gazetteer.countyFact(county);
    const label = `${row.get('Locality Name')} (${county})`;
    if (!fact) {
      report.miss(label);
      continue;
    }
    report.joined += 1;
    const total = fractionOf(row.get('Total General Sales Tax'), `row ${row.line}: ${label}`);
    const rate = minus(total, floor);
    if (rate < 0) throw new RangeError(`row ${row.line}: ${label}: a total below the state's part`);
    rows.push({
      state, level: 'county', county, place: '', name: fact.fullName, code: '', basis: 'own',
      sales: rate, use: rate, from, to: DATE_OPEN, source, asOf,
    });
  }
  if (rows.length === 0) throw new RangeError('it lists no locality');
  return { rows, members: [] };
}
