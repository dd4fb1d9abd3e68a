import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headOf, NumberedHead } from '../../src/http/reply.js';

test('a numbered head says any number from 0 up, one after the other', () => {
  const head = new NumberedHead(headOf('text/plain', { 'X-One': 1 }), 'X-Two');
  const edges = [0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, Number.MAX_SAFE_INTEGER, 7];
  for (const value of edges) {
    assert.equal(
      Buffer.from(head.with(value)).toString(),
      `text/plain\r\nX-One: 1\r\nX-Two: ${value}`,
    );
  }
  const says = (value: number): void => {
    const text = `text/plain\r\nX-One: 1\r\nX-Two: ${value}`;
    assert.equal(Buffer.from(head.with(value)).toString(), text);
    assert.equal(Buffer.from(head.joined).toString(), `200 OK\r\nContent-Type: ${text}`);
  };
  fc.assert(fc.property(fc.maxSafeNat(), says));
  // Mostly those of a number follow that differs in its last digits.
  for (let value = 1_100; value >= 0; value -= 1) says(value);
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.integer({ min: -1_000, max: 1_000 }), (value, step) => {
      says(value);
      says(Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, value + step)));
    }),
  );
});

test('a name with a line break is refused', () => {
  assert.throws(() => new NumberedHead(headOf('text/plain'), 'X\r\nY'), /line break/);
});
