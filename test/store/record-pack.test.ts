/** Records that are packed here, against msgpackr. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Encoder, pack } from 'msgpackr';
import { NewRecord, packRecord, unpackRecord } from '../../src/store/record-bytes.js';
import { PACKED, packSmall, plainBytes } from '../../src/store/record-pack.js';
import { unpackSmall } from '../../src/store/record-unpack.js';

const encoder = new Encoder({ copyBuffers: true });

const NUMBERS = [
  0,
  -0,
  1,
  31,
  32,
  63,
  64,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  1_800_000_000_000,
  0.5,
  -1,
  -32,
  -33,
  -128,
  -129,
  -32_768,
  -32_769,
  -(2 ** 31),
  -(2 ** 31) - 1,
  Infinity,
  Number.MAX_SAFE_INTEGER,
];
const TEXTS = ['', 'a', ...[31, 32, 255, 256, 3_900].map((length) => 'x'.repeat(length)), '\0\x7f'];

/** As the records of the store. */
const SMALL: readonly object[] = [
  {},
  { v: 1, bytes: 5 },
  { v: 1, contacts: {} },
  { v: 1, list: [] },
  {
    v: 1,
    merchantId: '0e0f',
    account: 'alpha',
    name: 'Shop',
    type: 'provider',
    createdAt: 1.8e12,
    contacts: { first: 'A', email: 'owner@shop.example' },
    connectedBefore: false,
    none: null,
  },
  { v: 1, key: ['merchant', 'alpha', 'm-1'], more: ['b', 7, null, true] },
  ...[0, 3, 255, 256, 4_096].map((length) => ({
    v: 1,
    bytes: new Uint8Array(length).fill(7),
    inner: { bytes: Buffer.alloc(length, 200) },
  })),
  ...NUMBERS.map((number) => ({ v: 1, number, inner: { number } })),
  { a: {}, b: {} },
  { a: { x: 1 }, b: { y: 1 } },
  { a: { x: 1 }, b: { x: 1, y: 2 } },
  { a: { x: 1, y: 2 }, b: { x: 1 } },
  { a: { x: 1, y: 2 }, b: { y: 1, x: 2 } },
  { a: { a: 1 }, list: [] },
  { a: { b: { c: 1 } }, d: { b: { c: 200 } } },
  { a: { list: [1] }, list: [[1], { a: 1 }, { a: 70 }] },
  { a: { b: { c: { d: 1 } } } },
  {
    v: 1,
    at: 1.8e12,
    account: 'alpha',
    acts: [
      { actor: { kind: 'key', prefix: 'situs_ab', id: '0123456789ab' }, action: 'merchant.create' },
      { actor: { kind: 'server' }, action: 'key.create' },
      { actor: { kind: 'key', prefix: 'situs_cd', id: '0123456789cd' }, action: 'nexus.create' },
    ],
    count: 16,
    told: '12 0 0b8f4b9e-5a39-4a40-9d3a-1f1d1f1d1f1d\n'.repeat(16),
  },
  { v: 1, a: { x: 1, y: 'z' }, b: { x: 200, y: null }, c: 5, d: { x: 70, y: true } },
  {
    v: 1,
    connection: 'c',
    updatedAt: 1.8e12,
    apiKey: {
      v: 1,
      wrapped: Buffer.alloc(60, 3),
      nonce: Buffer.alloc(12, 4),
      bytes: Buffer.alloc(30),
    },
    other: {
      v: 2,
      wrapped: Buffer.alloc(60, 5),
      nonce: Buffer.alloc(12, 6),
      bytes: Buffer.alloc(9),
    },
  },
  ...TEXTS.map((text) => ({ v: 1, text, inner: { text } })),
  Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`m${index}`, index])),
];

/** What is left to msgpackr. */
const OTHERS: readonly unknown[] = [
  'text',
  null,
  undefined,
  [1, 2],
  new Date(0),
  new Map([[1, 2]]),
  { v: 1, name: 'é' },
  { v: 1, text: `${'x'.repeat(2_000)}é` },
  { v: 1, text: 'x'.repeat(4_097) },
  { é: 1 },
  { v: 1, none: undefined },
  { v: 1, bytes: Buffer.alloc(4_097) },
  { v: 1, words: new Uint16Array(3) },
  { at: new Date(0) },
  { constructor: 1 },
  { a: { b: { c: { d: { e: { f: 1 } } } } } },
  { list: [[[[[1]]]]] },
  Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`a${index}`, { [`b${index}`]: 1 }])),
  { many: 12n },
  Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`m${index}`, index])),
  { v: 1, list: Array.from({ length: 16 }, (_, index) => index) },
];

test('small records have the bytes that msgpackr gives them, and are counted as it counts', () => {
  for (const record of SMALL) {
    const told = JSON.stringify(record);
    const end = packSmall(record, 8);
    assert.ok(end > 8, told);
    const bytes = PACKED.subarray(8, end);
    assert.equal(bytes.toString('hex'), encoder.encode(record).toString('hex'), told);
    assert.equal(plainBytes(record), pack(record).length, told);
  }
});

test('a number has the bytes that msgpackr gives it, and is read as it was stored', () => {
  for (const number of NUMBERS) {
    const bytes = PACKED.subarray(8, packSmall(number, 8));
    assert.equal(bytes.toString('hex'), encoder.encode(number).toString('hex'));
    assert.equal(plainBytes(number), pack(number).length);
    const stored = packRecord(['meta', 'version'], number);
    assert.deepEqual(unpackRecord(['meta', 'version'], stored), unpacked(encoder.encode(number)));
    // Negative ones, which no count is, are left to msgpackr where they are short.
    const read = unpackSmall(bytes, 0, bytes.length, 'number');
    if (number >= 0) assert.equal(read, unpacked(bytes));
    else if (read !== null) assert.equal(read, number);
    assert.equal(unpackSmall(bytes, 0, bytes.length - 1, 'number'), null);
  }
});

test('other values are left to msgpackr', () => {
  for (const record of OTHERS) {
    assert.deepEqual([packSmall(record, 8), plainBytes(record)], [-1, -1]);
  }
});

test('records are read as they were stored, whoever packed them', () => {
  for (const key of [
    ['a', 'b'],
    ['é', 'b'],
    ['x'.repeat(900), ''],
  ]) {
    for (const record of [...SMALL, { v: 1, name: 'é' }, { v: 1, text: 'é'.repeat(2_000) }]) {
      assert.deepEqual(
        unpackRecord(key, packRecord(key, record)),
        encoder.decode(encoder.encode(record)),
      );
    }
  }
});

/** What msgpackr makes of some bytes; undefined where it throws. */
function unpacked(bytes: Buffer): unknown {
  try {
    return new Encoder({ copyBuffers: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

test('small records are read as msgpackr reads them, and keep nothing of the bytes', () => {
  // Twice: names are learnt, then known.
  for (const record of [...SMALL, ...SMALL]) {
    const bytes = Buffer.concat([Buffer.alloc(8), encoder.encode(record), Buffer.alloc(3)]);
    const read = unpackSmall(bytes, 8, bytes.length - 3, 'kind');
    const expected = unpacked(bytes.subarray(8, bytes.length - 3));
    bytes.fill(0xff);
    const long = bytes.length > 4_107;
    assert.deepStrictEqual(read, long ? null : expected, JSON.stringify(record));
  }
});

test('what is no small record is left to msgpackr, whole or cut off or changed', () => {
  for (const record of OTHERS) {
    const bytes = Buffer.from(encoder.encode(record));
    const read = unpackSmall(bytes, 0, bytes.length, 'other');
    if (read !== null) assert.deepStrictEqual(read, unpacked(bytes), JSON.stringify(record));
  }
  for (const record of [...SMALL.slice(0, 6), ...SMALL.filter((each) => 'a' in each)]) {
    const whole = Buffer.from(encoder.encode(record));
    for (let end = 0; end < whole.length; end += 1) {
      assert.equal(unpackSmall(whole, 0, end, 'cut'), null);
    }
    for (let at = 0; at < whole.length; at += 1) {
      for (const byte of [0, 0x40, 0x72, 0x80, 0x91, 0xa1, 0xc1, 0xc4, 0xcb, 0xd4, 0xd9, 0xff]) {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        const read = unpackSmall(changed, 0, changed.length, 'changed');
        if (read !== null) assert.deepStrictEqual(read, unpacked(changed), `${at} ${byte}`);
      }
    }
  }
});

test('a record that is packed before it is put has the same bytes, and tells its length', () => {
  for (const record of SMALL) {
    const packed = new NewRecord(['kind', 'a'], record);
    assert.equal(packed.pack(), pack(record).length, JSON.stringify(record));
    // Another is packed before the bytes are taken.
    packRecord(['kind', 'b'], { v: 1, other: 'x'.repeat(200) });
    assert.deepEqual(packed.bytes, packRecord(['kind', 'a'], record));
  }
  // msgpackr has a new id for the names each time.
  const other = { v: 1, text: 'ß' };
  const left = new NewRecord(['kind', 'a'], other);
  assert.equal(left.pack(), -1);
  assert.deepEqual(unpackRecord(['kind', 'a'], left.bytes), other);
});

test('the sum before a record is the one that every version wrote', () => {
  const sums = ['dcaa3da1', '572c687e', 'dbfd8986', 'ab3a82af'];
  for (const [length, sum] of sums.entries()) {
    const record = { v: 1, text: 'abc'.slice(0, length) };
    assert.equal(packRecord(['kind', 'a'], record).toString('hex', 4, 8), sum);
  }
});
