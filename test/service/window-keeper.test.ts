/** The windows of keys that a supervisor keeps for its listeners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenerRates, WindowKeeper } from '../../src/limit/listener-rates.js';
import {
  type Channel,
  isFromListener,
  type ListenerMessage,
  listenerOrder,
  orderWords,
  Supervised,
  type SupervisorMessage,
} from '../../src/listener/supervised.js';

const MINUTE = 60_000;

test('places are given to whoever asks first, and free again after a minute', () => {
  let now = 0;
  const keeper = new WindowKeeper(() => now);
  const ask = (count: number, rate = 10): unknown => keeper.ask([{ id: 'a', rate, count }])[0];
  assert.deepEqual(ask(7), { admitted: 7, left: 3 });
  now = 1_000;
  assert.deepEqual(ask(7), { admitted: 3, left: 0 });
  assert.deepEqual(ask(0), { admitted: 0, left: 0 });
  now = MINUTE;
  assert.deepEqual(ask(0), { admitted: 0, left: 7 });
  keeper.settle([
    { id: 'a', admitted: [[0, 2]] },
    { id: 'b', admitted: [[500, 4]] },
  ]);
  assert.deepEqual(ask(0), { admitted: 0, left: 5 });
  assert.deepEqual(keeper.ask([{ id: 'b', rate: 5, count: 5 }]), [{ admitted: 1, left: 0 }]);
  // Of rates whose window counts by the millisecond, likewise.
  keeper.ask([{ id: 'c', rate: 1_000_000, count: 1 }]);
  keeper.settle([{ id: 'c', admitted: [[250, 9]] }]);
  assert.deepEqual(keeper.ask([{ id: 'c', rate: 1_000_000, count: 0 }]), [
    { admitted: 0, left: 999_990 },
  ]);
});

/** A listener whose channel leads to a keeper. */
function listener(keeper: WindowKeeper): Supervised {
  let told: (message: unknown) => void = () => undefined;
  const channel: Channel = {
    send: (message) => {
      assert.ok(isFromListener(message));
      const sent: ListenerMessage = message;
      if (sent.type === 'settle') keeper.settle(sent.debts);
      if (sent.type !== 'ask') return true;
      const answer: SupervisorMessage = {
        type: 'answers',
        id: sent.id,
        answers: keeper.ask(sent.questions),
      };
      setImmediate(() => told(answer));
      return true;
    },
    on: (_event, told_) => {
      told = told_;
    },
  };
  return new Supervised({ index: 0, count: 2, port: 3000 }, channel);
}

test('listeners share one limit, and one that comes later knows what was used', async () => {
  const keeper = new WindowKeeper(() => 0);
  const key = { id: 'key', rate: 5 };
  const [first, second] = await Promise.all(
    [listener(keeper), listener(keeper)].map((each) => listenerRates(each)),
  );
  const asked = await Promise.all(
    [1, 2, 3, 4].flatMap(() => [first!.ask(key, true), second!.ask(key, true)]),
  );
  assert.equal(asked.filter((left) => left !== null && left >= 0).length, 5);
  const third = await listenerRates(listener(keeper));
  assert.equal(await third!.ask(key, true), -1);
  await Promise.all([first, second, third].map((rates) => rates!.close()));
});

test('a listener reads what it is started as', () => {
  const order = { index: 2, count: 4, port: 3000 };
  assert.deepEqual(listenerOrder(['node', 'main.js', ...orderWords(order)]), order);
  assert.equal(listenerOrder(['node', 'main.js']), null);
  assert.equal(listenerOrder(['node', 'main.js', '--listener', 'x']), null);
});
