import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedBefore } from '../../src/api/lookup/answer-cache.js';

test('a number is met from its second time on', () => {
  const asked = new AskedBefore();
  assert.equal(asked.met(17), false);
  assert.equal(asked.met(-17), false);
  assert.equal(asked.met(17), true);
  assert.equal(asked.met(17), true);
  assert.equal(asked.met(-17), true);
});

test('four numbers that share their places are remembered, and the oldest of five is not', () => {
  const asked = new AskedBefore();
  const sharing = [1, 2, 3, 4, 5].map((round) => round * 131_072 * 2 + 9);
  for (const number of sharing.slice(0, 4)) assert.equal(asked.met(number), false);
  for (const number of sharing.slice(0, 4)) assert.equal(asked.met(number), true);
  assert.equal(asked.met(sharing[4]!), false);
  assert.equal(asked.met(sharing[0]!), false, 'the fifth has taken its place');
  assert.equal(asked.met(sharing[4]!), true);
});
