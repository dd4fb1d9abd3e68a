/**
 * Alabama's text file of local rates (taxrates_current.csv): a header, one row for each locality,
 * kind of tax and class of goods; rates in percent, the locality's own part alone; days as
 * YYYYMMDD. Sales tax (ST) on general goods (GENER) is read. Codes of 7... are counties, of 9...
 * cities, with the county a city's row is for. A police jurisdiction is a band outside its city
 * with a rate of its own, and no boundary of it is published: it is told, not read.
 */
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, joined, joinedCity, type ListContext, listDate, type ListResult, percentOf,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';

function countyName(name: string): string {
  return `${name.replace(/\s+(?:CO\.?|COUNTY)$/i, '')} County`;
}

type Where = Pick<RateRow, 'level' | 'county' | 'place' | 'name'>;

function whereOf(
  row: TableRow, counties: ReadonlyMap<string, string>, context: ListContext,
): Where | null {
  const { gazetteer, state, report } = context;
  const [code, name] = [row.get('Locality Code'), row.get('Locality Name')];
  if (/^7\d{3}$/.test(code)) {
    const county = joined(context, name, gazetteer.county(state, countyName(name)));
    return county === null ? null : { level: 'county', county, place: '', name };
  }
  if (!/^9\d{3}$/.test(code)) throw new RangeError(`line ${row.line}: no locality code "${code}"`);
  const county = counties.get(row.get('County Code')) ?? '';
  if (county === '' && row.get('County Code') !== '') {
    report.miss(`${name} in ${row.get('County Code')}`);
    return null;
  }
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  return place === null ? null : { level: 'city', county, place, name };
}

/** Reads the file. @throws RangeError naming the line that cannot be read. */
export function readAlabama(text: string, context: ListContext): ListResult {
  const { state, source, asOf, report, gazetteer } = context;
  const table = readTable(text, ',').filter((row) =>
    row.get('TaxType') === 'ST' && row.get('Rate Type') === 'GENER');
  if (table.length === 0) throw new RangeError('it lists no general sales tax (ST, GENER)');
  const counties = new Map<string, string>();
  for (const row of table) {
    if (!row.get('Locality Code').startsWith('7')) continue;
    const match = gazetteer.county(state, countyName(row.get('Locality Name')));
    if (match.kind === 'code') counties.set(row.get('Locality Code'), match.code);
  }
  const rows: RateRow[] = [];
  for (const row of table) {
    report.read += 1;
    const where = whereOf(row, counties, context);
    if (where === null) continue;
    const rate = percentOf(row.get('Rate'), `line ${row.line}`);
    rows.push({
      state, ...where, code: '', basis: 'own', sales: rate, use: rate, source, asOf,
      from: listDate(row.get('Active Date'), asOf),
      to: listDate(row.get('Inactive Date'), DATE_OPEN),
    });
    if (row.get('PJ') === 'Y') {
      report.drop(`${where.name} police jurisdiction`, 'no boundary of it is published');
    }
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
