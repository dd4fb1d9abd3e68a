import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { excessOf, JSON_DEPTH_MAX } from '../../src/base/json-scan.js';
import { memberName, memberValue, withoutMember } from '../../src/base/json-member.js';

function cut(text: string, name = 'm'): string {
  return Buffer.from(withoutMember(Buffer.from(text), name)).toString();
}

const CASES: readonly (readonly [whole: string, rest: string])[] = [
  ['{"m":1}', '{}'],
  [' { "m" : 1 } ', ' {  } '],
  ['{"m":1,"a":10.10}', '{"a":10.10}'],
  ['{"a":1e2,"m":1}', '{"a":1e2}'],
  ['{"a":-0,"m":[1,{"m":"}]"}],"b":1E+2}', '{"a":-0,"b":1E+2}'],
  ['{"z":1.0,\n  "m": "x,}\\"\\\\",\n  "a":"\\u00e9é\\/"}', '{"z":1.0,\n  "a":"\\u00e9é\\/"}'],
  ['{"m":1,"a":1,"m":2,"m":3}', '{"a":1}'],
  ['{"m":1,"m":2}', '{}'],
  ['{"a":true,"\\u006d":1,"b":null}', '{"a":true,"b":null}'],
  ['{"a":{"m":1},"mm":"m","M":2}', '{"a":{"m":1},"mm":"m","M":2}'],
  ['{"a":1.50\t,"m":false}', '{"a":1.50}'],
  ['\ufeff{"m":1,"a":1}', '\ufeff{"a":1}'],
  ['{}', '{}'],
  ['{ }', '{ }'],
];

test('the member is cut with one comma, and every other byte stays', () => {
  for (const [whole, rest] of CASES) assert.equal(cut(whole), rest, whole);
});

/** An object as a person might write it: spaces anywhere, numbers in many spellings. */
const space = fc.constantFrom('', ' ', '\n', '\t ', '\r\n');
const scalar = fc.oneof(
  fc.constantFrom('10.10', '1e2', '-0', '1E-7', 'true', 'null', '12345678901234567890', '[]', '{}'),
  fc.string().map((text) => JSON.stringify(text)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
);
const member = fc.record({
  name: fc.oneof(fc.constantFrom('m', 'a', 'mm'), fc.string()),
  value: scalar,
  spaces: fc.tuple(space, space, space, space),
});

test('whatever else an object holds, its members stay and parse to the same', () => {
  fc.assert(
    fc.property(fc.array(member, { maxLength: 8 }), (members) => {
      const texts = members.map(({ name, value, spaces: [a, b, c, d] }) => ({
        name,
        text: `${a}${JSON.stringify(name)}${b}:${c}${value}${d}`,
      }));
      const whole = `{${texts.map(({ text }) => text).join(',')}}`;
      const rest = cut(whole);
      const kept = texts.filter(({ name }) => name !== 'm');
      assert.deepEqual(JSON.parse(rest), JSON.parse(`{${kept.map(({ text }) => text).join(',')}}`));
      for (const { text } of kept) assert.ok(rest.includes(text.trim()), text);
      if (kept.length === texts.length) assert.equal(rest, whole);
    }),
    { numRuns: 500 },
  );
});

test('depth is no limit', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  assert.equal(cut(`{"m":${deep},"a":${deep}}`), `{"a":${deep}}`);
});

/** A name as its characters or as escapes. */
function spelt(name: string, escaped: boolean): string {
  if (!escaped) return JSON.stringify(name);
  const units = Array.from({ length: name.length }, (_unit, at) => name.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

const named = fc.record({
  name: fc.constantFrom(
    'm',
    'm',
    'mm',
    '',
    'M',
    'é',
    '__proto__',
    'm"',
    'branchId',
    'anchId',
    'Id',
  ),
  escaped: fc.boolean(),
  value: scalar,
  spaces: fc.tuple(space, space, space, space),
});

test('a member reads as the parser reads it, however it is spelt and repeated', () => {
  fc.assert(
    fc.property(
      fc.array(named, { maxLength: 8 }),
      fc.constantFrom('m', 'é', '', 'm"', 'branchId'),
      (members, name) => {
        const whole = `{${members
          .map(
            ({ name: each, escaped, value, spaces: [a, b, c, d] }) =>
              `${a}${spelt(each, escaped)}${b}:${c}${value}${d}`,
          )
          .join(',')}}`;
        const parsed = new Map(Object.entries(JSON.parse(whole) as Record<string, unknown>));
        const found = memberValue(Buffer.from(whole), memberName(name));
        assert.equal(found === null, !parsed.has(name), whole);
        if (found !== null) {
          assert.deepEqual(JSON.parse(Buffer.from(found).toString()), parsed.get(name));
        }
        parsed.delete(name);
        assert.deepEqual(
          new Map(Object.entries(JSON.parse(cut(whole, name)) as Record<string, unknown>)),
          parsed,
        );
      },
    ),
    { numRuns: 2_000 },
  );
});

test('the last of several counts, however much before it looks like another', () => {
  for (const count of [0, 1, 7, 8, 9, 100]) {
    for (const between of ['b', 'b\\"', '\\n', 'merch\\\\']) {
      for (const again of ['"ab"', '"\\u0061b"', '"a\\u0062"']) {
        const text = `{"ab":1,"x":"${between.repeat(count)}",${again}:2}`;
        const found = memberValue(Buffer.from(text), memberName('ab'));
        assert.equal(Buffer.from(found ?? []).toString(), '2', text);
      }
    }
  }
});

test('whatever the bytes are, nothing is thrown', () => {
  const mark = fc.constantFrom(...'{}[]",:\\u006dm 0\ufeff'.split(''), '"m":', '\xff');
  fc.assert(
    fc.property(fc.array(mark, { maxLength: 30 }), (marks) => {
      const bytes = Buffer.from(marks.join(''), 'latin1');
      memberValue(bytes, memberName('m'));
      withoutMember(bytes, 'm');
      excessOf(bytes);
    }),
    { numRuns: 2_000 },
  );
});

test('depth is told of lists and objects, not of what texts hold', () => {
  const nested = (levels: number): Buffer =>
    Buffer.from('[{"a":'.repeat(levels / 2) + '0' + '}]'.repeat(levels / 2));
  assert.equal(excessOf(nested(JSON_DEPTH_MAX)), null);
  assert.equal(excessOf(nested(JSON_DEPTH_MAX + 2)), 'levels');
  assert.equal(excessOf(Buffer.from(JSON.stringify(['\\"' + '['.repeat(100)]))), null);
  assert.equal(excessOf(Buffer.from(`[${'[],'.repeat(100)}[]]`)), null);
});

test('a text that is cut anywhere is read to its last byte and no further', () => {
  const text = '{"\\u006derchantId":1,"merchantId":"x"}';
  for (let length = 0; length < text.length; length += 1) {
    // In memory of its own, and before bytes of somebody else.
    const own = Uint8Array.from(Buffer.from(text.slice(0, length)));
    const before = Buffer.from(text).subarray(0, length);
    const [first, second] = [own, before].map((bytes) => {
      const value = memberValue(bytes, memberName('merchantId'));
      return value === null ? null : Buffer.from(value).toString();
    });
    assert.equal(first, second, text.slice(0, length));
  }
});
