import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { packAnswers, readAnswers, readRequests, RequestFrame, type Answer }
  from '../../src/engine/frame.js';

test('requests come out as they went in, whatever their bytes', () => {
  const request = fc.record({
    op: fc.integer({ min: 0, max: 255 }), version: fc.integer({ min: 0, max: 255 }),
    grants: fc.integer({ min: 0, max: 65535 }), payload: fc.string({ unit: 'grapheme' }),
  });
  fc.assert(fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
    const frame = new RequestFrame(16);
    for (const { op, version, grants, payload } of requests) frame.add(op, version, grants, payload);
    assert.equal(frame.count, requests.length);
    const read = [...readRequests(frame.bytes())].map((one) => ({
      op: one.op, version: one.version, grants: one.grants, payload: one.payload.toString('utf8'),
    }));
    assert.deepEqual(read, requests.map((one) => ({
      ...one, payload: Buffer.from(one.payload).toString('utf8'),
    })));
  }));
});

test('answers keep their order, heads and concatenated bodies', () => {
  const answers: readonly Answer[] = [
    { status: 200, code: 100, precision: 1, flags: 8, body: [Buffer.from('ab'), Buffer.from('c')] },
    { status: 422, code: 109, precision: 0, flags: 0, body: [] },
    { status: 500, code: 106, precision: 0, flags: 1, body: [Buffer.from('x'.repeat(70_000))] },
  ];
  const seen: Answer[] = [];
  readAnswers(packAnswers(answers), answers.length, (index, slice) => {
    seen[index] = { ...slice, body: [Buffer.from(slice.body)] };
  });
  assert.deepEqual(seen.map((one) => Buffer.concat([...one.body]).toString()),
    answers.map((one) => Buffer.concat([...one.body]).toString()));
  assert.deepEqual(seen.map(({ status, code, precision, flags }) =>
    [status, code, precision, flags]),
  [[200, 100, 1, 8], [422, 109, 0, 0], [500, 106, 0, 1]]);
});
