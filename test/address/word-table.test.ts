import assert from 'node:assert/strict';
import test from 'node:test';
import { wordSet, WordTable } from '../../src/address/word-table.js';

const LONG = 'N'.repeat(33);
const ENTRIES: readonly (readonly [string, number])[] = [
  ['N', 1], ['NORTH', 2], ['ST', 3], ['STREET', 4], ['#', 5], [LONG, 6], ['É', 7],
];

test('a table answers as a map does, for every word asked', () => {
  const map = new Map(ENTRIES);
  const table = new WordTable(ENTRIES);
  const asked = [...map.keys(), '', 'S', 'NO', 'NORTE', 'NORTHX', 'STREETS', '5', '05401', 'N5',
    'E', 'É', 'Ē', `${LONG}N`, 'N'.repeat(65), '##', 'ı'];
  for (const word of asked) assert.equal(table.get(word), map.get(word), word);
});

test('a set knows its words and no others', () => {
  const set = wordSet(['OLD', 'BUS']);
  assert.deepEqual(['OLD', 'BUS', 'OLE', 'BU', ''].map((word) => set.has(word)),
    [true, true, false, false, false]);
});
