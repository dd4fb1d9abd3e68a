import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  grown,
  HEAD_ROOM_BYTES,
  joined,
  JOINED_BYTES_MAX,
  NO_BYTES,
} from '../../src/base/growing-bytes.js';

test('megabytes are put together a bounded piece each turn', async () => {
  const pieces = [1, 65_536, 3 * JOINED_BYTES_MAX + 7, 100, JOINED_BYTES_MAX].map((length, at) =>
    Buffer.alloc(length, 97 + at),
  );
  let turns = 0;
  const { bytes, isUtf8: isText } = await joined(pieces, () => {
    turns += 1;
    return Promise.resolve();
  });
  assert.ok(bytes.equals(Buffer.concat(pieces)));
  assert.ok(isText);
  assert.equal(bytes.byteOffset, HEAD_ROOM_BYTES);
  assert.equal(bytes.buffer.byteLength, HEAD_ROOM_BYTES + bytes.length);
  assert.ok(turns >= Math.floor(bytes.length / JOINED_BYTES_MAX), `${turns} turns`);
  assert.deepEqual(await joined([]), { bytes: Buffer.alloc(0), isUtf8: true });
});

test('text is told from other bytes wherever it is cut', async () => {
  for (const character of ['é', '€', '😀', '\u{10ffff}']) {
    for (let before = 0; before < 5; before += 1) {
      const text = Buffer.from('x'.repeat(JOINED_BYTES_MAX - before) + character.repeat(10));
      const pieces = [text.subarray(0, JOINED_BYTES_MAX), text.subarray(JOINED_BYTES_MAX)];
      assert.equal((await joined(pieces)).isUtf8, true, `${character} ${before}`);
      const cut = Buffer.concat([text.subarray(0, -1), Buffer.from('x')]);
      assert.equal((await joined([cut])).isUtf8, false);
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 12 }), async (tail) => {
      const bytes = Buffer.concat([Buffer.alloc(JOINED_BYTES_MAX - 6, 'x'), tail]);
      const pieces = [bytes.subarray(0, JOINED_BYTES_MAX), bytes.subarray(JOINED_BYTES_MAX)];
      assert.equal((await joined(pieces)).isUtf8, isUtf8(bytes));
    }),
    { numRuns: 300 },
  );
});

test('memory that was taken for all of it is written once', () => {
  const growth = { before: 8, least: 1_000 };
  let held = grown(NO_BYTES, Buffer.from('ab'), growth);
  const { buffer } = held;
  for (let at = 0; at < 998; at += 1) held = grown(held, Buffer.from('c'), growth);
  assert.equal(held.buffer, buffer);
  assert.equal(held.byteOffset, 8);
  assert.equal(held.toString(), `ab${'c'.repeat(998)}`);
  held = grown(held, Buffer.from('d'), growth);
  assert.notEqual(held.buffer, buffer);
  assert.equal(held.byteOffset, 8);
  assert.equal(held.toString(), `ab${'c'.repeat(998)}d`);
});

test('memory whose beginning was read is used again, and what is left stays as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(60))), (steps) => {
      let [held, next] = [NO_BYTES, 0];
      const expected: number[] = [];
      for (const [pushed, read] of steps) {
        const piece = Uint8Array.from({ length: pushed }, () => (next += 1) & 255);
        held = grown(held, piece, { again: true });
        expected.push(...piece);
        const some = Math.min(read, held.length);
        held = held.subarray(some);
        expected.splice(0, some);
        assert.deepEqual([...held], expected);
      }
    }),
  );
  const first = grown(grown(NO_BYTES, Buffer.alloc(100), {}), Buffer.alloc(100), { again: true });
  let held = first;
  for (let turn = 0; turn < 100; turn += 1) {
    held = grown(held.subarray(100), Buffer.alloc(100, turn), { again: true });
  }
  assert.equal(held.buffer, first.buffer, 'no memory is taken for what is read as it comes');
});
