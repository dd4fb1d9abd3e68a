/** An invented state for readers of rate lists, and lists read for it. */
import assert from 'node:assert/strict';
import { createGazetteer, type NameAlias } from '../../src/ingest/rates/gazetteer.js';
import {
  ListReport,
  type ListContext,
  type ListOptions,
  type ListResult,
} from '../../src/ingest/rates/list.js';
import { READERS } from '../../src/ingest/readers.js';
import { formatRate } from '../../src/tax/rate.js';
import type { PlaceFact, RateRow } from '../../src/ingest/model.js';
import type { DateInt } from '../../src/tax/date.js';

export const STATE = { code: 'XX', fips: '99', name: 'Xland', country: 'USA' as const };
export const COUNTIES = ['Alpha County', 'Beta County', 'Beta city'].map((fullName, index) => ({
  fips: `9900${String(index + 1)}`,
  state: 'XX',
  fullName,
  code: '',
}));

function place(code: string, name: string, ...counties: readonly string[]): PlaceFact {
  const geoid = `99${code}`;
  return { geoid, name, fullName: `${name} city`, state: 'XX', counties, independent: false };
}

export const PLACES = [
  place('00010', 'Arden', '99001'),
  place('00020', 'St. Boswell', '99001', '99002'),
  place('00030', 'Carrow', '99002'),
  place('00040', 'Carrow', '99001'),
  place('00050', "O'Dell", '99002'),
  place('00060', 'De Witt', '99002'),
];

export type Read = ListResult & { readonly report: ListReport };

/** Reads a list as a recipe would. */
export function read(
  reader: string,
  text: string,
  options: ListOptions = {},
  aliases: readonly NameAlias[] = [],
  files: Readonly<Record<string, string>> = {},
): Read {
  const report = new ListReport(reader);
  const context: ListContext = {
    state: 'XX',
    gazetteer: createGazetteer([STATE], COUNTIES, PLACES, aliases),
    source: 3,
    sourceOf: () => 3,
    asOf: 20260101 as DateInt,
    options,
    report,
    extra: (option) => files[option] ?? '',
    districtCode: (listed) => (listed === 'Metro District' ? '~M' : null),
  };
  const result = READERS.lists.get(reader)?.read(text, context);
  assert.ok(result, reader);
  return { ...result, report };
}

/** Rows in short. */
export function brief(rows: readonly RateRow[]): readonly string[] {
  return rows.map((row) =>
    [
      row.level,
      row.county,
      row.place,
      row.code,
      row.basis,
      row.basis === 'unknown' ? '?' : formatRate(row.sales),
      row.from,
      row.to,
    ].join(' '),
  );
}
