import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatMicrodegrees, toMicrodegrees } from '../../src/geo/microdegrees.js';

test('degrees are rounded to millionths, halves away from zero, without a negative zero', () => {
  const table: readonly (readonly [number, number])[] = [
    [33.65253, 33_652_530],
    [-117.74794, -117_747_940],
    [0.0000005, 1],
    [-0.0000005, -1],
    [-0.0000001, 0],
    [180, 180_000_000],
  ];
  for (const [degrees, expected] of table) assert.ok(Object.is(toMicrodegrees(degrees), expected));
});

test('printing is the shortest decimal, and reads back as the same number', () => {
  fc.assert(
    fc.property(fc.integer({ min: -180_000_000, max: 180_000_000 }), (value) => {
      const text = formatMicrodegrees(value);
      assert.equal(toMicrodegrees(Number(text)), value);
      assert.equal(text, value === 0 ? '0' : text.replace(/(\.\d*?)0+$/, '$1'));
      assert.ok(!text.includes('e'));
    }),
  );
  assert.equal(formatMicrodegrees(-1), '-0.000001');
  assert.equal(formatMicrodegrees(40_000_000), '40');
});
