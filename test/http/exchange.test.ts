import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TURN_END } from '../../src/base/turn-end.js';
import { Exchange, PAUSED_LATER_MAX, type Traffic } from '../../src/http/exchange.js';
import { NUDGE_MS } from '../../src/http/idle-timer.js';
import { ENDED_BYTES_MAX, mayEnd } from '../../src/http/pacing.js';
import { headOf, JSON_TYPE, NumberedHead, type Reply } from '../../src/http/reply.js';
import { Staying } from '../../src/http/staying.js';
import { FakeResponse } from '../support/http-fake-response.js';

const REPLY = { status: 200, head: headOf(JSON_TYPE), body: '{}' };

function newTraffic(): Traffic {
  return { open: 0, closing: false };
}

test('an abort handler is registered before anything else', () => {
  const raw = new FakeResponse();
  new Exchange(raw, newTraffic());
  assert.deepEqual(raw.calls, ['onAborted']);
});

test('a fresh exchange registers for an abort before its native handler returns', () => {
  const raw = new FakeResponse();
  const traffic = newTraffic();
  const exchange = new Exchange(raw, traffic, { fresh: true });
  assert.deepEqual(raw.calls, []);
  exchange.guard();
  exchange.guard();
  assert.deepEqual(raw.calls, ['onAborted']);
  exchange.send(REPLY);
  assert.deepEqual(raw.calls, ['onAborted', 'cork', 'writeHeader', 'tryEnd']);
  assert.equal(traffic.open, 0);
});

test('a fresh exchange that is answered at once needs neither registration nor cork', () => {
  const raw = new FakeResponse();
  const traffic = newTraffic();
  const exchange = new Exchange(raw, traffic, { fresh: true });
  exchange.send(REPLY);
  exchange.guard();
  exchange.send(REPLY);
  assert.deepEqual(raw.calls, ['writeHeader', 'tryEnd']);
  assert.equal(traffic.open, 0);
});

test('a head that is kept with its status is handed over in one where that may be', () => {
  const head = new NumberedHead(headOf(JSON_TYPE), 'X-Left');
  const calls = (traffic: Traffic, status: number, more = {}): readonly string[] => {
    const raw = new FakeResponse();
    const reply = { ...REPLY, status, head: head.with(5), joined: head.joined };
    new Exchange(raw, traffic, { fresh: true, ...more }).send(reply);
    return raw.calls;
  };
  assert.deepEqual(calls({ ...newTraffic(), native: true }, 200), ['writeStatus', 'tryEnd']);
  assert.deepEqual(calls(newTraffic(), 200), ['writeHeader', 'tryEnd']);
  const other = ['writeStatus', 'writeHeader', 'tryEnd'];
  assert.deepEqual(calls({ ...newTraffic(), native: true }, 404), other);
});

/** The last call of an exchange that answers in the turn after the one in which it arrived. */
async function lastCall(
  reply: Reply,
  {
    native = true,
    closing = false,
    later = true,
    arrive = (exchange: Exchange): void => exchange.arrived(),
    options = {},
  } = {},
): Promise<string | undefined> {
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, { ...newTraffic(), native, closing }, options);
  arrive(exchange);
  if (later) await new Promise<void>((resolve) => TURN_END.last(resolve));
  exchange.send(reply);
  return raw.calls.at(-1);
}

test('a short answer that is sent by itself is ended without a look at its client', async (context) => {
  context.mock.method(Math, 'random', () => 1);
  const room = ENDED_BYTES_MAX - REPLY.head.length;
  const short = { ...REPLY, body: Buffer.alloc(room) };
  assert.equal(await lastCall(short), 'end');
  assert.equal(await lastCall({ ...REPLY, body: Buffer.alloc(room + 1) }), 'tryEnd', 'longer');
  assert.equal(await lastCall({ ...REPLY, body: '€'.repeat(room / 2) }), 'tryEnd', 'text');
  const head = headOf(JSON_TYPE, { 'X-Long': 'a'.repeat(ENDED_BYTES_MAX) });
  assert.equal(await lastCall({ ...REPLY, head }), 'tryEnd', 'a long head');
  const numbered = new NumberedHead(head, 'X-Left');
  const joined = { ...REPLY, head: numbered.with(1), joined: numbered.joined };
  assert.equal(await lastCall(joined), 'tryEnd', 'a long head with its status');
  assert.equal(await lastCall(short, { native: false }), 'tryEnd', 'the other server');
  assert.equal(await lastCall(short, { later: false }), 'tryEnd', 'in the turn of its request');
  assert.equal(await lastCall(short, { arrive: () => undefined }), 'tryEnd', 'before it is there');
  assert.equal(await lastCall(short, { closing: true }), 'end', 'the last of its connection');
  assert.equal(await lastCall(short, { options: { bodiless: true } }), 'tryEnd', 'HEAD');
  const ways: readonly ((exchange: Exchange) => void)[] = [
    (exchange) => exchange.hold(),
    (exchange) => exchange.holdUnless(new Staying(), { getHeader: () => 'keep-alive' }),
    (exchange) => exchange.holdUnless(new Staying(), { getHeader: () => '' }),
  ];
  for (const arrive of ways) assert.equal(await lastCall(short, { arrive }), 'end');
});

test('an answer that a promise gives in the turn of its request is looked at', async (context) => {
  context.mock.method(Math, 'random', () => 1);
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, { ...newTraffic(), native: true });
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      exchange.arrived();
      void Promise.resolve().then(() => exchange.send(REPLY));
      setImmediate(resolve);
    });
  });
  assert.equal(raw.calls.at(-1), 'tryEnd');
});

test('a client that takes nothing is looked at after 8 KiB of short answers, on average', () => {
  const tries = 20_000;
  for (const length of [200, 1_500, ENDED_BYTES_MAX]) {
    const body = Buffer.alloc(length - 100);
    let bytes = 0;
    for (let left = tries; left > 0; bytes += length) if (!mayEnd(100, body)) left -= 1;
    assert.ok(Math.abs(bytes / tries - 8_192) < 500, `${bytes / tries} bytes`);
  }
});

test('an answer of which nothing was taken, sent with others, ends its connection', async () => {
  const calls = async (native: boolean, options = {}): Promise<readonly string[]> => {
    const raw = new FakeResponse();
    raw.takes = false;
    const exchange = new Exchange(raw, { ...newTraffic(), native }, { fresh: true, ...options });
    exchange.guard();
    exchange.send(REPLY);
    await new Promise((resolve) => setImmediate(resolve));
    return raw.calls.slice(-2);
  };
  assert.deepEqual(await calls(true), ['onAborted', 'close']);
  assert.deepEqual(await calls(true, { bodiless: true }), ['onAborted', 'close']);
  assert.deepEqual(await calls(false), ['onAborted', 'onWritable']);
});

test('a fresh exchange that is abandoned is let go of', () => {
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, newTraffic(), { fresh: true });
  exchange.abandon();
  assert.deepEqual(raw.calls, ['onAborted', 'close']);
});

test('the first answer wins, the second touches nothing', () => {
  const raw = new FakeResponse();
  const traffic = newTraffic();
  const exchange = new Exchange(raw, traffic);
  assert.equal(traffic.open, 1);
  exchange.send(REPLY);
  const calls = raw.calls.length;
  exchange.send({ ...REPLY, status: 500 });
  assert.equal(raw.calls.length, calls);
  assert.equal(raw.body, '{}');
  assert.equal(traffic.open, 0);
});

test('an answer without content has no content type and no body', () => {
  const raw = new FakeResponse();
  new Exchange(raw, newTraffic()).send({
    status: 204,
    head: headOf(JSON_TYPE, { 'X-A': 1, 'X-B': 'b: c' }),
    body: '',
  });
  assert.deepEqual(raw.calls, [
    'onAborted',
    'cork',
    'writeStatus',
    'writeHeader',
    'writeHeader',
    'endWithoutBody',
  ]);
});

test('everyone who asked is told once that an exchange has closed', () => {
  const told: string[] = [];
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, newTraffic());
  for (const name of ['a', 'b', 'c']) exchange.onClosed(() => told.push(name));
  raw.abort();
  raw.abort();
  exchange.onClosed(() => told.push('late'));
  assert.deepEqual(told, ['a', 'b', 'c', 'late']);
});

test('an aborted exchange is never touched again', () => {
  const raw = new FakeResponse();
  const traffic = newTraffic();
  const exchange = new Exchange(raw, traffic);
  let closed = 0;
  exchange.onClosed(() => {
    closed += 1;
  });
  raw.abort();
  const calls = raw.calls.length;
  exchange.send(REPLY);
  exchange.abandon();
  exchange.deadline(1, () => assert.fail('the deadline of an aborted exchange'));
  assert.equal(raw.calls.length, calls);
  assert.equal(closed, 1);
  assert.equal(traffic.open, 0);
  assert.equal(exchange.raw, null);
});

test('a deadline ends with the answer', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const late: string[] = [];
  const answered = new Exchange(new FakeResponse(), newTraffic());
  answered.deadline(1000, () => late.push('answered'));
  const silent = new Exchange(new FakeResponse(), newTraffic());
  silent.deadline(1000, () => late.push('silent'));
  answered.send(REPLY);
  context.mock.timers.tick(1001);
  assert.deepEqual(late, ['silent']);
});

test('a service that stops closes the connection with the answer', () => {
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, { open: 0, closing: true });
  exchange.send(REPLY);
  assert.equal(raw.closedWithAnswer, true);
});

test('a header field cannot carry a line break', () => {
  assert.throws(() => headOf(JSON_TYPE, { 'X-Name': 'a\r\nSet-Cookie: b' }), /line break/);
  assert.throws(() => headOf('text/plain\nX: y'), /line break/);
});

// Before the other: one timer serves all, and it is to be the clock's here.
test('an exchange that reads on before its answer is kept from being cut as idle', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, newTraffic());
  exchange.hold();
  exchange.watch();
  const { length } = raw.calls;
  context.mock.timers.tick(NUDGE_MS);
  assert.deepEqual(raw.calls.slice(length), ['pause', 'resume']);
  exchange.send(REPLY);
  const answered = raw.calls.length;
  context.mock.timers.tick(2 * NUDGE_MS);
  assert.equal(raw.calls.length, answered);
});

test('an exchange that is watched after it was held reads on, so that a client that goes is seen', () => {
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, newTraffic());
  exchange.hold();
  assert.equal(raw.calls.at(-1), 'pause');
  exchange.watch();
  assert.equal(raw.calls.at(-1), 'resume');
  exchange.hold();
  assert.equal(raw.calls.at(-1), 'resume', 'and is not held again');
  exchange.send(REPLY);
  assert.equal(raw.calls.filter((call) => call === 'resume').length, 1);
});

test('on the native server an exchange is held at the end of the turn, if it has no answer by then', async () => {
  const traffic = { ...newTraffic(), native: true };
  const [raw, answered, watched] = [new FakeResponse(), new FakeResponse(), new FakeResponse()];
  const exchange = new Exchange(raw, traffic);
  const [quick, seen] = [new Exchange(answered, traffic), new Exchange(watched, traffic)];
  for (const each of [exchange, quick, seen]) each.hold();
  quick.send(REPLY);
  seen.watch();
  assert.ok(!raw.calls.includes('pause'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(raw.calls.at(-1), 'pause');
  exchange.send(REPLY);
  assert.ok(raw.calls.indexOf('resume') > raw.calls.indexOf('pause'));
  assert.ok(!answered.calls.includes('pause') && !answered.calls.includes('resume'));
  assert.ok(!watched.calls.includes('pause') && !watched.calls.includes('resume'));
});

test('with many connections an exchange is held at once: some may be read twice in a turn', () => {
  for (const [connections, paused] of [
    [PAUSED_LATER_MAX, false],
    [PAUSED_LATER_MAX + 1, true],
  ] as const) {
    const raw = new FakeResponse();
    const traffic = { ...newTraffic(), native: true, connections: () => connections };
    const exchange = new Exchange(raw, traffic);
    exchange.hold();
    assert.equal(raw.calls.includes('pause'), paused);
    exchange.send(REPLY);
    assert.equal(raw.calls.includes('resume'), paused);
  }
});
