/** Long uploads and answers are worked on in many short turns, and all of them in turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PacedBytes, TURN_BYTES_MAX, Turns, type Waiter } from '../../src/base/turns.js';
import type { BodyWorkers } from '../../src/api/merchant/relay-answer.js';
import { summarized } from '../../src/api/merchant/relay-answer.js';
import { JsonText } from '../../src/base/json-text.js';
import type { ProviderCall, ProviderOutcome } from '../../src/provider/provider.js';
import { clientOf, startSimulator } from '../support/simulated-provider.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what is over the bytes of a turn waits, and each gets its turn', async () => {
  const turns = new Turns();
  const order: string[] = [];
  assert.equal(turns.take(TURN_BYTES_MAX - 1), true);
  const waiter = (name: string, bytes: number): Waiter => ({
    turn: (bytesMax) => {
      order.push(name);
      const some = Math.min(bytes, bytesMax);
      bytes -= some;
      // The first has more than a turn allows, and comes behind the others then.
      if (bytes > 0) turns.wait(waiter(`${name} again`, bytes));
      return some;
    },
  });
  assert.equal(turns.take(2), false, 'there is room for one more byte');
  for (const name of ['a', 'b', 'c']) {
    turns.wait(waiter(name, name === 'a' ? TURN_BYTES_MAX + 1 : TURN_BYTES_MAX));
  }
  assert.equal(turns.take(1), false, 'those that wait come first');
  assert.deepEqual(order, []);
  await nextTurn();
  assert.deepEqual(order, ['a'], 'no more than the bytes of a turn');
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  assert.deepEqual(order, ['a', 'b', 'c', 'a again']);
  assert.equal(turns.take(1), true, 'a new turn has all of its bytes');
});

test('a long piece comes in parts in order, with its end last', async () => {
  const turns = new Turns();
  const parts: [number, number, boolean][] = [];
  let emptied = 0;
  const paced = new PacedBytes(
    (bytes, isLast) => {
      parts.push([bytes[0]!, bytes.length, isLast]);
      if (parts.length === 2) paced.rest();
    },
    () => {
      emptied += 1;
    },
    turns,
  );
  const shared = new Uint8Array(2 * TURN_BYTES_MAX + 5).fill(7);
  paced.push(new Uint8Array(3).fill(1), false, true);
  assert.deepEqual(parts, [[1, 3, false]], 'what a turn has room for comes at once');
  paced.push(shared, false, true);
  paced.push(new Uint8Array(1).fill(9), true, true);
  shared.fill(8);
  assert.equal(paced.holds, true);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  assert.equal(parts.length, 2, 'nothing comes while it rests');
  paced.go();
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  assert.deepEqual(parts, [
    [1, 3, false],
    [7, TURN_BYTES_MAX, false],
    [7, TURN_BYTES_MAX, false],
    [7, 5, false],
    [9, 1, true],
  ]);
  assert.equal(emptied, 1);
  assert.equal(paced.holds, false);
});

test('what is dropped comes no more', async () => {
  const turns = new Turns();
  let count = 0;
  const paced = new PacedBytes(
    () => {
      count += 1;
    },
    () => assert.fail('it was not emptied'),
    turns,
  );
  paced.push(new Uint8Array(TURN_BYTES_MAX + 10), true, false);
  assert.equal(paced.clear(), TURN_BYTES_MAX + 10);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  assert.equal(count, 0);
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

const FULL: BodyWorkers = { submit: ({ failed }) => failed('overloaded') };

test('answers of 16 MiB at once are checked a few pieces a turn where no worker takes them', async (context) => {
  const simulator = await startSimulator(context, { faults: { large: 1 } });
  const client = clientOf(context, simulator.url, { timeoutMs: 120_000 });
  const path = '/tax/connections/c/orders/o';
  let outcomes: readonly ProviderOutcome[] = [];
  const whileTaken = await mostOfATurn(async () => {
    const call: ProviderCall = { method: 'GET', path, apiKey: 'simulated-key', body: null };
    outcomes = await Promise.all(Array.from({ length: 3 }, () => client.send(call)));
  });
  assert.equal(whileTaken, 0, 'what takes them does not look at them');
  const most = await mostOfATurn(async () => {
    outcomes = await Promise.all(outcomes.map((outcome) => summarized(FULL, outcome)));
  });
  for (const outcome of outcomes) {
    assert.ok(outcome.kind === 'answer');
    assert.equal(outcome.body.byteLength, 16_777_216);
    assert.equal(outcome.summary?.isJson, true);
  }
  assert.ok(most > 0 && most <= 5 * TURN_BYTES_MAX, `${most} bytes`);
});
