/**
 * Lists with a publisher's code beside the name: state, level, name, code, fips, combined_pct,
 * local_pct, effective_from, as_of, source. Options: `basis` of city rows (own or total); `to`, the
 * last day of a schedule that has been replaced.
 */
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, joined, joinedCity, type ListContext, listDate, type ListResult, percentOf, textOption,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';

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
    rows.push({
      state: context.state, ...found, code: '', basis: total ? 'total' : 'own',
      sales: rate, use: rate, from: listDate(row.get('effective_from'), asOf), to,
      source: context.source, asOf,
    });
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
