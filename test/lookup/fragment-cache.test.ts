import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DateInt } from '../../src/tax/date.js';
import { FragmentCache, VARIANTS } from '../../src/api/lookup/fragment.js';
import { FORMATS } from '../../src/wire/tree.js';

const DAY = 20261121 as DateInt;

function fragment(bytes: number): { readonly bytes: Uint8Array; readonly flags: number } {
  return { bytes: new Uint8Array(bytes), flags: 0 };
}

test('keys of different areas, days and variants differ', () => {
  const cache = new FragmentCache(1_000_000);
  const keys = new Set<number>();
  let made = 0;
  for (const area of [0, 1, 2, 99_999, 134_217_727]) {
    for (const date of [10101, 20251231, 20260101, 20261121, 20261201, 99991231]) {
      for (const variant of Object.values(VARIANTS)) {
        for (const format of FORMATS) {
          keys.add(cache.key(area, date as DateInt, variant, format));
          made += 1;
        }
      }
    }
  }
  assert.equal(keys.size, made);
  assert.ok([...keys].every((key) => Number.isSafeInteger(key)));
});

test('stays within its bytes and keeps what is used', () => {
  const limit = 100_000;
  const cache = new FragmentCache(limit);
  const hot = cache.key(0, DAY, VARIANTS.v60, 'json');
  cache.set('a', hot, fragment(1_000));
  for (let area = 1; area < 2_000; area += 1) {
    cache.set('a', cache.key(area, DAY, VARIANTS.v60, 'json'), fragment(1_000));
    assert.ok(cache.get('a', hot) !== null);
    assert.ok(cache.bytes <= limit);
  }
  assert.equal(cache.get('a', cache.key(1, DAY, VARIANTS.v60, 'json')), null);
});

test('holds one dataset at a time and nothing larger than a generation', () => {
  const cache = new FragmentCache(10_000);
  const key = cache.key(1, DAY, VARIANTS.row8, 'xml');
  cache.set('a', key, fragment(100));
  assert.equal(cache.get('b', key), null);
  assert.equal(cache.get('a', key), null);
  cache.set('a', key, fragment(9_000));
  assert.equal(cache.get('a', key), null);
  assert.equal(cache.bytes, 0);
});
