import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ordinal, ordinalValue, ordinalWords } from '../../src/address/street-words.js';
import { STRONG_SUFFIXES, SUFFIX_TABLE } from '../../src/address/suffix.js';
import {
  isStrongSuffix,
  suffixOf,
  suffixWord,
  directionOf,
  directionWord,
} from '../../src/address/word.js';
import { joinDirections } from '../../src/address/street-name.js';

test('no spelling of a suffix stands for two', () => {
  const seen = new Map<string, string>();
  for (const line of SUFFIX_TABLE.trim().split('\n')) {
    const [abbreviation = '', ...words] = line.split(' ');
    for (const word of new Set([abbreviation, ...words])) {
      assert.equal(seen.get(word), undefined, word);
      seen.set(word, abbreviation);
    }
  }
});

test('every suffix spelled out and shortened again is itself', () => {
  for (const line of SUFFIX_TABLE.trim().split('\n')) {
    const abbreviation = line.split(' ')[0] ?? '';
    assert.equal(suffixOf(suffixWord(abbreviation)), abbreviation);
  }
});

test('strong suffixes are suffixes', () => {
  for (const abbreviation of STRONG_SUFFIXES.split(' ')) {
    assert.equal(suffixOf(abbreviation), abbreviation);
    assert.ok(isStrongSuffix(abbreviation));
  }
});

test('lookups', () => {
  assert.equal(suffixOf('BOULEVARD'), 'BLVD');
  assert.equal(suffixOf('AV'), 'AVE');
  assert.equal(suffixOf('SPECTRUM'), '');
  assert.equal(directionOf('NORTHWEST'), 'NW');
  assert.equal(directionWord('NW'), 'NORTHWEST');
  assert.equal(joinDirections('N', 'WEST'), 'NW');
  assert.equal(joinDirections('E', 'W'), '');
});

test('ordinals', () => {
  for (let value = 1; value < 100; value++) {
    const word = ordinalWords(value).replace(' ', '');
    assert.equal(ordinalValue(word), value, word);
  }
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal), [
    '1ST',
    '2ND',
    '3RD',
    '4TH',
    '11TH',
    '12TH',
    '13TH',
    '21ST',
    '112TH',
  ]);
});
