/**
 * Rates of the members of Alaska's commission of remote sellers (ARSSTC-Sales-Tax-Rate-Sheet-
 * M-D-YY.xlsx): a title "As of M/D/YYYY", a header in the fourth row with the borough in columns A
 * to F and the city or taxing area in G to L, and M, the total. Fractions. A row without a city is
 * a borough outside its cities. In a city whose row lacks its borough's rate the city's stands
 * alone. The state levies nothing; who is no member is not in the list.
 */
import type { DateInt } from '../../../tax/date.js';
import { type Rate, sumRates } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, fractionOf, joined, joinedCity, type ListContext, type ListResult,
} from '../../rates/list.js';
import { listedDay, sheetBelow, type SheetRow } from '../workbook.js';

const COLUMNS = {
  A: 'Borough / Census Tract Name', B: 'Borough Tax Rate', C: 'Tax Filing Code',
  D: 'Date adopted Remote Sellers Code', E: 'Remote Sellers Tax Collection Start Date',
  F: 'Tax Rate Effective Date', G: 'City/Taxing Area', H: 'City / Taxing Area Sales Tax Rate',
  I: 'Tax Filing Code', J: 'Date adopted Remote Sellers Code',
  K: 'Remote Sellers Tax Collection Start Date', L: 'Tax Rate Effective Date',
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
  const rate = (column: string): Rate => (row.at(column) === '' ? 0 as Rate
    : fractionOf(row.at(column), where));
  const [borough, city, total] = [rate('B'), rate('H'), rate('M')];
  if (sumRates([borough, city]) !== total) {
    throw new RangeError(`${where}: ${row.at('B')} and ${row.at('H')} are not ${row.at('M')}`);
  }
  if (!/^\d{4,6}$/.test(row.at(row.at('G') === '' ? 'C' : 'I'))) {
    throw new RangeError(`${where}: without a filing code`);
  }
  return { row, borough, city, total };
}

/** Reads the list. @throws RangeError where it names no day, or a row does not add up. */
export function readAlaska(text: string, context: ListContext): ListResult {
  const { gazetteer, state, source, report } = context;
  const { titles, rows } = sheetBelow(text, COLUMNS);
  const [, day] = titles.map((title) => AS_OF.exec(title)).find((found) => found !== null) ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "As of M/D/YYYY"');
  const asOf = listedDay(day, 'As of');
  const members = rows.filter((row) => row.at('M') !== '').map(memberOf);
  if (members.length === 0) throw new RangeError('it lists no member');
  const boroughs = new Map(members.filter(({ row }) => row.at('G') === '')
    .map(({ row, borough }) => [row.at('A'), borough]));
  const since = (text_: string, where: string): DateInt =>
    (text_ === '' ? asOf : listedDay(text_, where));
  const made = members.map(({ row, borough, city, total }): RateRow | null => {
    report.read += 1;
    const [named, name, where] = [row.at('A'), row.at('G'), `row ${row.line}`];
    const match = gazetteer.county(state, named);
    const county = match.kind === 'code' ? match.code : '';
    const common = { state, code: '', county, source, asOf, to: DATE_OPEN };
    if (name === '') {
      const from = since(row.at('F'), where);
      return joined(context, named, match) === null ? null : { ...common, level: 'county',
        place: '', name: named, basis: 'own', sales: borough, use: borough, from };
    }
    const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
    if (place === null) return null;
    const alone = (boroughs.get(named) ?? 0) !== borough;
    const rate = alone ? total : city;
    const from = since(row.at('L'), where);
    // Some boroughs are listed as cities.
    if (place.length === 5) {
      return { ...common, level: 'county', county: place, place: '', name, basis: 'own',
        sales: total, use: total, from };
    }
    return { ...common, level: 'city', county: '', place, name, basis: alone ? 'sole' : 'own',
      sales: rate, use: rate, from };
  }).filter((row) => row !== null);
  return { rows: made.sort((a, b) => a.from - b.from), members: [] };
}
