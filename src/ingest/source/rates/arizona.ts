/**
 * Arizona's rate table (TPT_RATETABLE_ALL_MMDDYYYY.csv): RegionCode, RegionName, BusinessCode,
 * BusinessCodesName, TaxRate (percent), TaxRateType, RateStartDate, RateEndDate (M/D/YYYY, open as
 * 12/31/9999). A row for each region and class of business; retail is 017. Counties have codes of
 * three letters, which the recipe lists, and their rates include the state's; codes of two letters
 * are cities, with the city's own part.
 * Other regions are reservations and special areas, which have no boundary here.
 */
import { type DateInt, dateOf } from '../../../tax/date.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, joined, joinedCity, type ListContext, listDate, listOption, type ListResult, minus,
  percentOf, textOption,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';

const RETAIL = /^0?17$/;

function dayOf(text: string, row: TableRow): DateInt {
  const found = /^(\d{1,2})\/(\d{1,2})\/(\d{4})\b/.exec(text);
  const [, month, day, year] = found ?? [];
  const date = found && dateOf(Number(year), Number(month), Number(day));
  if (date === null) throw new RangeError(`line ${row.line}: not a date: ${text}`);
  return listDate(String(date), DATE_OPEN);
}

function rowOf(row: TableRow, context: ListContext): RateRow | null {
  const { state, source, asOf, report, gazetteer } = context;
  const [code, name] = [row.get('RegionCode'), row.get('RegionName')];
  if (row.get('TaxRateType') !== 'Percent') {
    throw new RangeError(`line ${row.line}: a rate of the kind "${row.get('TaxRateType')}"`);
  }
  const rate = percentOf(row.get('TaxRate'), `line ${row.line}: ${name}`);
  const common = {
    state, place: '', county: '', name, code: '', basis: 'own' as const, source, asOf,
    from: dayOf(row.get('RateStartDate'), row), to: dayOf(row.get('RateEndDate'), row),
  };
  if (listOption(context, 'counties').includes(code)) {
    const listed = `${name.replace(/ county$/i, '')} County`;
    const county = joined(context, name, gazetteer.county(state, listed));
    const own = minus(rate, percentOf(textOption(context, 'state'), 'option state'));
    if (own < 0) throw new RangeError(`line ${row.line}: ${name} without the state's part`);
    return county === null ? null : { ...common, level: 'county', county, sales: own, use: own };
  }
  if (/^[A-Z]{2}$/.test(code)) {
    const place = joinedCity(context, name, gazetteer.city(state, name, ''), '');
    return place === null ? null : { ...common, level: 'city', place, sales: rate, use: rate };
  }
  report.drop(`${name} (${code})`, 'a region without a boundary');
  return null;
}

/** Reads the file. Options: `state`, its part in percent; `counties`, their region codes. */
export function readArizona(text: string, context: ListContext): ListResult {
  const retail = readTable(text, ',').filter((row) => RETAIL.test(row.get('BusinessCode')));
  if (retail.length === 0) throw new RangeError('it has no row of retail (017)');
  const rows = retail.map((row) => {
    context.report.read += 1;
    return rowOf(row, context);
  }).filter((row) => row !== null);
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
