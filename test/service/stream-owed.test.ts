/** Messages that are held back until those that are owed have come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwedMessages } from '../../src/cli/stream-owed.js';

const LONG_MS = 3_600_000;

test('later messages wait for those that were given out before, and all come in order', () => {
  let kept = 0;
  const owed = new OwedMessages(2, 5, LONG_MS);
  const message = (seq: number) => ({
    seq, data: new Uint8Array(10), working: (): void => {
      kept += 1;
    },
  });
  owed.hold(message(6));
  assert.ok(owed.early && !owed.settled);
  owed.hold(message(5));
  owed.hold(message(5));
  assert.ok(!owed.settled, 'one that comes twice is one');
  owed.keep();
  assert.deepEqual([kept, owed.bytes], [2, 20]);
  owed.hold(message(3));
  assert.ok(owed.settled);
  assert.deepEqual(owed.release().map(({ seq }) => seq), [3, 5, 6]);
});

test('what never comes is waited for no longer than was said', () => {
  const owed = new OwedMessages(1, 5, -1);
  assert.ok(owed.settled);
  assert.deepEqual(owed.release(), []);
});
