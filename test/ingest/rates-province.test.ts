/** Provinces: which of their taxes hold on a day, and of which days that is known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RateRow } from '../../src/ingest/model.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { area, day, row, told } from './invented-book.js';

test("provinces: HST alone or GST with a provincial tax, in the province's name", () => {
  const tax = (code: string, rate: string, from: number, to: DateInt = DATE_OPEN): RateRow =>
    row('state', rate, { state: 'CA-AA', code, from: day(from), to });
  const rows = [
    tax('HST', '12', 20100701, day(20130331)),
    tax('GST', '5', 20130401),
    tax('PST', '7', 20130401),
  ];
  const found = area({ rows }, { state: 'CA-AA', county: '' });
  assert.deepEqual(
    found.components.map((part) => [part.jurName, part.kind, part.jurCode]),
    [
      ['Aaland', 'HST', null],
      ['Aaland', 'GST', null],
      ['Aaland', 'PST', null],
    ],
  );
  assert.equal(told(found, day(20130331)), 'Aaland 0.12 = 0.12');
  assert.match(told(found, day(20100630)), /held from 2010-07-01 on/);
  assert.equal(told(found), 'Aaland 0.05 | Aaland 0.07 = 0.12');
  const late = [tax('GST', '5', 20080101), tax('PST', '7', 20130401)];
  const other = area({ rows: late }, { state: 'CA-AA', county: '' });
  assert.match(told(other, day(20130331)), /held from 2013-04-01 on/, 'of one tax alone');
  const between = [tax('HST', '12', 20100701, day(20130228)), ...rows.slice(1)];
  const gap = area({ rows: between }, { state: 'CA-AA', county: '' });
  assert.equal(told(gap, day(20130228)), 'Aaland 0.12 = 0.12');
  assert.match(told(gap, day(20130301)), /held from 2013-04-01 on/);
  const ended = area({ rows: rows.slice(0, 1) }, { state: 'CA-AA', county: '' });
  assert.match(told(ended), /no rates are held; a newer list/);
});
