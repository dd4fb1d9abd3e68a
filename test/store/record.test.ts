/** Records of earlier, present and later versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCredentials, parseMerchant, parseOwner } from '../../src/store/merchant-format.js';
import { parseNexus } from '../../src/store/nexus.js';
import { upgraded, type RecordFields } from '../../src/store/record.js';

/** Two steps of an invented shape: a name is split, then a part of it renamed. */
const STEPS = [
  ({ name, ...rest }: RecordFields): RecordFields => {
    const [first, last] = String(name).split(' ');
    return { ...rest, first, last };
  },
  ({ last, ...rest }: RecordFields): RecordFields => ({ ...rest, family: last }),
];

test('a record of any earlier version is read as one of the newest', () => {
  const newest = { first: 'Jane', family: 'Doe' };
  for (const record of [
    { v: 1, name: 'Jane Doe' }, { v: 2, first: 'Jane', last: 'Doe' }, { v: 3, ...newest },
  ]) {
    const { first, family } = upgraded(record, 'person', STEPS);
    assert.deepEqual({ first, family }, newest);
  }
});

test('a later version and what is no record are refused', () => {
  assert.throws(() => upgraded({ v: 4 }, 'person', STEPS), /person record of version 4.*newer/);
  for (const value of [undefined, null, 7, [], {}, { v: '1' }, { v: 0 }, { v: 1.5 }]) {
    assert.throws(() => upgraded(value, 'person', STEPS), /damaged person record/);
  }
});

const MERCHANT = {
  v: 1, merchantId: 'id', account: 'a', name: 'n', contacts: { email: 'e@x' },
  type: 'provider', connectedBefore: false, createdAt: 1, updatedAt: 2,
};

const NEXUS = {
  v: 1, locationId: 'l', merchantId: 'm', account: 'a', line1: '1 Main St', city: 'Elmton',
  state: 'QA', zip: '91010', normalizedAddress: '', lat: 0, lng: 0, position: 0, createdAt: 1,
  updatedAt: 1,
};

test('merchants and locations are read back as they were written', () => {
  assert.deepEqual(parseMerchant(MERCHANT), MERCHANT);
  const whole = { ...MERCHANT, referenceId: 'r', deletedAt: 3 };
  assert.deepEqual(parseMerchant(whole), whole);
  assert.deepEqual(parseNexus(NEXUS), NEXUS);
  const labelled = { ...NEXUS, name: 'Shop', line2: 'Unit 2', deletedAt: 4 };
  assert.deepEqual(parseNexus(labelled), labelled);
});

test('a record with any member missing or of another kind is damaged', () => {
  const shapes: readonly (readonly [RecordFields, (value: unknown) => unknown])[] = [
    [MERCHANT, parseMerchant], [NEXUS, parseNexus],
  ];
  for (const [record, parse] of shapes) {
    for (const name of Object.keys(record)) {
      const { [name]: _, ...rest } = record;
      assert.throws(() => parse(rest), /damaged/, name);
      const wrong = name === 'v' ? 9 : Symbol.for('no member');
      assert.throws(() => parse({ ...record, [name]: wrong }), /damaged|newer/, name);
    }
  }
});

test('an index and sealed credentials are checked too', () => {
  assert.equal(parseOwner(undefined), null);
  assert.equal(parseOwner({ v: 1, merchantId: 'id' }), 'id');
  assert.throws(() => parseOwner({ v: 1 }), /damaged index/);
  assert.throws(() => parseCredentials({ v: 1, connection: 'x' }), /damaged credentials/);
  assert.throws(() => parseCredentials({ v: 1, connection: 'x', updatedAt: 1, apiKey: 'plain' }));
});
