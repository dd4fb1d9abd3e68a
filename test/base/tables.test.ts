import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NumberCache, RecentCache, WordTable, wordsOf } from '../../src/base/tables.js';

test('a recent cache keeps what is used and never more than two generations', () => {
  const cache = new RecentCache<number, string>(10);
  for (let key = 0; key < 100; key += 1) {
    cache.set(key, `${key}`);
    assert.equal(cache.get(0), '0');
  }
  const held = Array.from({ length: 100 }, (_, key) => cache.get(key)).filter(Boolean);
  assert.ok(held.length <= 20, `${held.length}`);
});

test('where values are weighed, those that are used weigh as much as those that are new', () => {
  const cache = new RecentCache<number, string>(100, ({ length }) => length);
  const text = 'x'.repeat(10);
  for (let key = 0; key < 1_000; key += 1) {
    cache.set(key, text);
    // So many are asked for again and again that one generation does not hold them.
    for (let used = Math.max(0, key - 15); used <= key; used += 1) cache.get(used);
    assert.ok(cache.weight <= 200, `${cache.weight}`);
  }
  const { turns } = cache;
  const held = Array.from({ length: 1_000 }, (_, key) => cache.get(key)).filter(Boolean);
  assert.ok(held.length >= 10 && held.length <= 20, `${held.length}`);
  assert.ok(turns > 10);
  cache.set(-1, 'y'.repeat(1_000));
  assert.equal(cache.get(-1)?.length, 1_000, 'one that is heavier is kept all the same');
});

test('numbers that share a slot are told apart, and the one that lost it is still found', () => {
  const cache = new NumberCache<string>(100);
  const keys = [0, 5, 16_384, 16_389, 32_773, 2 ** 31 + 5, 2 ** 40 + 5];
  assert.deepEqual(
    keys.map((key) => cache.get(key)),
    keys.map(() => undefined),
  );
  for (const key of keys) cache.set(key, `${key}`);
  for (let round = 0; round < 3; round += 1) {
    for (const key of keys) assert.equal(cache.get(key), `${key}`);
  }
  cache.set(5, 'other');
  assert.equal(cache.get(5), 'other');
  assert.equal(cache.get(16_389), '16389');
  assert.equal(cache.get(6), undefined);
});

test('false is a value', () => {
  const cache = new NumberCache<boolean>(10);
  cache.set(7, false);
  assert.equal(cache.get(7), false);
});

test('of many numbers only so many are held', () => {
  const cache = new NumberCache<number>(1_000);
  const all = 50_000;
  for (let key = 0; key < all; key += 1) cache.set(key, key);
  let held = 0;
  for (let key = 0; key < all; key += 1) if (cache.get(key) === key) held += 1;
  assert.ok(held >= 1_000 && held <= 2_000, `${held}`);
});

/** Every word of up to three of these letters: many share their sum of characters. */
function words(): string[] {
  const letters = ['A', 'B', 'Z', '1', 'é'];
  let last = [''];
  const all: string[] = [];
  for (let length = 1; length <= 3; length += 1) {
    last = last.flatMap((word) => letters.map((letter) => word + letter));
    all.push(...last);
  }
  return all;
}

test('a table of words answers as a map does', () => {
  const entries = words()
    .filter((_, at) => at % 3 === 0)
    .map((word, at) => [word, at] as const);
  const table = new WordTable(entries);
  const map = new Map(entries);
  for (const word of ['', ...words(), 'AAAA', 'ABBA'.repeat(9)]) {
    assert.equal(table.get(word), map.get(word), word);
    assert.equal(table.has(word), map.has(word), word);
  }
});

test('of a word that comes twice the last value counts; an empty text may stand for one', () => {
  const table = new WordTable([
    ['A', '1'],
    ['B', ''],
    ['A', '2'],
  ]);
  assert.equal(table.get('A'), '2');
  assert.equal(table.get('B'), '');
  assert.equal(new WordTable<string>([]).get('A'), undefined);
  assert.deepEqual(
    ['X', 'Y'].map((word) => wordsOf(['X']).has(word)),
    [true, false],
  );
});
