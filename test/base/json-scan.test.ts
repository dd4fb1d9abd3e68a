/** The scanner of JSON bytes finds the values that the parser finds, and never goes astray. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  byteSet,
  elementEnd,
  nextOf,
  skipBlanks,
  skipString,
  skipValue,
} from '../../src/base/json-scan.js';

const blank = fc.constantFrom('', ' ', '\n', '\t ', '\r\n');
const value = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.jsonValue().map((each) => JSON.stringify(each, null, 2)),
);

test('a value, and a string, ends where the parser can read it and no byte later', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(',', ' ', ']', '}', '\n', ''), (text, after) => {
      const before = '["\\\\",';
      const bytes = Buffer.from(`${before}${text}${after}1]`);
      const end = skipValue(bytes, before.length);
      // A number or a word without anything behind it goes on in the next byte.
      const isOpen = after === '' && !/["\]}]$/.test(text);
      assert.equal(bytes.toString('utf8', before.length, end), isOpen ? `${text}1` : text);
      if (text.startsWith('"')) assert.equal(skipString(bytes, before.length), end);
    }),
    { numRuns: 2_000 },
  );
});

test('the elements of a list, one after another, are those that the parser reads', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), blank, blank, (elements, a, b) => {
      const bytes = Buffer.from(`[${elements.map((each) => `${a}${each}${b}`).join(',')}]`);
      const found: unknown[] = [];
      let end = 0;
      do {
        const start = end + 1;
        end = elementEnd(bytes, start);
        found.push(JSON.parse(bytes.toString('utf8', start, end)));
      } while (end < bytes.length - 1);
      assert.deepEqual(found, JSON.parse(bytes.toString()));
    }),
    { numRuns: 1_000 },
  );
});

test('any bytes are passed over, always forward, from any place', () => {
  const part = fc.constantFrom(...'{}[]",:\\ 0'.split(''), '"a":', '\xff');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.nat(40), (parts, from) => {
      const bytes = Buffer.from(parts.join(''), 'latin1');
      for (const skip of [skipBlanks, skipString, skipValue, elementEnd]) {
        const to = skip(bytes, from);
        assert.ok(to >= from && to <= Math.max(from, bytes.length) + 3, `${from} to ${to}`);
      }
      const comma = bytes.indexOf(',', from);
      if (from < bytes.length) {
        assert.equal(nextOf(bytes, from, byteSet(',')), comma < 0 ? bytes.length : comma);
      }
    }),
    { numRuns: 3_000 },
  );
});
