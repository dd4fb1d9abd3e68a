/** Rules of bodies: limits in characters, ids, secrets, unknown members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closed, flag, optional, text, textThat, uuid, type Shape } from '../../src/base/shape.js';
import { BODY_ERRORS_MAX } from '../../src/base/validator.js';
import { isProblem } from '../../src/base/problem.js';
import { bodyCheck } from '../../src/api/merchant/merchant-shape.js';
import { isMailAddress } from '../../src/base/mail-address.js';
import { parseCreate, parseUpdate } from '../../src/api/merchant/merchant-shape.js';
import { parseNexusCreate } from '../../src/api/merchant/nexus-shape.js';
import { relayProblem } from '../../src/api/merchant/relay-shape.js';

interface Body {
  readonly first: string;
  readonly second: string;
  readonly name: string;
  readonly mail?: string | null;
  readonly wanted?: boolean | null;
}

const ID = uuid();
const SHAPE: Shape<Body> = closed({
  first: ID,
  second: ID,
  name: text(1, 3),
  mail: optional(textThat((mail) => mail === '' || isMailAddress(mail), 'emailText', {}, 10)),
  wanted: optional(flag()),
});
const UUID = '6B3C1F5E-2a8d-4c9b-9f2e-1d7a4b6c8e10';
const GOOD = { first: UUID, second: UUID, name: 'abc' };

const check = bodyCheck(SHAPE, { ids: ['first', 'second'] });
const hushed = bodyCheck(SHAPE, { ids: ['first', 'second'], secret: true });

function problems(input: unknown, run = check): readonly (readonly unknown[])[] {
  const checked = run(input);
  return isProblem(checked)
    ? checked.errors!.map(({ location, message, value }) => [location, message, value])
    : [];
}

test('what is in order passes unchanged', () => {
  for (const more of [{}, { mail: null, wanted: null }, { mail: '', wanted: false }]) {
    const body = { ...GOOD, ...more };
    assert.deepEqual(check(body), { value: body });
  }
});

test('every id is checked, and ids go before everything else', () => {
  for (const name of ['first', 'second']) {
    const checked = check({ ...GOOD, [name]: 'x', name: '', more: 1 });
    assert.ok(isProblem(checked));
    assert.equal(checked.status, 400);
    assert.equal(checked.detail, `${name} must be a UUID.`);
    assert.deepEqual(checked.errors, [{ location: `body.${name}`, message: 'expected a UUID' }]);
  }
  const both = check({ name: 'abc' });
  assert.ok(isProblem(both));
  assert.equal(both.detail, 'first and second must be a UUID.');
});

test('values are told back, but none of a body with secrets', () => {
  const broken = { ...GOOD, name: '', mail: 'nobody', more: 'x', wanted: 'no' };
  assert.deepEqual(problems(broken), [
    ['body.name', 'expected length >= 1', ''],
    ['body.mail', 'expected an e-mail address', 'nobody'],
    ['body.wanted', 'expected true or false', 'no'],
    ['body.more', 'unexpected property', undefined],
  ]);
  assert.deepEqual(
    problems(broken, hushed).map(([, , value]) => value),
    Array(4).fill(undefined),
  );
});

test('text is counted in characters, and has neither control characters nor halves', () => {
  assert.deepEqual(problems({ ...GOOD, name: '\u{1f9fe}\u{1f9fe}\u{1f9fe}' }), []);
  assert.deepEqual(
    problems({ ...GOOD, name: 'abcd' }).map(([, message]) => message),
    ['expected length <= 3'],
  );
  for (const name of ['a\n', '\u0000', '\u0085', '\ud800', 'a\udc00']) {
    assert.deepEqual(
      problems({ ...GOOD, name }).map(([, message]) => message),
      ['expected text without control characters'],
    );
  }
});

test('addresses have one @ between two parts without spaces or brackets', () => {
  for (const mail of ['a@b', 'a.b+c@d.e', '\u00e4@\u00f6.x']) {
    assert.deepEqual(problems({ ...GOOD, mail }), [], mail);
  }
  for (const mail of ['a', '@b', 'a@', 'a@b@c', 'a b@c', '<a@b>', 'a@b,c@d', 'a@b\r\nx', '"a"@b']) {
    assert.equal(problems({ ...GOOD, mail }).length, 1, mail);
  }
});

test('no JSON makes a parser throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const parse of [parseCreate, parseUpdate]) assert.equal(typeof parse(value), 'object');
    }),
  );
});

test('a list that is too long is not looked into, and errors end the look', () => {
  let looks = 0;
  const counted = {
    get line1(): undefined {
      looks += 1;
      return undefined;
    },
  };
  const merchantId = UUID;
  const tooLong = parseNexusCreate({ merchantId, locations: Array<object>(1_000).fill(counted) });
  assert.ok(isProblem(tooLong));
  assert.deepEqual(
    tooLong.errors!.map(({ location }) => location),
    ['body.locations'],
  );
  assert.equal(looks, 0);
  const states = Array<object>(1_000).fill({
    get abbreviation(): undefined {
      looks += 1;
      return undefined;
    },
  });
  const problem = relayProblem('cert/create', [], { states });
  assert.equal(problem?.errors?.length, BODY_ERRORS_MAX);
  assert.ok(looks <= BODY_ERRORS_MAX);
});

test('a long name of a member is cut where it is told back', () => {
  const [[location = ''] = []] = problems({ ...GOOD, ['x'.repeat(10_000)]: 1 }) as string[][];
  assert.equal(location, `body.${'x'.repeat(100)}…`);
});
