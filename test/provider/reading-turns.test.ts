/** Long answers of the provider are read in many short turns, and all of them in turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReadingTurns, TURN_BYTES_MAX } from '../../src/provider/reading-turns.js';
import { JsonText } from '../../src/base/json-text.js';
import { clientOf, startSimulator } from '../support/simulated-provider.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what is over the bytes of a turn waits, and each gets its turn', async () => {
  const turns = new ReadingTurns();
  const order: string[] = [];
  assert.equal(turns.took(TURN_BYTES_MAX - 1, () => order.push('never')), true);
  for (const name of ['a', 'b', 'c']) {
    const resume = (): void => {
      order.push(name);
      // The first has more to read than a turn allows, and comes behind the others then.
      if (name === 'a') turns.took(TURN_BYTES_MAX, () => order.push('a again'));
    };
    assert.equal(turns.took(TURN_BYTES_MAX, resume), false);
  }
  assert.deepEqual(order, []);
  await nextTurn();
  assert.deepEqual(order, ['a'], 'no more than the bytes of a turn');
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  assert.deepEqual(order, ['a', 'b', 'c', 'a again']);
  assert.equal(turns.took(1, () => undefined), true, 'a new turn has all of its bytes');
});

/** The most bytes that were checked between two turns of the event loop while it worked. */
async function mostOfATurn(work: () => Promise<void>): Promise<number> {
  let [most, now, isDone] = [0, 0, false];
  const { push } = JsonText.prototype;
  JsonText.prototype.push = function counted(bytes): void {
    now += bytes.byteLength;
    most = Math.max(most, now);
    push.call(this, bytes);
  };
  const watch = (): void => {
    now = 0;
    if (!isDone) setImmediate(watch);
  };
  watch();
  try {
    await work();
  } finally {
    isDone = true;
    JsonText.prototype.push = push;
  }
  return most;
}

test('answers of 16 MiB at once are checked a few pieces a turn', async (context) => {
  const simulator = await startSimulator(context, { faults: { large: 1 } });
  const client = clientOf(context, simulator.url, { timeoutMs: 120_000 });
  const most = await mostOfATurn(async () => {
    const outcomes = await Promise.all(Array.from({ length: 3 }, () => client.send({
      method: 'GET', path: '/tax/connections/c/orders/o', apiKey: 'simulated-key', body: null,
    })));
    for (const outcome of outcomes) {
      assert.equal(outcome.kind, 'answer');
      assert.equal(outcome.kind === 'answer' && outcome.body.byteLength, 16_777_216);
      assert.equal(outcome.kind === 'answer' && outcome.summary?.isJson, true);
    }
  });
  // One turn of each kind, and what a connection had read already when it was paused.
  assert.ok(most <= 5 * TURN_BYTES_MAX, `${most} bytes`);
});
