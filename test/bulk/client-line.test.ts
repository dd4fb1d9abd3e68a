/** Lines of streams, and the answers that are kept. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'node:test';
import { AnswerBacklog, listElements, readClientLine } from '../../src/bulk/stream/backlog.js';
import type { JsonObject } from '../../src/base/json-object.js';
import { wordProblem } from '../../src/bulk/row/stream-word.js';
import { BATCH_MESSAGES_MAX, REPLAY_BYTES_MAX } from '../../src/bulk/stream/session-options.js';

test('the elements of a list are found whatever they hold', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom('', ' ', '\n\t'), (list, space) => {
      const text = `${space}[${space}${list
        .map((each) => JSON.stringify(each))
        .join(`${space},${space}`)}${space}]${space}`;
      const found = listElements(Buffer.from(text));
      if (list.length === 0) {
        assert.deepEqual(
          found?.map((each) => each.toString().trim()),
          [''],
        );
      } else {
        assert.deepEqual(
          found?.map((each) => JSON.parse(each.toString()) as unknown),
          list.map((each) => JSON.parse(JSON.stringify(each)) as unknown),
        );
      }
    }),
  );
});

test('bytes without order never throw, and what is no list is one message', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const line = readClientLine(Buffer.from(bytes));
      assert.ok(line.kind !== 'messages' || line.messages.length > 0);
    }),
  );
  for (const text of ['[', '[1', '[1]]', '[1],', '{}', '', '["]', '[{]']) {
    const line = readClientLine(Buffer.from(text));
    assert.ok(line.kind === 'messages' && !line.batch, text);
  }
});

test('words about the stream are told from messages', () => {
  const kind = (text: string): string => readClientLine(Buffer.from(text)).kind;
  assert.deepEqual(readClientLine(Buffer.from(' { "ack" : 12 } ')), { kind: 'ack', seq: 12 });
  assert.equal(kind('{"end":true}'), 'end');
  for (const text of [
    '{"ack":-1}',
    '{"ack":"1"}',
    '{"end":false}',
    '{"ack":1,"id":2}',
    '[{"end":true}]',
  ]) {
    assert.equal(kind(text), 'messages', text);
  }
  assert.equal(kind(`[${Array(65).fill('{}').join(',')}]`), 'batch-too-long');
});

test('a word about the stream that is not written as one is told what is wrong with it', () => {
  const wrong = (object: JsonObject): string => {
    const problem = wordProblem(object);
    return problem === null ? '' : `${problem.failure} ${problem.field} ${problem.detail}`;
  };
  for (const ack of [-1, 1.5, '7', null, true, 1e15, [1]]) {
    assert.match(
      wrong({ ack }),
      /^invalid-format ack Parameter ack: the number of the last answer/,
    );
  }
  assert.match(wrong({ ack: 1, id: 2 }), /alone in a message of up to 64 bytes/);
  assert.match(wrong({ end: false }), /^invalid-format end Parameter end: true/);
  assert.match(
    wrong({ id: 1, close: true }),
    /^invalid-postal-code null Parameter close is not known/,
  );
  for (const object of [
    {},
    { id: 1 },
    { address: '', end: true },
    { postalcode: 91010, ack: -1 },
  ]) {
    assert.equal(wrong(object), '', 'other members of a lookup are ignored');
  }
});

function line(bytes: number): Buffer {
  return Buffer.concat([Buffer.alloc(bytes - 1, 'x'), Buffer.from('\n')]);
}

test('answers are kept until they are acknowledged, up to the limit', () => {
  const outbox = new AnswerBacklog();
  const size = 100_000;
  const count = Math.floor(REPLAY_BYTES_MAX / size) + 3;
  for (let seq = 1; seq <= count; seq += 1) {
    const bytes = Buffer.alloc(0);
    outbox.add([{ seq, bytes, batch: false, last: true }], line(size), 'a');
  }
  assert.equal(outbox.unsentBytes, count * size, 'what was not sent is never given up');
  while (outbox.next() !== null);
  assert.equal(outbox.unsentBytes, 0);
  assert.deepEqual([outbox.canResume(2), outbox.canResume(3)], [false, true]);
  outbox.acknowledge(10);
  assert.deepEqual([outbox.canResume(9), outbox.canResume(10)], [false, true]);
  outbox.rewind(20);
  assert.equal(outbox.next()?.first, 21);
  assert.equal(outbox.written, count);
});

test('a batch is one line, one cut short by the end too', () => {
  const outbox = new AnswerBacklog();
  const messages = [1, 2, 3].map((seq) => ({
    seq,
    bytes: Buffer.alloc(0),
    batch: true,
    last: seq === 4,
  }));
  outbox.add(messages.slice(0, 2), Buffer.from('1\n2\n'), 'a');
  outbox.add(messages.slice(2), Buffer.from('3\n'), 'b');
  assert.equal(outbox.next(), null);
  outbox.endBatch('b');
  const line = outbox.next();
  assert.deepEqual([line?.first, line?.last, line?.bytes.toString()], [1, 3, '[1,2,3]\n']);
  outbox.rewind(2);
  assert.equal(outbox.next()?.first, 1, 'from the beginning of the batch');
});

test('of a list with more than a batch, no more is kept than tells so', () => {
  const many = Buffer.from(`[${'1,'.repeat(500_000)}1]`);
  assert.equal(listElements(many)?.length, BATCH_MESSAGES_MAX + 1);
  assert.deepEqual(readClientLine(many), { kind: 'batch-too-long' });
  assert.equal(listElements(many.subarray(0, -1)), null);
});
