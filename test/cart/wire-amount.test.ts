/** Prices, quantities and amounts of carts: exactly as they are written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactOf } from '../../src/tax/exact.js';
import {
  formatDollars,
  readPrice,
  readQuantity,
  writeDollars,
  writePrice,
} from '../../src/api/cart/wire-amount.js';
import { ByteWriter } from '../../src/base/byte-writer.js';
import { longNumber } from '../../src/base/json-scan.js';

/** What is written. */
function written(write: (into: ByteWriter) => void): string {
  const into = new ByteWriter(16);
  write(into);
  return Buffer.from(into.bytes()).toString();
}

test('a decimal of up to fifteen digits is read exactly and printed as it was written', () => {
  const cents = fc.bigInt({ min: 0n, max: 99_999_999_999_999n });
  fc.assert(
    fc.property(cents, fc.integer({ min: 0, max: 9 }), (digits, scale) => {
      const text = String(digits).padStart(scale + 1, '0');
      const written = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
      const nano = exactOf(digits * 10n ** BigInt(9 - scale));
      assert.equal(readPrice(Number(written)), nano, written);
    }),
    { numRuns: 5_000 },
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (amount) => {
      assert.equal(formatDollars(exactOf(amount)), formatDollars(amount));
      const [whole = '', fraction = ''] = formatDollars(amount).split('.');
      assert.equal(BigInt(whole + fraction.padEnd(9, '0')), amount);
    }),
    { numRuns: 2_000 },
  );
});

test('prices and amounts are printed as JSON prints them, at every size', () => {
  const doubles = fc.oneof(
    fc.nat(2_000_000).map((cents) => cents / 100),
    fc.nat(10 ** 9).map((cents) => cents / 100),
    fc.bigInt({ min: 0n, max: 10n ** 11n }).map((cents) => Number(cents) / 100),
    fc.double({ min: 0, max: 1e9, noNaN: true }),
    fc.constantFrom(0, -0, 1e-9, 9e6, 8_999_999.99),
  );
  fc.assert(
    fc.property(doubles, (price) => {
      assert.equal(
        written((into) => writePrice(into, price)),
        JSON.stringify(price),
      );
    }),
    { numRuns: 10_000 },
  );
  const nano = fc.oneof(
    fc.bigInt({ min: 0n, max: 10n ** 19n }),
    fc.bigInt({ min: 0n, max: 10n ** 12n }).map((cents) => cents * 10n ** 7n),
    fc.bigInt({ min: 0n, max: 10n ** 12n }).map((cents) => cents * 10n ** 7n + 1n),
    fc.bigInt({ min: 0n, max: 10n ** 12n }).map((units) => units * 10n ** 4n),
  );
  fc.assert(
    fc.property(nano, (amount) => {
      const text = formatDollars(amount);
      const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d*[1-9]))?$/.exec(text)!;
      assert.equal(
        written((into) => writeDollars(into, amount)),
        text,
      );
      assert.equal(
        written((into) => writeDollars(into, exactOf(amount))),
        text,
      );
      assert.equal(BigInt(whole + fraction.padEnd(9, '0')), amount);
    }),
    { numRuns: 10_000 },
  );
});

test('quantities keep four decimals and prices nine', () => {
  assert.equal(readQuantity(1.5), 15_000);
  assert.equal(readQuantity(99_999.9999), 999_999_999);
  assert.equal(readQuantity(0.00001), null);
  assert.equal(readPrice(0.000000001), 1);
  assert.equal(readPrice(1e-10), null);
  assert.equal(readPrice(1e9), 10n ** 18n);
});

test('a number that a double would round is found wherever it stands outside of strings', () => {
  assert.equal(longNumber('{"a":0.1234567890123456}'), '0.1234567890123456');
  assert.equal(longNumber('[1,12345678901234567]'), '12345678901234567');
  assert.equal(longNumber('{"a":1e-400}'), '1e-400');
  assert.equal(longNumber('{"a":1e400}'), '1e400');
  assert.equal(longNumber('{"a":"12345678901234567890 \\" 1e400"}'), null);
  assert.equal(longNumber('{"a":0.000000000000000}'), null);
  assert.equal(longNumber('{"a":123456789012345}'), null);
});
