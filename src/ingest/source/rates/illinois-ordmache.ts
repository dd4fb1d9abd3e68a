/**
 * Illinois' machine-readable rates by county and municipality (ordmache-current.txt): fixed width,
 * no header. Columns from zero: 0 location id NNN-NNNN-N (NNN-5000-N is a county's unincorporated
 * area), 10 name, 35 county, 60 Y where the rate varies by address, 61 first day (YYYYMMDD), then
 * rates of five digits (06250 is 6.25 percent): 69 general merchandise, 79 the same where it is
 * lower in part. Totals, the state's part included. What stands behind is other goods and the
 * rates before.
 */
import type { ListContext, ListResult } from '../../rates/list.js';
import type { TableRow } from '../rows.js';
import { illinoisRates } from './illinois.js';

const ID = /^\d{3}-\d{4}-\d$/;
const COUNTY = /^\d{3}-5000-\d$/;
const RATE = /^\d{5}$/;
const LINE_CHARS_MIN = 84;

/** "06250" → "6.250" percent. */
function percentText(digits: string): string {
  return `${digits.slice(0, 2)}.${digits.slice(2)}`.replace(/^0(?=\d)/, '');
}

function rowOf(line: number, fields: Readonly<Record<string, string>>): TableRow {
  return { line, get: (column) => fields[column] ?? '' };
}

/** Names in capitals as people write them; others as they are. */
function titled(listed: string): string {
  const name = listed.trim();
  if (name !== name.toUpperCase()) return name;
  return name.toLowerCase().replace(/(^|[\s'.-])\p{L}/gu, (start) => start.toUpperCase());
}

/** The rows of a line: of its rate, and of the lower one where part of it has one. */
function rowsOf(text: string, line: number, context: ListContext): readonly TableRow[] {
  const field = (from: number, to: number): string => text.slice(from, to).trim();
  const [id, name, county] = [field(0, 10), titled(field(10, 35)), titled(field(35, 60))];
  const [flag, from, high, low] = [field(60, 61), field(61, 69), field(69, 74), field(79, 84)];
  const right = text.length >= LINE_CHARS_MIN && ID.test(id) && /^[YN ]?$/.test(flag)
    && /^\d{8}$/.test(from) && RATE.test(high) && RATE.test(low);
  if (!right) throw new RangeError(`line ${line} is none of its layout: ${text.slice(0, 90)}`);
  if (county === '') {
    context.report.drop(`${id} ${name}`, 'no county or municipality');
    return [];
  }
  const isCounty = COUNTY.test(id);
  const listed = isCounty ? `${county} County` : `${name} (${county})`;
  const fields = (figure: string, part: string): TableRow => rowOf(line, {
    level: isCounty ? 'county' : 'city', name: `${listed}${part}`, effective_from: from,
    combined_pct: figure,
  });
  if (flag === 'Y') return [fields('', '')];
  return [fields(percentText(high), ''),
    ...(high === low ? [] : [fields(percentText(low), ' (lower-rate part)')])];
}

/** Reads the file. @throws RangeError naming the line that is laid out otherwise. */
export function readIllinoisOrdinary(text: string, context: ListContext): ListResult {
  const seen = new Set<string>();
  const rows = text.replace(/^\uFEFF/, '').split(/\r?\n/).flatMap((line, index) => {
    // A location may be listed twice with the same rates.
    if (line.trim() === '' || seen.has(line.slice(0, LINE_CHARS_MIN))) return [];
    seen.add(line.slice(0, LINE_CHARS_MIN));
    return rowsOf(line, index + 1, context);
  });
  if (rows.length === 0) throw new RangeError('it lists no location');
  return illinoisRates(rows, context);
}
