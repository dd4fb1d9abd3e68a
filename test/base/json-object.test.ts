/** A long text is refused for the same reason as a short one, though it is not parsed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { malformationOf, parseJsonObject } from '../../src/base/json-object.js';
import { isProblem } from '../../src/base/problem.js';

test('what is wrong with a text is the same, parsed or not', () => {
  const texts = [
    '',
    ' ',
    '{}',
    ' \n{"a":1} ',
    '\ufeff{}',
    '\ufeff {"a":{}}',
    '[{}]',
    '"{"',
    '1',
    'null',
    '{',
    '{"a":1,}',
    `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
    '"x{}"',
    '[]',
  ];
  for (const bytes of [
    ...texts.map((text) => Buffer.from(text)),
    Buffer.from([0x7b, 0xff, 0x7d]),
  ]) {
    const read = parseJsonObject(bytes);
    assert.deepEqual(malformationOf(bytes), isProblem(read) ? read : null, bytes.toString());
  }
});

test('texts that are no JSON are refused alike, and the parser has no long one of the front end', (context) => {
  const short = parseJsonObject(Buffer.alloc(4, '"'));
  const parse = context.mock.method(JSON, 'parse');
  const tried = (text: string): number => {
    parse.mock.resetCalls();
    assert.deepEqual(parseJsonObject(Buffer.from(text)), short);
    return parse.mock.callCount();
  };
  // V8 keeps what it cannot parse until it looks through all its memory.
  for (const character of ['"', ' ', 'x', '1']) {
    assert.equal(tried(`${character.repeat(4_097)},`), 0);
    assert.equal(tried(`${character.repeat(65_535)},`), 0);
    assert.equal(tried(`${character.repeat(4_000)},`), 1);
    // Such a one only a worker has.
    assert.equal(tried(`${character.repeat(65_536)},`), 1);
  }
  parse.mock.resetCalls();
  const whole = parseJsonObject(Buffer.from(`{"a":"${'x'.repeat(60_000)}"}`));
  assert.equal(isProblem(whole), false);
  assert.equal(parse.mock.callCount(), 1);
});
