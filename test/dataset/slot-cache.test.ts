import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SlotCache } from '../../src/dataset/slot-cache.js';

test('a kept value is its own number\'s, and at most one number keeps a slot', () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 40 }), value: fc.integer() });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const cache = new SlotCache<number>(8);
    const model = new Map<number, { readonly key: number; readonly value: number }>();
    for (const { key, value } of steps) {
      const kept = model.get(key % 8);
      assert.equal(cache.get(key), kept?.key === key ? kept.value : undefined);
      cache.set(key, value);
      model.set(key % 8, { key, value });
      assert.equal(cache.get(key), value);
    }
  }));
});

test('number 0 is not taken for an empty slot, and the largest has one', () => {
  const cache = new SlotCache<string>(1);
  assert.equal(cache.get(0), undefined);
  cache.set(2 ** 31 - 1, 'last');
  assert.equal(cache.get(2 ** 31 - 1), 'last');
  assert.equal(cache.get(0), undefined);
});

test('slots are a power of two', () => {
  for (const slots of [0, 3, 12, -8]) assert.throws(() => new SlotCache(slots), RangeError);
});
