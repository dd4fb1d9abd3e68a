import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { echoOf } from '../../src/wire/tree.js';

function assertEcho(degrees: number): void {
  const text = String(degrees);
  if (!text.includes('e')) assert.equal(echoOf(degrees).decimal, text);
}

test('coordinates are echoed as they were given', () => {
  for (const degrees of [0, -0, 90, -180, 0.1, -0.000001, 33.650001, -117.7431, 12.3456789]) {
    assertEcho(degrees);
  }
  fc.assert(fc.property(fc.double({ min: -180, max: 180, noNaN: true }), assertEcho));
  fc.assert(
    fc.property(fc.integer({ min: -180_000_000, max: 180_000_000 }), (micro) => {
      assertEcho(micro / 1e6);
    }),
  );
});

test('what would be printed with an exponent is rounded to a millionth', () => {
  assert.equal(echoOf(6e-7).decimal, '0.000001');
  assert.equal(echoOf(-1e-9).decimal, '0');
});
