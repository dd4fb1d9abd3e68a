/** What boundary files state of ZIP+4s, in the table of streets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreetIndex } from '../../src/dataset/street-index.js';
import { StatedZips, type ZipRange } from '../../src/ingest/street/stated-zips.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { streetTableOf } from '../support/street-table.js';

test('ZIP+4: the record that began last wins, contradictions of one day stay', () => {
  const zip9 = (
    plus4Low: number,
    plus4High: number,
    area: number,
    begin: number,
    zipHigh = 91010,
  ): ZipRange => ({
    kind: 'zip9',
    state: 'QA',
    zipLow: 91010,
    zipHigh,
    plus4Low,
    plus4High,
    area,
    begin: begin as DateInt,
    end: DATE_OPEN,
  });
  const ranges = [
    zip9(1, 99, 3, 20200101),
    zip9(50, 60, 4, 20240101),
    zip9(58, 70, 5, 20240101),
    zip9(9000, 10, 6, 20190101, 91012),
  ];
  const stated = new StatedZips();
  for (const range of ranges) stated.add(range);
  const table = new Map<string, Uint8Array>(stated.entries());
  table.set('s', Buffer.from('QA'));
  const index = new StreetIndex(streetTableOf((key) => table.get(key) ?? null));
  const areas = (zip: number, plus4: number, day = 20260101): readonly number[] =>
    index.addOn('QA', zip, plus4, day as DateInt);
  assert.deepEqual(areas(91010, 10), [3]);
  assert.deepEqual(areas(91010, 55), [4]);
  assert.deepEqual(areas(91010, 59), [4, 5]);
  assert.deepEqual(areas(91010, 70), [5]);
  assert.deepEqual(areas(91010, 9500), [6]);
  assert.deepEqual(areas(91011, 1234), [6], 'a range over several ZIPs covers those between');
  assert.deepEqual(areas(91012, 10), [6]);
  assert.deepEqual(areas(91012, 11), []);
  assert.deepEqual([areas(91010, 55, 20231231), areas(91010, 55, 20191231)], [[3], []]);
});
