import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  AnswerWriter, countRequests, readAnswers, RequestFrame, RequestReader, type Answer,
} from '../../src/engine/frame.js';

interface Read {
  readonly op: number;
  readonly version: number;
  readonly grants: number;
  readonly payload: string;
}

function readAll(frame: Uint8Array): readonly Read[] {
  const reader = new RequestReader(frame);
  const read: Read[] = [];
  while (reader.next()) {
    const { op, version, grants } = reader;
    assert.equal(reader.latin1(), reader.payload().toString('latin1'));
    read.push({ op, version, grants, payload: reader.payload().toString('utf8') });
  }
  return read;
}

/** Memory as a lane shares it. */
function sharedBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

test('requests come out as they went in, whatever their bytes', () => {
  const request = fc.record({
    op: fc.integer({ min: 0, max: 255 }), version: fc.integer({ min: 0, max: 255 }),
    grants: fc.integer({ min: 0, max: 65535 }), payload: fc.string({ unit: 'grapheme' }),
  });
  fc.assert(fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
    const frame = new RequestFrame(16);
    for (const { op, version, grants, payload } of requests) frame.add(op, version, grants, payload);
    assert.equal(frame.count, requests.length);
    assert.equal(countRequests(frame.bytes()), requests.length);
    assert.deepEqual(readAll(frame.bytes()), requests.map((one) => ({
      ...one, payload: Buffer.from(one.payload).toString('utf8'),
    })));
  }));
});

test('a frame stays in the memory it was given until it outgrows it', () => {
  const frame = new RequestFrame(sharedBuffer(100));
  for (const size of [10, 1_000, 20]) {
    const payload = 'é'.repeat(size);
    frame.reset(8);
    frame.add(1, 60, 0xabcd, payload);
    assert.equal(frame.moved, size === 1_000);
    assert.deepEqual(readAll(frame.bytes()), [{ op: 1, version: 60, grants: 0xabcd, payload }]);
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
  assert.deepEqual(seen, ANSWERS.map((one) => ({ ...one, body: one.body.join('') })));
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
