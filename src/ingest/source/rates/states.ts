/**
 * State rates with history (state, fips, name, effective_from, effective_to, sales_rate_pct,
 * use_rate_pct, note) and Canadian provincial rates (province, name, federal_tax, federal_pct,
 * provincial_tax, provincial_pct, effective_from, effective_to).
 */
import type { RateRow } from '../../model.js';
import {
  DATE_MIN, DATE_OPEN, type ListContext, listDate, listOption, type ListResult, percentOf,
} from '../../rates/list.js';
import { readTable } from '../rows.js';

/**
 * Reads state rates. A state that levies nothing never did, so its row needs no first day; any
 * other first day left empty is a date not recorded. Option `skip`: states listed elsewhere.
 */
export function readStateRates(text: string, context: ListContext): ListResult {
  const { source, asOf, report } = context;
  const skip = new Set(listOption(context, 'skip'));
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    const state = row.get('state');
    if (skip.has(state)) {
      report.drop(state, 'listed in another source');
      continue;
    }
    const sales = percentOf(row.get('sales_rate_pct'), state);
    const use = percentOf(row.get('use_rate_pct'), state);
    const to = listDate(row.get('effective_to'), DATE_OPEN);
    const began = row.get('effective_from');
    if (began === '' && sales > 0) {
      report.drop(`${state} until ${row.get('effective_to')}`, 'no first day recorded');
      continue;
    }
    report.joined += 1;
    rows.push({
      state, level: 'state', county: '', place: '', name: row.get('name'), code: '', basis: 'own',
      sales, use, from: listDate(began, DATE_MIN), to, source, asOf,
    });
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/** Manitoba calls its provincial tax RST; on the wire a provincial sales tax is PST. */
const KINDS: Readonly<Record<string, string>> = { RST: 'PST' };

/** Reads provincial rates; the kind of tax stands in the code. */
export function readProvinces(text: string, context: ListContext): ListResult {
  const { source, asOf, report } = context;
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    report.joined += 1;
    for (const part of ['federal', 'provincial']) {
      const tax = row.get(`${part}_tax`);
      if (!tax) continue;
      const rate = percentOf(row.get(`${part}_pct`), row.get('province'));
      rows.push({
        state: `CA-${row.get('province')}`, level: 'state', county: '', place: '',
        name: row.get('name'), code: KINDS[tax] ?? tax, basis: 'own', sales: rate, use: rate,
        from: listDate(row.get('effective_from'), asOf),
        to: listDate(row.get('effective_to'), DATE_OPEN), source, asOf,
      });
    }
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
