/** County rates from tables by ZIP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brief, read } from '../support/listed-rates.js';

test('zip-table: what the ZIPs of a county agree on, in each layout', () => {
  const crosswalk =
    'zip\tstate\tcounty_fips\n97001\tXX\t99001\n97002\tXX\t99001\n' +
    '97003\tXX\t99001\n97004\tXX\t99002\n97005\tXX\t99002\n97006\tXX\t99001\n97006\tXX\t99002\n';
  const files = { counties: crosswalk };
  const held =
    'state\tzip\tregion\tcombined\tstate_rate\tcounty_rate\n' +
    'XX\t97001\tA\t0.05\t0.04\t0.01\nXX\t97002\tA\t0.05\t0.04\t0.01\nXX\t97003\tA\t0.06\t0.04\t0.02\n' +
    'XX\t97006\tA\t0.09\t0.04\t0.05\nXX\t97004\tB\t0.05\t0.04\t0.01\nXX\t97005\tB\t0.06\t0.04\t0.02\n';
  const found = read('zip-table', held, {}, [], files);
  // One county agrees, one is divided, and a ZIP of both has no voice.
  assert.deepEqual(brief(found.rows), ['county 99001   own 0.01 20260101 99991231']);
  const newest =
    'State,ZipCode,TaxRegionName,EstimatedCombinedRate,StateRate,EstimatedCountyRate\n' +
    'XX,97004,"B, NORTH",0.06,0.04,0.02\n';
  const [row] = read('zip-table', newest, {}, [], files).rows;
  assert.deepEqual([row?.state, row?.county, row?.sales], ['XX', '99002', 20_000_000]);
  const oldest =
    'State,ZipCode,TaxRegionName,TaxRegionCode,CombinedRate,StateRate,CountyRate\n' +
    'XX,97004,B,X1,0.06,0.04,0.015\n';
  assert.equal(read('zip-table', oldest, {}, [], files).rows[0]?.sales, 15_000_000);
  // A table of combined rates alone says nothing of a county.
  const combined = 'state\tzip\tregion\tcombined\tcounty_rate\nXX\t97004\t\t0.06\t\n';
  assert.deepEqual(read('zip-table', combined, {}, [], files).rows, []);
  assert.throws(() => read('zip-table', held.replace('0.02', 'x'), {}, [], files), RangeError);
});
