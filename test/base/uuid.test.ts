/** Random ids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomId } from '../../src/base/uuid.js';

test('ids are version 4 and differ, over many draws of random bytes', () => {
  const ids = Array.from({ length: 5_000 }, () => Buffer.from(randomId()).toString('latin1'));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  // Each of the other digits takes every value.
  for (let place = 0; place < 36; place += 1) {
    if ([8, 13, 14, 18, 19, 23].includes(place)) continue;
    assert.equal(new Set(ids.map((id) => id[place])).size, 16, `place ${place}`);
  }
});
