import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fieldsOf, headOf, NumberedHead } from '../../src/http/reply.js';

test('a numbered head says any number from 0 up, one after the other', () => {
  const head = new NumberedHead(headOf('text/plain', { 'X-One': 1 }), 'X-Two');
  const edges = [0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, Number.MAX_SAFE_INTEGER, 7];
  for (const value of edges) {
    assert.equal(
      Buffer.from(head.with(value)).toString(),
      `text/plain\r\nX-One: 1\r\nX-Two: ${value}`,
    );
  }
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      assert.equal(fieldsOf(head.with(value)).get('x-two'), String(value));
    }),
  );
});

test('a name with a line break is refused', () => {
  assert.throws(() => new NumberedHead(headOf('text/plain'), 'X\r\nY'), /line break/);
});
