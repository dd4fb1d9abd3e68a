/** Messages that are held back until those that are owed have come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwedMessages, type OwedMessage } from '../../src/cli/stream-message.js';

const LONG_MS = 3_600_000;
const ANY_BYTES = 1_000;

test('later messages wait for those that were given out before, and all come in order', () => {
  let kept = 0;
  const owed = new OwedMessages(2, 5, LONG_MS, ANY_BYTES);
  const message = (seq: number): OwedMessage => ({
    seq,
    data: new Uint8Array(10),
    nak: () => undefined,
    working: () => {
      kept += 1;
    },
  });
  owed.hold(message(6));
  assert.ok(owed.early && !owed.settled);
  owed.hold(message(5));
  owed.hold(message(5));
  assert.ok(!owed.settled, 'one that comes twice is one');
  assert.deepEqual(owed.release(), []);
  owed.keep();
  assert.deepEqual([kept, owed.bytes], [2, 20]);
  owed.hold(message(3));
  assert.ok(owed.settled);
  assert.deepEqual(
    owed.release().map(({ seq }) => seq),
    [3, 5, 6],
  );
});

test('what never comes is waited for no longer than was said', () => {
  const owed = new OwedMessages(1, 5, -1, ANY_BYTES);
  assert.ok(owed.settled);
  assert.deepEqual(owed.release(), []);
});

/** A broker that gives the latest messages first, as often as they are given back. */
function backwards(owed: OwedMessages<OwedMessage>, count: number): readonly number[] {
  let waiting = Array.from({ length: count }, (_, index) => index + 1);
  const answered: number[] = [];
  for (let round = 0; !owed.settled || waiting.length > 0; round += 1) {
    assert.ok(round < 10 * count, 'it comes to an end');
    const given = waiting.reverse();
    waiting = [];
    for (const seq of given) {
      owed.hold({
        seq,
        data: new Uint8Array(10),
        working: () => undefined,
        nak: () => void waiting.push(seq),
      });
      assert.ok(owed.bytes <= 40);
      answered.push(...owed.release().map((message) => message.seq));
    }
    answered.push(...owed.release().map((message) => message.seq));
  }
  return answered;
}

test('what there is no room for is given back, and comes in order whatever it amounts to', () => {
  const all = Array.from({ length: 50 }, (_, index) => index + 1);
  // Of 50 messages 20 were given out before, with room for 4; and all 50 were.
  assert.deepEqual(backwards(new OwedMessages(20, 20, LONG_MS, 40), 50), all);
  assert.deepEqual(backwards(new OwedMessages(50, 50, LONG_MS, 40), 50), all);
});
