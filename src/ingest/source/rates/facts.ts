/**
 * Rates and facts in the project's own tables, below datasets/facts. Rates: state, level, county,
 * place, name, code, basis, sales, use (decimal fractions), from, to (YYYY-MM-DD, "" for open),
 * source, as_of, note.
 */
import type { DateInt } from '../../../tax/date.js';
import { type Level, LEVELS } from '../../../tax/jurisdiction.js';
import { formatRate, type Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import type { DistrictMember } from '../../rates/facts.js';
import {
  DATE_MIN, DATE_OPEN, formatDate, fractionOf, type ListContext, listDate, type ListResult,
} from '../../rates/list.js';
import { readTable, type TableRow, writeTable } from '../rows.js';

/** Columns of a rate table. */
export const RATE_COLUMNS = [
  'state', 'level', 'county', 'place', 'name', 'code', 'basis', 'sales', 'use', 'from', 'to',
  'source', 'as_of', 'note',
];
/** Columns of a table of district members. */
export const MEMBER_COLUMNS = [
  'state', 'code', 'scope', 'county', 'place', 'except', 'from', 'to', 'source',
];

const BASES: readonly RateRow['basis'][] = ['own', 'total', 'sole', 'unknown'];
const SCOPES: readonly DistrictMember['scope'][] = ['state', 'county', 'remainder', 'place'];

/** One of a column's words; any other is an error of the file. */
export function oneOf<T extends string>(words: readonly T[], row: TableRow, column: string): T {
  const found = words.find((word) => word === row.get(column));
  if (found === undefined) throw new RangeError(`line ${row.line}: ${column}: ${row.get(column)}`);
  return found;
}

function dateText(date: DateInt, open: DateInt): string {
  return date === open ? '' : formatDate(date);
}

/** Reads a rate table; `sourceOf` gives a source's index by its name. */
export function readRateFacts(
  text: string,
  sourceOf: (name: string) => number,
): readonly RateRow[] {
  return readTable(text, '\t').map((row): RateRow => {
    const basis = oneOf(BASES, row, 'basis');
    const where = `line ${row.line}`;
    const rate = (column: string): Rate =>
      (basis === 'unknown' ? 0 as Rate : fractionOf(row.get(column), where));
    const level: Level = oneOf(LEVELS, row, 'level');
    return {
      state: row.get('state'), level, county: row.get('county'), place: row.get('place'),
      name: row.get('name'), code: row.get('code'), basis, sales: rate('sales'), use: rate('use'),
      from: listDate(row.get('from'), DATE_MIN), to: listDate(row.get('to'), DATE_OPEN),
      source: sourceOf(row.get('source')), asOf: listDate(row.get('as_of'), DATE_MIN),
      ...(basis === 'unknown' ? { note: row.get('note') } : {}),
    };
  });
}

/** Reads a rate table as a list of a recipe. */
export function readFactTable(text: string, { sourceOf, report }: ListContext): ListResult {
  const rows = readRateFacts(text, sourceOf);
  report.read = rows.length;
  report.joined = rows.length;
  return { rows, members: [] };
}

/** Writes a rate table. */
export function writeRateFacts(
  rows: readonly RateRow[],
  sourceName: (id: number) => string,
): string {
  return writeTable(RATE_COLUMNS, rows.map((row) => {
    const known = row.basis !== 'unknown';
    return [
      row.state, row.level, row.county, row.place, row.name, row.code, row.basis,
      known ? formatRate(row.sales) : '', known ? formatRate(row.use) : '',
      dateText(row.from, DATE_MIN), dateText(row.to, DATE_OPEN), sourceName(row.source),
      formatDate(row.asOf), row.note ?? '',
    ];
  }));
}

/** Reads a table of district members: `except` holds place codes between blanks. */
export function readMemberFacts(text: string): readonly DistrictMember[] {
  return readTable(text, '\t').map((row): DistrictMember => ({
    state: row.get('state'),
    code: row.get('code'),
    scope: oneOf(SCOPES, row, 'scope'),
    county: row.get('county'),
    place: row.get('place'),
    except: row.get('except').split(' ').filter((code) => code !== ''),
    from: listDate(row.get('from'), DATE_MIN),
    to: listDate(row.get('to'), DATE_OPEN),
  }));
}

/** Writes a table of district members. */
export function writeMemberFacts(members: readonly DistrictMember[], source: string): string {
  return writeTable(MEMBER_COLUMNS, members.map((member) => [
    member.state, member.code, member.scope, member.county, member.place,
    member.except.join(' '), dateText(member.from, DATE_MIN), dateText(member.to, DATE_OPEN),
    source,
  ]));
}
