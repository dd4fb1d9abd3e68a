/**
 * Illinois' machine-readable rates (each January and July): state, level, name, code, fips,
 * combined_pct, local_pct, effective_from, as_of, source. Figures are legal totals; a city has a
 * row per county, named in brackets. Cities whose rate varies by address, or that have a second,
 * lower rate in part, are listed and unknown.
 */
import { FIVE_DIGITS } from '../../../base/patterns.js';
import type { RateRow } from '../../model.js';
import {
  joined,
  joinedCity,
  type ListContext,
  listDate,
  listedRow,
  type ListResult,
  percentOf,
  unknownRow,
} from '../../rates/list.js';
import { readTable, type TableRow, withoutMark } from '../table-text.js';

const NAME = /^(.*?) \(([^()]+)\)(?: \(([^()]+)\))?$/;

interface Line {
  readonly row: TableRow;
  readonly level: 'county' | 'city';
  readonly name: string;
  readonly county: string;
  readonly place: string;
  /** The part in which the rate differs, such as "lower-rate part". */
  readonly part: string;
}

/** Rates outside cities by "Name County", with their first days. */
type Around = ReadonlyMap<string, { readonly figure: string; readonly from: string }>;

/** Whether a city always has the same rate as the land around it. */
function isAsAround(row: TableRow, county: string, around: Around): boolean {
  const outside = around.get(county);
  const figure = row.get('combined_pct');
  return (
    outside !== undefined &&
    figure !== '' &&
    Number(figure) === Number(outside.figure) &&
    row.get('effective_from') <= outside.from
  );
}

function lineOf(row: TableRow, around: Around, context: ListContext): Line | null {
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
  const city = gazetteer.city(state, name, county);
  if (city.kind === 'unmatched' && isAsAround(row, `${within} County`, around)) {
    report.drop(listed, 'no boundary of it is held, and it is taxed as its county is');
    return null;
  }
  const place = joinedCity(context, name, city, county);
  if (place === null || !county) return null;
  return { row, level: 'city', name, county, place, part };
}

function rowOf(line: Line, divided: boolean, context: ListContext): RateRow {
  const { row, level, name, county, place } = line;
  const asOf = listDate(row.get('as_of'), context.asOf);
  const listed = { level, county, place, name, asOf };
  const figure = row.get('combined_pct');
  if (figure === '' || divided) {
    const why = figure === '' ? 'its rate varies by address' : 'part of it has a lower rate';
    const note =
      `Illinois: ${name}: ${why}, as the state's list itself says; the state's ` +
      'address file would fill it.';
    return unknownRow(context, { ...listed, note });
  }
  const rate = percentOf(figure, name);
  const from = listDate(row.get('effective_from'), asOf);
  return listedRow(context, rate, { ...listed, basis: 'total', from });
}

/** In a divided county, listed cities have known totals; only its remainder is unknown. */
function remainderGap(line: Line, context: ListContext): RateRow {
  const row = rowOf({ ...line, level: 'city' }, true, context);
  return { ...row, level: 'district', place: '' };
}

/** Reads the list. */
export function readIllinois(text: string, context: ListContext): ListResult {
  return illinoisRates(readTable(text, '\t'), context);
}

/** The rates of a table in this layout. */
function illinoisRates(table: readonly TableRow[], context: ListContext): ListResult {
  const around: Around = new Map(
    table
      .filter((row) => row.get('level') === 'county')
      .map((row) => [
        row.get('name'),
        { figure: row.get('combined_pct'), from: row.get('effective_from') },
      ]),
  );
  const lines = table.map((row) => lineOf(row, around, context)).filter((line) => line !== null);
  const parts = new Set(
    lines.filter((line) => line.part !== '').map((line) => `${line.place}/${line.county}`),
  );
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

/*
 * Illinois' machine-readable rates by county and municipality (ordmache-current.txt): fixed
 * width, no header. Columns from zero: 0 location id NNN-NNNN-N (NNN-5000-N is a county's
 * unincorporated area), 10 name, 35 county, 60 Y where the rate varies by address, 61 first day
 * (YYYYMMDD), then rates of five digits (06250 is 6.25 percent): 69 general merchandise, 79 the
 * same where it is lower in part. Totals, the state's part included. What stands behind is other
 * goods and the rates before.
 */

const ID = /^\d{3}-\d{4}-\d$/;
const COUNTY = /^\d{3}-5000-\d$/;
const LINE_CHARS_MIN = 84;

/** "06250" → "6.250" percent. */
function percentText(digits: string): string {
  return `${digits.slice(0, 2)}.${digits.slice(2)}`.replace(/^0(?=\d)/, '');
}

function tableRow(line: number, fields: Readonly<Record<string, string>>): TableRow {
  return { line, get: (column) => fields[column] ?? '' };
}

/** Names in capitals become mixed case; others are unchanged. */
function titled(listed: string): string {
  const name = listed.trim();
  if (name !== name.toUpperCase()) return name;
  return name.toLowerCase().replace(/(^|[\s'.-])\p{L}/gu, (start) => start.toUpperCase());
}

/** The rows of a line: for its rate, and for the lower one that part of it has. */
function rowsOf(text: string, line: number, context: ListContext): readonly TableRow[] {
  const field = (from: number, to: number): string => text.slice(from, to).trim();
  const [id, name, county] = [field(0, 10), titled(field(10, 35)), titled(field(35, 60))];
  const [flag, from, high, low] = [field(60, 61), field(61, 69), field(69, 74), field(79, 84)];
  const right =
    text.length >= LINE_CHARS_MIN &&
    ID.test(id) &&
    /^[YN ]?$/.test(flag) &&
    /^\d{8}$/.test(from) &&
    FIVE_DIGITS.test(high) &&
    FIVE_DIGITS.test(low);
  if (!right) throw new RangeError(`line ${line} is none of its layout: ${text.slice(0, 90)}`);
  if (county === '') {
    context.report.drop(`${id} ${name}`, 'no county or municipality');
    return [];
  }
  const isCounty = COUNTY.test(id);
  const listed = isCounty ? `${county} County` : `${name} (${county})`;
  const fields = (figure: string, part: string): TableRow =>
    tableRow(line, {
      level: isCounty ? 'county' : 'city',
      name: `${listed}${part}`,
      effective_from: from,
      combined_pct: figure,
    });
  if (flag === 'Y') return [fields('', '')];
  return [
    fields(percentText(high), ''),
    ...(high === low ? [] : [fields(percentText(low), ' (lower-rate part)')]),
  ];
}

/** Reads the file. @throws RangeError naming the line that is laid out otherwise. */
export function readIllinoisOrdinary(text: string, context: ListContext): ListResult {
  const seen = new Set<string>();
  const rows = withoutMark(text)
    .split(/\r?\n/)
    .flatMap((line, index) => {
      // A location may be listed twice with the same rates.
      if (line.trim() === '' || seen.has(line.slice(0, LINE_CHARS_MIN))) return [];
      seen.add(line.slice(0, LINE_CHARS_MIN));
      return rowsOf(line, index + 1, context);
    });
  if (rows.length === 0) throw new RangeError('it lists no location');
  return illinoisRates(rows, context);
}
