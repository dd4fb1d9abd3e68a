/** Limits by client address that a supervisor counts for its listeners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  CATALOGUE_RATE,
  ClientGate,
  CLIENTS_MAX,
  FAILED_KEYS_MAX,
  FAILED_KEYS_WINDOW_MS,
  GuessGuard,
} from '../../src/http/client-limit.js';
import { ClientKeeper } from '../../src/listener/shared-clients.js';
import { type Channel, isFromListener, Supervised } from '../../src/listener/supervised.js';

const HERE = '192.0.2.1';
const COUNT = 2;

interface Listener {
  readonly gate: ClientGate;
  readonly guard: GuessGuard;
  /** Messages sent to the supervisor. */
  readonly sent: () => number;
}

/** One whose channel leads to a keeper; null for a supervisor that has gone. */
function listener(keeper: ClientKeeper | null, now: () => number): Listener {
  let sent = 0;
  let told: (message: unknown) => void = () => undefined;
  const send: Channel['send'] = (message) => {
    assert.ok(isFromListener(message) && message.type === 'clients');
    const { id, asked } = message;
    sent += 1;
    setImmediate(() => told({ type: 'counted', id, answers: keeper?.ask(asked) ?? [] }));
    return true;
  };
  const channel: Channel = {
    ...(keeper === null ? {} : { send }),
    on: (_event, take) => {
      told = take;
    },
  };
  const { clients } = new Supervised({ index: 0, count: COUNT, port: 3000 }, channel);
  return {
    gate: new ClientGate(now, clients),
    guard: new GuessGuard(now, clients),
    sent: () => sent,
  };
}

/** How many of so many requests were admitted. */
async function admitted(asked: readonly (Promise<number> | null)[]): Promise<number> {
  return (await Promise.all(asked)).filter((left) => left !== null && left >= 0).length;
}

test('the catalogue has one limit over all listeners, asked once a turn', async () => {
  let now = 0;
  const keeper = new ClientKeeper(() => now);
  const [first, second] = [listener(keeper, () => now), listener(keeper, () => now)];
  const ask = (times: number): readonly (Promise<number> | null)[] =>
    Array.from({ length: times }, () => [first.gate.ask(HERE), second.gate.ask(HERE)]).flat();
  assert.equal(await first.gate.ask(HERE), CATALOGUE_RATE - 1);
  assert.equal(await second.gate.ask(HERE), CATALOGUE_RATE - 2);
  assert.equal(await second.gate.ask('192.0.2.2'), CATALOGUE_RATE - 1, 'another client');
  assert.equal(await admitted(ask(CATALOGUE_RATE)), CATALOGUE_RATE - 2);
  assert.equal(first.sent() + second.sent(), 5);
  now = 60_000;
  assert.equal(await admitted(ask(CATALOGUE_RATE)), CATALOGUE_RATE);
});

test('without an answer each listener admits its part, and asks no more for now', async () => {
  const { gate, sent } = listener(null, () => 0);
  const asked = Array.from({ length: CATALOGUE_RATE }, () => gate.ask(HERE));
  assert.equal(await admitted(asked), CATALOGUE_RATE / COUNT);
  assert.equal(await gate.ask(HERE), -1);
  assert.equal(sent(), 0);
  // One that is alone asks nobody.
  assert.equal(new ClientGate(() => 0).ask(HERE), null);
});

test('keys that are none are counted over all listeners, for one window', async () => {
  let now = 0;
  const keeper = new ClientKeeper(() => now);
  const listeners = [listener(keeper, () => now), listener(keeper, () => now)];
  const guess = async (): Promise<number> => {
    let told = 0;
    for (let number = 0; number < FAILED_KEYS_MAX; number += 1) {
      for (const { guard } of listeners) {
        if (!guard.failed(HERE)) told += 1;
        await turn();
        await turn();
      }
    }
    return told;
  };
  const told = await guess();
  // Each learns it from the answer to the failure before.
  assert.ok(told >= FAILED_KEYS_MAX && told <= FAILED_KEYS_MAX + COUNT, String(told));
  const sent = listeners.map((each) => each.sent());
  now = FAILED_KEYS_WINDOW_MS - 1;
  for (const { guard } of listeners) assert.equal(guard.failed(HERE), true);
  assert.deepEqual(
    listeners.map((each) => each.sent()),
    sent,
    'nothing is told of whom is refused',
  );
  assert.equal(listeners[0]?.guard.failed('192.0.2.2'), false);
  now = FAILED_KEYS_WINDOW_MS;
  for (const { guard } of listeners) assert.equal(guard.failed(HERE), false);
});

test('the tables of the supervisor have a size', () => {
  const keeper = new ClientKeeper(() => 0);
  const times = FAILED_KEYS_MAX + 1;
  for (const kind of ['catalogue', 'guess'] as const) {
    const ask = (client: string): number => keeper.ask([[kind, client]])[0] ?? 0;
    for (let asked = 0; asked < times; asked += 1) ask('first');
    const refused = kind === 'catalogue' ? -1 : FAILED_KEYS_WINDOW_MS;
    assert.equal(ask('first'), refused);
    for (let other = 0; other < CLIENTS_MAX; other += 1) ask(`other ${other}`);
    assert.notEqual(ask('first'), refused, 'forgotten');
  }
});
