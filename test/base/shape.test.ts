/** Shapes: one declaration gives the type, the check and the schema, and the two agree. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  anything,
  anyText,
  asciiText,
  checkOf,
  choice,
  closed,
  flag,
  list,
  number,
  object,
  oneOrList,
  open,
  optional,
  pathText,
  text,
  uuid,
  whole,
  type Of,
  type Shape,
} from '../../src/base/shape.js';
import { checker } from '../support/schema-check.js';

const ITEM = closed({ name: text(1, 3), count: optional(whole({ min: 0, max: 5 })) });
const BODY = closed({
  id: uuid(),
  kind: choice(['one', 'two']),
  items: list(ITEM, { min: 1, max: 3 }),
  share: optional(number({ positive: true, max: 1 })),
  wanted: optional(flag()),
  note: optional(anyText(0, 4)),
  header: optional(asciiText(1, 4)),
  part: optional(pathText(1, 4)),
  rest: optional(anything()),
  more: optional(open({ deep: anyText() })),
  some: optional(object()),
  either: optional(oneOrList(choice(['x']), { max: 2 })),
});

const GOOD: Of<typeof BODY> = {
  id: '6b3c1f5e-2a8d-4c9b-9f2e-1d7a4b6c8e10',
  kind: 'one',
  items: [{ name: 'abc', count: null }],
};

const check = checkOf(BODY);

test('what is in order passes, null counting as absent', () => {
  const more = { share: null, wanted: null, note: null, rest: null, more: null, some: null };
  for (const body of [GOOD, { ...GOOD, ...more, either: null, header: null }]) {
    assert.deepEqual(check(body), []);
  }
});

const BROKEN: readonly (readonly [more: object, location: string, message: string])[] = [
  [{ id: 'x' }, 'body.id', 'expected a UUID'],
  [{ id: undefined }, 'body.id', 'expected required property id'],
  [{ kind: 'three' }, 'body.kind', 'expected one or two'],
  [{ items: [] }, 'body.items', 'expected at least 1 items'],
  [{ items: 7 }, 'body.items', 'expected an array'],
  [{ items: Array(4).fill({ name: 'a' }) }, 'body.items', 'expected at most 3 items'],
  [{ items: [null] }, 'body.items[0]', 'expected a value, not null'],
  [{ items: [{ name: 'a' }, {}] }, 'body.items[1].name', 'expected required property name'],
  [{ items: [{ name: 'a', count: 6 }] }, 'body.items[0].count', 'expected number <= 5'],
  [{ items: [{ name: 'a', count: 1.5 }] }, 'body.items[0].count', 'expected a whole number'],
  [{ items: [{ name: 'a', 'x, y': 1 }] }, 'body.items[0].x, y', 'unexpected property'],
  [{ share: 0 }, 'body.share', 'expected a number above 0'],
  [{ share: Number.POSITIVE_INFINITY }, 'body.share', 'expected a number'],
  [{ wanted: 'yes' }, 'body.wanted', 'expected true or false'],
  [{ note: 'abcde' }, 'body.note', 'expected length <= 4'],
  [{ header: 'ä' }, 'body.header', 'expected printable ASCII characters'],
  [{ header: ' a' }, 'body.header', 'expected no space at either end'],
  [{ header: 'a ' }, 'body.header', 'expected no space at either end'],
  [{ part: '..' }, 'body.part', 'expected a text other than . and ..'],
  [{ part: '\n' }, 'body.part', 'expected text without control characters'],
  [{ more: {} }, 'body.more.deep', 'expected required property deep'],
  [{ some: [] }, 'body.some', 'expected an object'],
  [{ either: 'y' }, 'body.either', 'expected x'],
  [{ either: {} }, 'body.either', 'expected x'],
  [{ either: ['x', 'y'] }, 'body.either[1]', 'expected x'],
  [{ either: ['x', 'x', 'x'] }, 'body.either', 'expected at most 2 items'],
  [{ __proto__: null, extra: 1 }, 'body.extra', 'unexpected property'],
];

test('each kind of fault is told where it is', () => {
  for (const [more, location, message] of BROKEN) {
    const [first, ...others] = check({ ...GOOD, ...more });
    assert.deepEqual(others, []);
    assert.deepEqual([first?.location, first?.message], [location, message]);
  }
});

test('values without a text are told like any others', () => {
  for (const odd of [{ toString: 1 }, [{ toString: 1 }], { valueOf: null }, Object.create(null)]) {
    for (const name of Object.keys(GOOD)) {
      assert.ok(check({ ...GOOD, [name]: odd }).length > 0, name);
    }
  }
});

/** Values near the limits of the shape, right and wrong. */
const VALUES = fc.oneof(
  fc.constantFrom(
    null,
    '',
    'x',
    'abc',
    'abcd',
    'abcde',
    '\u{1f9fe}'.repeat(4),
    'one',
    'two',
    0,
    1,
    0.5,
    5,
    6,
    true,
    false,
    GOOD.id,
  ),
  fc.constantFrom<object>([], {}, ['x'], [null], { deep: 'x' }, [{ name: 'a' }], [{ name: '' }]),
);

test('the schema takes what the check takes, and nothing else', () => {
  const valid = checker().compile(BODY.schema);
  const members = fc.constantFrom(...Object.keys(BODY.schema['properties'] ?? {}), 'stranger');
  fc.assert(
    fc.property(fc.array(fc.tuple(members, VALUES), { maxLength: 3 }), (changes) => {
      const body = { ...GOOD, ...Object.fromEntries(changes) };
      assert.equal(check(body).length === 0, valid(body), JSON.stringify(body));
    }),
    { numRuns: 2_000, seed: 7 },
  );
});

test('one declaration may stand for several members', () => {
  const name: Shape<string> = text(1, 2);
  const pair = checkOf(closed({ first: name, second: name }));
  assert.deepEqual(
    pair({ first: 'abc', second: 'abc' }).map(({ location }) => location),
    ['body.first', 'body.second'],
  );
});
