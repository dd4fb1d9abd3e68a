/**
 * Illinois' machine-readable rates (each January and July): state, level, name, code, fips,
 * combined_pct, local_pct, effective_from, as_of, source. Figures are legal totals; a city has a
 * row per county, named in brackets. Cities whose rate varies by address, or that have a second,
 * lower rate in part, are listed and unknown.
 */
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_MIN, DATE_OPEN, joined, joinedCity, type ListContext, listDate, type ListResult, percentOf,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';

const NAME = /^(.*?) \(([^()]+)\)(?: \(([^()]+)\))?$/;

interface Line {
  readonly row: TableRow;
  readonly level: 'county' | 'city';
  readonly name: string;
  readonly county: string;
  readonly place: string;
  /** "lower-rate part" and the like. */
  readonly part: string;
}

function lineOf(row: TableRow, context: ListContext): Line | null {
  const { gazetteer, state, report } = context;
  const listed = row.get('name');
  report.read += 1;
  const [, name = listed, within = '', part = ''] = NAME.exec(listed) ?? [];
  if (row.get('level') === 'county') {
    const isPart = within !== '';
    const code = row.get('fips') || joined(context, listed, gazetteer.county(state, name));
    if (!code) return null;
    if (row.get('fips')) report.joined += 1;
    return { row, level: 'county', name, county: code, place: '', part: isPart ? within : '' };
  }
  const match = gazetteer.county(state, `${within} County`);
  const county = match.kind === 'code' ? match.code : '';
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  if (place === null || !county) return null;
  return { row, level: 'city', name, county, place, part };
}

function rowOf(line: Line, divided: boolean, context: ListContext): RateRow {
  const { row, level, name, county, place } = line;
  const asOf = listDate(row.get('as_of'), context.asOf);
  const common = {
    state: context.state, level, county, place, name, code: '', to: DATE_OPEN,
    source: context.source, asOf,
  };
  const figure = row.get('combined_pct');
  if (figure === '' || divided) {
    const zero = 0 as Rate;
    const why = figure === '' ? 'its rate varies by address' : 'part of it has a lower rate';
    const note = `Illinois: ${name}: ${why}, as the state's list itself says; the state's `
      + 'address file would fill it.';
    return { ...common, basis: 'unknown', sales: zero, use: zero, from: DATE_MIN, note };
  }
  const rate = percentOf(figure, name);
  const from = listDate(row.get('effective_from'), asOf);
  return { ...common, basis: 'total', sales: rate, use: rate, from };
}

/** A divided county is known where its cities list their totals: only its remainder is open. */
function remainderGap(line: Line, context: ListContext): RateRow {
  const row = rowOf({ ...line, level: 'city' }, true, context);
  return { ...row, level: 'district', place: '' };
}

/** Reads the list. */
export function readIllinois(text: string, context: ListContext): ListResult {
  return illinoisRates(readTable(text, '\t'), context);
}

/** Rates of rows of the layout above. */
export function illinoisRates(table: readonly TableRow[], context: ListContext): ListResult {
  const lines = table.map((row) => lineOf(row, context))
    .filter((line) => line !== null);
  const parts = new Set(lines.filter((line) => line.part !== '')
    .map((line) => `${line.place}/${line.county}`));
  const rows: RateRow[] = [];
  for (const line of lines.filter((entry) => entry.part === '')) {
    const divided = parts.has(`${line.place}/${line.county}`);
    rows.push(rowOf(line, divided && line.level === 'city', context));
    if (divided && line.level === 'county') rows.push(remainderGap(line, context));
  }
  const main = new Set(rows.map((row) => `${row.place}/${row.county}`));
  for (const line of lines.filter((entry) => entry.part !== '')) {
    const { name, part, place, county } = line;
    if (!main.has(`${place}/${county}`)) rows.push(rowOf(line, true, context));
    context.report.drop(`${name} (${part})`, 'a second rate of the same area');
  }
  return { rows, members: [] };
}
