/** Records of earlier, present and later versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/base/json-object.js';
import { parseKeyRecord, parseUsageRecord } from '../../src/store/format.js';
import { parseJob } from '../../src/store/jobs.js';
import { parseCredentials, parseMerchant, parseOwner } from '../../src/store/merchant-format.js';
import { parseNexus } from '../../src/store/nexus.js';
import { parseOutboxRecord } from '../../src/store/outbox-record.js';
import { recordReader, text } from '../../src/store/record-reader.js';
import { ALL_SCOPES } from '../../src/store/scope.js';

/** Two steps of an invented shape: a name is split, then a part of it renamed. */
const STEPS = [
  ({ name, ...rest }: JsonObject): JsonObject => {
    const [first, last] = String(name).split(' ');
    return { ...rest, first, last };
  },
  ({ last, ...rest }: JsonObject): JsonObject => ({ ...rest, family: last }),
];
const parsePerson = recordReader('person', 3, { first: text, family: text }, STEPS);

test('a record of any earlier version is read as one of the newest', () => {
  const newest = { first: 'Jane', family: 'Doe' };
  for (const record of [
    { v: 1, name: 'Jane Doe' },
    { v: 2, first: 'Jane', last: 'Doe' },
    { v: 3, ...newest },
  ]) {
    assert.deepEqual(parsePerson(record), { v: 3, ...newest });
  }
});

test('a later version and what is no record are refused', () => {
  assert.throws(() => parsePerson({ v: 4 }), /person record of version 4.*newer/);
  for (const value of [undefined, null, 7, [], {}, { v: '1' }, { v: 0 }, { v: 1.5 }]) {
    assert.throws(() => parsePerson(value), /damaged person record/);
  }
});

const MERCHANT = {
  v: 1,
  merchantId: 'id',
  account: 'a',
  name: 'n',
  contacts: { email: 'e@x' },
  type: 'provider',
  connectedBefore: false,
  createdAt: 1,
  updatedAt: 2,
};

const NEXUS = {
  v: 1,
  locationId: 'l',
  merchantId: 'm',
  account: 'a',
  line1: '1 Main St',
  city: 'Elmton',
  state: 'QA',
  zip: '91010',
  normalizedAddress: '',
  lat: 0,
  lng: 0,
  position: 0,
  createdAt: 1,
  updatedAt: 1,
};

const KEY = {
  v: 1,
  id: 'hash',
  prefix: 'abc',
  account: 'a',
  plan: 'pro',
  rate: 1,
  grants: 0,
  active: true,
  createdAt: 1,
};

const USAGE = { v: 1, id: 'hash', account: 'a', month: '202605', core: 1, geo: 0, merchant: 0 };

const JOB = {
  v: 1,
  id: 'job',
  account: 'a',
  keyId: 'hash',
  state: 'done',
  request: '{}',
  file: null,
  inputBytes: 1,
  inputModifiedMs: 0,
  dataset: 'd',
  createdAt: 1,
  startedAt: null,
  endedAt: 2,
  checkpoint: null,
  reason: null,
  stopped: { code: 100, message: 'm', line: 2 },
  result: null,
};

const MAIL = {
  v: 1,
  kind: 'mail',
  id: 'mail_a',
  account: 'a',
  createdAt: 1,
  dueAt: 1,
  attempts: 0,
  status: null,
  error: null,
  merchantId: 'id',
  merchantName: 'n',
  contactFirst: null,
  contactLast: 'Doe',
  email: 'e@x',
};

test('keys older than scopes and limits have all of the former and none of the latter', () => {
  const { scopes, coreLimit, geoLimit, merchantLimit } = parseKeyRecord(KEY);
  assert.deepEqual([scopes, coreLimit, geoLimit, merchantLimit], [ALL_SCOPES, 0, 0, 0]);
  for (const name of ['scopes', 'coreLimit', 'geoLimit', 'merchantLimit']) {
    assert.throws(() => parseKeyRecord({ ...KEY, [name]: '1' }), /damaged key/, name);
  }
});

test('what is optional is absent or read, never undefined', () => {
  assert.deepEqual(parseJob(JOB), JOB);
  assert.deepEqual(parseJob({ ...JOB, other: 1 }), JOB);
  const own = { ...JOB, ownFolder: true, endedOn: 3, result: { bytes: 1, sha256: 'x' } };
  assert.deepEqual(parseJob(own), own);
  assert.throws(() => parseJob({ ...JOB, stopped: { code: 100, message: 'm' } }), /damaged job/);
});

test('an event of version 1 keeps its plain data, one of version 2 has none', () => {
  const { email: _, kind: __, v: ___, ...attempted } = MAIL;
  const event = { ...attempted, kind: 'event', type: 't', data: '{}' };
  const read = parseOutboxRecord({ ...event, v: 1 });
  assert.deepEqual([read.v, read.kind === 'event' && read.data], [2, '{}']);
  assert.throws(() => parseOutboxRecord({ ...event, v: 2 }), /damaged outbox/);
  assert.throws(() => parseOutboxRecord({ ...event, v: 3 }), /newer/);
});

test('merchants and locations are read back as they were written', () => {
  assert.deepEqual(parseMerchant(MERCHANT), MERCHANT);
  const whole = { ...MERCHANT, referenceId: 'r', deletedAt: 3 };
  assert.deepEqual(parseMerchant(whole), whole);
  assert.deepEqual(parseNexus(NEXUS), NEXUS);
  const labelled = { ...NEXUS, name: 'Shop', line2: 'Unit 2', deletedAt: 4 };
  assert.deepEqual(parseNexus(labelled), labelled);
});

test('a record with any member missing or of another kind is damaged', () => {
  const shapes: readonly (readonly [JsonObject, (value: unknown) => unknown])[] = [
    [MERCHANT, parseMerchant],
    [NEXUS, parseNexus],
    [KEY, parseKeyRecord],
    [USAGE, parseUsageRecord],
    [JOB, parseJob],
    [MAIL, parseOutboxRecord],
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
