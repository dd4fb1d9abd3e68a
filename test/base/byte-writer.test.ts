/** Bytes that are written piece by piece: JSON as JSON.stringify has it, in memory that grows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aligned, bytesOfParts, ByteWriter, Piece } from '../../src/base/byte-writer.js';
import { formatMicrodegrees } from '../../src/geo/microdegrees.js';
import { formatRate, type Rate } from '../../src/tax/rate.js';

function written(into: ByteWriter): string {
  return Buffer.from(into.bytes()).toString();
}

test('texts and numbers are written as JSON prints them', () => {
  const values = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a"b', 'c\\d', 'tab\t', '\ud800', '\x7f'),
    fc.nat(),
    fc.nat(12),
    fc.double({ min: 0, max: 1e9, noNaN: true }),
    fc.constantFrom(0, -0, 999_999_999, 1_000_000_000, 1e21, 1e-7),
  );
  fc.assert(
    fc.property(fc.array(values), (list) => {
      const into = new ByteWriter(1);
      for (const value of list) {
        if (typeof value === 'string') into.json(value);
        else into.number(value);
        into.byte(0x2c);
      }
      assert.equal(written(into), list.map((value) => `${JSON.stringify(value)},`).join(''));
    }),
    { numRuns: 2_000 },
  );
});

test('texts and bytes of any length are written as they are', () => {
  const values = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
  fc.assert(
    fc.property(fc.array(values), (list) => {
      const into = new ByteWriter(1);
      const bytes = list.map((text) => Buffer.from(`.${text}.`));
      list.forEach((text, index) => {
        into.text(text);
        into.copy(bytes[index]!, 1, bytes[index]!.length - 1);
      });
      // A half of a pair becomes the sign for what cannot be read, as in any text.
      assert.equal(
        written(into),
        list.map((text) => Buffer.from(text).toString().repeat(2)).join(''),
      );
    }),
    { numRuns: 500 },
  );
});

test('what was written is written again, and memory that has grown is let go of', () => {
  const into = new ByteWriter(4);
  into.piece(new Piece('abc'));
  into.again(1, 3);
  into.copy(Buffer.from('xyz'), 1);
  into.part('é');
  into.put(0, 0x41);
  assert.equal(written(into), 'Abcbcyzé');
  assert.equal(into.length, 9);
  const grown = into.bytes().buffer;
  into.clear();
  into.byte(0x61);
  assert.equal(written(into), 'a');
  assert.notEqual(into.bytes().buffer, grown);
});

test('memory that is foreseen is taken at once, and grows like any other', () => {
  const into = new ByteWriter(4);
  const usual = into.bytes().buffer;
  into.clear(4);
  assert.equal(into.bytes().buffer, usual);
  into.clear(100);
  const { buffer } = into.bytes();
  assert.notEqual(buffer, usual);
  for (let count = 0; count < 10; count += 1) into.text('0123456789'.slice(count));
  assert.equal(into.bytes().buffer, buffer);
  assert.equal(into.length, 55);
  into.text('x'.repeat(200));
  assert.equal(into.length, 255);
  assert.ok(written(into).startsWith('0123456789123456789'));
  into.clear();
  assert.equal(into.bytes().buffer, usual);
});

test('pieces of any length are written whole, with nothing behind them', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary-ascii' })), fc.nat(20), (texts, room) => {
      const into = new ByteWriter(room);
      for (const text of texts) into.piece(new Piece(text));
      assert.equal(written(into), texts.join(''));
    }),
  );
  assert.throws(() => new Piece('é'), RangeError);
});

test('millionths are written as the shortest decimal', () => {
  const values = fc.oneof(
    fc.integer({ min: -180_000_000, max: 180_000_000 }),
    fc.constantFrom(0, -0, 1, -1, 10, 999_999, 1_000_000, -1_000_001, 90_100_000, -179_000_120),
  );
  fc.assert(
    fc.property(values, (value) => {
      const into = new ByteWriter(1);
      into.millionths(value);
      assert.equal(written(into), formatMicrodegrees(value));
      assert.equal(Number(written(into)), value / 1e6 + 0);
    }),
    { numRuns: 2_000 },
  );
});

test('billionths are written as rates are', () => {
  const values = fc.oneof(
    fc.integer({ min: 0, max: 20_000_000_000 }),
    fc.integer({ min: 0, max: 200_000 }).map((value) => value * 1_000),
    fc.constantFrom(0, 1, 10, 100, 1_000, 999_999_999, 1_000_000_000, 77_500_000, 1_000_000_001),
  );
  fc.assert(
    fc.property(values, (value) => {
      const into = new ByteWriter(1);
      into.billionths(value);
      assert.equal(written(into), formatRate(value as Rate));
    }),
    { numRuns: 2_000 },
  );
});

test('room that is left is filled afterwards, what follows it begins a word', () => {
  const into = new ByteWriter(4);
  into.leave(12);
  assert.equal(into.length, aligned(12));
  into.text('text');
  into.leave(0);
  assert.equal(into.length, 24);
  into.put32(0, 0x04_03_02_01);
  into.put32(4, -1);
  const bytes = into.bytes();
  assert.deepEqual([...bytes.subarray(0, 8)], [1, 2, 3, 4, 255, 255, 255, 255]);
  assert.equal(Buffer.from(bytes.subarray(16, 20)).toString(), 'text');
});

test('a part in memory of its own keeps no other', () => {
  const text = bytesOfParts(['té']);
  const printed = bytesOfParts([{ print: (into) => into.json('itself') }]);
  assert.equal(Buffer.from(text).toString(), 'té');
  assert.equal(Buffer.from(printed).toString(), '"itself"');
  for (const { buffer, length } of [text, printed]) assert.equal(buffer.byteLength, length);
});

test('parts become bytes one behind the other; bytes alone stay what they are', () => {
  const bytes = Buffer.from('bytes, ');
  const prints = { print: (into: ByteWriter): void => into.json('itself') };
  assert.equal(
    Buffer.from(bytesOfParts(['té, ', bytes, prints])).toString(),
    'té, bytes, "itself"',
  );
  assert.equal(bytesOfParts([bytes]), bytes);
  assert.equal(Buffer.from(bytesOfParts([prints])).toString(), '"itself"');
  assert.equal(bytesOfParts([]).length, 0);
});
