/**
 * Iowa's workbook of the local option tax: A1 "Effective Jul 1, 2026", a header in the third row:
 * A County (the state's number), B County, C City, D Jurisdiction has LOST, E Unincorporated
 * Jurisdiction, F Jurisdiction LOST Rate (0.01, 0 or n/a), G Unincorporated LOST Rate, H Total
 * Rate, I LOST From, J Sunset Date (serial numbers of days). A city that is not listed has the rate
 * of its county's unincorporated area, which therefore stands as the county's here, and the listed
 * cities' instead of it.
 */
import { type DateInt, dayBefore } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, fractionOf, joinedCity, type ListContext, type ListResult,
} from '../../rates/list.js';
import { listedDay, sheetBelow, type SheetRow } from '../sheet.js';
import { countyOf } from './located-totals.js';

const COLUMNS = {
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
  const { titles, rows } = sheetBelow(text, COLUMNS);
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
