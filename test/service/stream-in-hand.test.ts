/** What `situs stream` has in hand of a broker that gives whatever it is asked for at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageAnswerer } from '../../src/bulk/stream/answerer.js';
import type { Broker } from '../../src/cli/stream-broker.js';
import { IN_HAND_BYTES_MAX, StreamWork } from '../../src/cli/stream-work.js';
import { eventually } from '../support/http-eventually.js';

/** So long that their number alone would be no bound: a process takes up to 256 together. */
const MESSAGE = new Uint8Array(900_000);
const SENT = 150;
const ANSWERED_TOGETHER = 25;
const HELD_MAX = Math.floor(IN_HAND_BYTES_MAX / MESSAGE.length);

interface Counted {
  readonly broker: Broker;
  readonly given: () => number;
  readonly acknowledged: () => number;
}

/** A broker with so many messages; what it is asked for beyond these comes with a stop. */
function brokerOf(count: number): Counted {
  let [given, acknowledged] = [0, 0];
  const never = new Promise<never>(() => undefined);
  const message = (seq: number): object => ({
    seq,
    subject: 'orders.carts',
    data: MESSAGE,
    ack: () => {
      acknowledged += 1;
    },
  });
  const fetched = ({ max_messages }: { readonly max_messages: number }): object => {
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    async function* messages(): AsyncGenerator<object> {
      const end = Math.min(count, given + max_messages);
      while (given < end) yield message((given += 1));
      if (given === count) await stopped;
    }
    return { stop, [Symbol.asyncIterator]: messages };
  };
  const broker: object = {
    connection: {
      info: { max_payload: 1_048_576 },
      status: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }),
      flush: async () => undefined,
    },
    client: { publish: async () => ({ duplicate: false }) },
    consumer: { fetch: async (asked: { readonly max_messages: number }) => fetched(asked) },
    source: 'carts:0:situs',
    ackWaitMs: 1_000,
    info: async () => ({ num_pending: 0 }),
  };
  return { broker: broker as Broker, given: () => given, acknowledged: () => acknowledged };
}

test('messages in hand are bounded by their bytes too', async () => {
  const { broker, given, acknowledged } = brokerOf(SENT);
  const waiting: (() => void)[] = [];
  const answerer: Pick<MessageAnswerer, 'answer'> = {
    answer: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({ line: Buffer.from('{}'), refused: null }));
      }),
  };
  const work = new StreamWork(broker, answerer as MessageAnswerer, {
    to: 'orders.taxed',
    failed: 'orders.refused',
    ordered: false,
    tell: (text) => assert.fail(text),
  });
  const running = work.run();
  // As much as there is room for, and no more while nothing is answered.
  await eventually(() => given() >= HELD_MAX);
  assert.equal(given(), HELD_MAX);
  for (let answered = 0; answered < SENT; ) {
    for (const answer of waiting.slice(answered, answered + ANSWERED_TOGETHER)) answer();
    answered += ANSWERED_TOGETHER;
    await eventually(
      () => acknowledged() === answered && given() >= Math.min(SENT, answered + HELD_MAX),
    );
    assert.ok(given() - answered <= HELD_MAX, `${given() - answered} in hand`);
  }
  work.stop();
  await running;
  assert.deepEqual([work.answered, work.refused], [SENT, 0]);
});
