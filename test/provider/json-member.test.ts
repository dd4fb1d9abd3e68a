import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { onlyElement, withoutMember } from '../../src/provider/json-member.js';

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
  value: scalar, spaces: fc.tuple(space, space, space, space),
});

test('whatever else an object holds, its members stay and parse to the same', () => {
  fc.assert(fc.property(fc.array(member, { maxLength: 8 }), (members) => {
    const texts = members.map(({ name, value, spaces: [a, b, c, d] }) =>
      ({ name, text: `${a}${JSON.stringify(name)}${b}:${c}${value}${d}` }));
    const whole = `{${texts.map(({ text }) => text).join(',')}}`;
    const rest = cut(whole);
    const kept = texts.filter(({ name }) => name !== 'm');
    assert.deepEqual(JSON.parse(rest), JSON.parse(`{${kept.map(({ text }) => text).join(',')}}`));
    for (const { text } of kept) assert.ok(rest.includes(text.trim()), text);
    if (kept.length === texts.length) assert.equal(rest, whole);
  }), { numRuns: 500 });
});

test('depth is no limit', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  assert.equal(cut(`{"m":${deep},"a":${deep}}`), `{"a":${deep}}`);
});

test('a list of one is unpacked, anything else stays', () => {
  const only = (text: string): string => Buffer.from(onlyElement(Buffer.from(text))).toString();
  assert.equal(only(' [ {"a":1.0, "b":[1,2]} ] '), '{"a":1.0, "b":[1,2]}');
  for (const text of ['[]', '[ ]', '[{},{}]', '{"a":[1]}', ' {"a":1} ']) {
    assert.equal(only(text), text);
  }
});
