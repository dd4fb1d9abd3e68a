import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WordTable, wordsOf } from '../../src/base/word-table.js';

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
