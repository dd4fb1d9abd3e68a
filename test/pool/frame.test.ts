import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { AnswerWriter, RequestReader } from '../../src/pool/lane-server.js';
import { CART_ENDPOINTS, type Answer, type RequestFields } from '../../src/pool/types.js';
import { ENDPOINT_NAMES } from '../../src/provider/operation-call.js';

interface Asked {
  readonly fields: RequestFields;
  readonly payload: string;
}

function readAll(frame: Uint8Array): readonly Asked[] {
  const reader = new RequestReader(frame);
  const read: Asked[] = [];
  for (let next = reader.next(); next !== null; next = reader.next()) {
    const { payload, ...fields } = next;
    // Queries come with one character per byte.
    assert.equal(typeof payload === 'string', fields.kind === 'lookup');
    const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
    read.push({ fields, payload: bytes.toString() });
  }
  return read;
}

/** Memory as a lane shares it. */
function sharedBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

test('requests come out as they went in, whatever their bytes', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const word = fc.integer({ min: 0, max: 65535 });
  const kind = <K extends string>(name: K) => fc.constant(name);
  const fields = fc.oneof(
    fc.record({ kind: kind('lookup'), version: byte, grants: word }),
    fc.record({ kind: kind('rows'), grants: word }),
    fc.record({
      kind: kind('cart'),
      endpoint: fc.constantFrom(...CART_ENDPOINTS),
      optionBits: word,
    }),
    fc.record({ kind: kind('relayed'), operation: fc.constantFrom(...ENDPOINT_NAMES) }),
    fc.record({
      kind: fc.constantFrom('locate', 'cart-owner', 'nexus', 'answer'),
    }),
  );
  const request = fc.record({ fields, payload: fc.string({ unit: 'grapheme' }) });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
      const frame = new RequestFrame(16);
      for (const { fields: asked, payload } of requests) frame.add(asked, payload);
      assert.equal(frame.count, requests.length);
      assert.deepEqual(
        readAll(frame.bytes()),
        requests.map((one) => ({
          fields: { ...one.fields },
          payload: Buffer.from(one.payload).toString('utf8'),
        })),
      );
    }),
  );
});

test('a kind of request that there is not is not read', () => {
  const frame = new RequestFrame();
  frame.add({ kind: 'locate' }, '');
  const bytes = frame.bytes();
  bytes[0] = 99;
  assert.throws(() => new RequestReader(bytes).next(), RangeError);
});

test('a frame stays in the memory it was given until it outgrows it', () => {
  const fields = { kind: 'lookup', version: 60, grants: 0xabcd } as const;
  const frame = new RequestFrame(sharedBuffer(100));
  for (const size of [10, 1_000, 20]) {
    const payload = 'é'.repeat(size);
    frame.reset(8);
    frame.add(fields, payload);
    assert.equal(frame.moved, size === 1_000);
    assert.deepEqual(readAll(frame.bytes()), [{ fields, payload }]);
  }
});

const ANSWERS: readonly Answer[] = [
  { status: 200, code: 100, precision: 1, flags: 8, body: [Buffer.from('ab'), 'c', 'é€😀'] },
  { status: 422, code: 109, precision: 0, flags: 0, body: [] },
  { status: 500, code: 106, precision: 0, flags: 1, body: ['', 'x'.repeat(70_000)] },
];

function assertAnswers(packed: Uint8Array): void {
  const seen: unknown[] = [];
  readAnswers(packed, ANSWERS.length, (index, slice) => {
    seen[index] = { ...slice, body: Buffer.from(slice.body).toString() };
  });
  assert.deepEqual(
    seen,
    ANSWERS.map((one) => ({ ...one, body: one.body.join('') })),
  );
}

test('answers keep their order, heads and bodies, in whatever memory they fit', () => {
  for (const bytes of [16, 200, 300_000]) {
    const writer = new AnswerWriter(0);
    for (let round = 0; round < 2; round += 1) {
      writer.begin(ANSWERS.length, sharedBuffer(bytes));
      for (const answer of ANSWERS) writer.add(answer);
      assert.equal(writer.moved, bytes < 300_000);
      assertAnswers(writer.bytes());
    }
  }
});

test('answers that are cut short are not read', () => {
  assert.throws(() => readAnswers(new Uint8Array(20), 2, () => assert.fail('read')), RangeError);
});
