/** Messages of a broker: each is told its line and, where it is refused, why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChunkPool, ChunkSchedule } from '../../src/bulk/run/schedule.js';
import { MessageAnswerer, type MessageAnswer } from '../../src/bulk/stream/answerer.js';
import type { PinnedRelease, PoolFailure, PoolRequest } from '../../src/pool/types.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { answerFrame } from '../../src/worker.js';
import { openWire } from '../../src/api/lookup/context.js';
import { engineOf } from '../support/engine-of.js';
import { RUN } from './chunk-rows.js';

const { dataset, nowMs } = RUN;
const RELEASE: PinnedRelease = { id: dataset.id, dir: '' };

/** A worker in this thread, which first fails as often as it is told to. */
class OwnPool implements ChunkPool {
  readonly #failures: PoolFailure[];

  constructor(failures: readonly PoolFailure[]) {
    this.#failures = [...failures];
  }

  submit(request: PoolRequest): void {
    const failure = this.#failures.shift();
    if (failure !== undefined) {
      setImmediate(() => request.failed(failure));
      return;
    }
    const frame = new RequestFrame();
    frame.add({ kind: 'rows', grants: GRANT_ALL }, request.payload);
    const context = openWire({ baseUrl: '' });
    const packed = answerFrame(engineOf(dataset), frame.bytes(), nowMs, context);
    setImmediate(() => {
      readAnswers(packed, 1, (_index, slice) => request.answered(slice, RELEASE));
    });
  }
}

function answererOf(...failures: readonly PoolFailure[]): MessageAnswerer {
  return new MessageAnswerer({
    schedule: new ChunkSchedule(new OwnPool(failures), 4),
    releases: { pin: () => RELEASE, unpin: () => undefined },
    now: () => nowMs,
  });
}

/** Numbers as a broker gives them where others lie between. */
const seqOf = (index: number): number => 11 + 7 * index;

function ask(answerer: MessageAnswerer, messages: readonly string[]): Promise<MessageAnswer[]> {
  return Promise.all(
    messages.map((message, index) => answerer.answer(Buffer.from(message), seqOf(index))),
  );
}

/** That a message is told the same beside its line as in it. */
function checkTold({ line, refused }: MessageAnswer, index: number): void {
  const { seq, error } = JSON.parse(line.toString('utf8')) as { seq: number; error?: object };
  assert.equal(seq, seqOf(index));
  assert.deepEqual(refused, error === undefined ? null : { line: seq, ...error });
}

test('each message that is refused is told why, wherever it stands among others', async () => {
  const answers = await ask(answererOf(), [
    '{"postalcode":"x"}',
    '{"postalcode":"97001"}',
    '{"items":[]}',
    'no JSON',
    '{"postalcode":"97001"}',
    '{"merchantId":"00000000-0000-0000-0000-000000000000","items":[]}',
    '',
  ]);
  for (const [index, answer] of answers.entries()) checkTold(answer, index);
  assert.deepEqual(
    answers.map(({ refused }) => refused && [refused.code, refused.field]),
    [
      [104, 'postalcode'],
      null,
      [105, 'items'],
      [105, null],
      null,
      [105, 'merchantId'],
      [105, null],
    ],
  );
});

test('a message that no worker answers is refused beside its line too', async () => {
  const [answer] = await ask(answererOf('internal', 'internal'), ['{"postalcode":"97001"}']);
  checkTold(answer!, 0);
  assert.equal(answer?.refused?.code, 106);
});
