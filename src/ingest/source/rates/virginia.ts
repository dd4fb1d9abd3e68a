/**
 * Virginia's workbook of rates by county and independent city (sales-tax-rates.xlsx): a header in
 * the third row, fractions, county codes of three digits. What a locality levies is its total less
 * the state's part; the parts beside are not read, for the total is the law's.
 */
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, fractionOf, type ListContext, listDate, type ListResult, minus, textOption,
} from '../../rates/list.js';
import { readBelowTitles } from '../rows.js';

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
