/**
 * Writes the project's own tables in the format that `src/ingest/source/rates/own-tables.ts` reads.
 */
import type { DistrictMember } from '../src/ingest/rates/facts.js';
import type { RateRow } from '../src/ingest/model.js';
import { DATE_MIN, DATE_OPEN, formatDate } from '../src/ingest/rates/list.js';
import type { DateInt } from '../src/tax/date.js';
import { formatRate } from '../src/tax/rate.js';

/** Columns of a rate table. */
const RATE_COLUMNS = [
  'state',
  'level',
  'county',
  'place',
  'name',
  'code',
  'basis',
  'sales',
  'use',
  'from',
  'to',
  'source',
  'as_of',
  'note',
];
/** Columns of a table of district members. */
const MEMBER_COLUMNS = [
  'state',
  'code',
  'scope',
  'county',
  'place',
  'except',
  'from',
  'to',
  'source',
];

/** The text of a table; cells must not contain tabs or line ends. */
export function writeTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [header, ...rows].map((cells) => `${cells.join('\t')}\n`).join('');
}

function dateText(date: DateInt, open: DateInt): string {
  return date === open ? '' : formatDate(date);
}

/** The text of a rate table. */
export function writeRateFacts(
  rows: readonly RateRow[],
  sourceName: (id: number) => string,
): string {
  return writeTable(
    RATE_COLUMNS,
    rows.map((row) => {
      const known = row.basis !== 'unknown';
      return [
        row.state,
        row.level,
        row.county,
        row.place,
        row.name,
        row.code,
        row.basis,
        known ? formatRate(row.sales) : '',
        known ? formatRate(row.use) : '',
        dateText(row.from, DATE_MIN),
        dateText(row.to, DATE_OPEN),
        sourceName(row.source),
        formatDate(row.asOf),
        row.note ?? '',
      ];
    }),
  );
}

/** The text of a table of district members. */
export function writeMemberFacts(members: readonly DistrictMember[], source: string): string {
  return writeTable(
    MEMBER_COLUMNS,
    members.map((member) => [
      member.state,
      member.code,
      member.scope,
      member.county,
      member.place,
      member.except.join(' '),
      dateText(member.from, DATE_MIN),
      dateText(member.to, DATE_OPEN),
      source,
    ]),
  );
}
