/** An answer in parts: what is done to the native response, and when it is let go of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DRAIN_BYTES_MAX } from '../../src/http/body.js';
import { NUDGE_MS } from '../../src/http/idle-timer.js';
import { type DuplexEvents, headOf } from '../../src/http/reply.js';
import { PIECE_BYTES_MAX } from '../../src/http/pacing.js';
import { DuplexExchange } from '../../src/http/duplex-exchange.js';
import { FakeStreamResponse } from '../support/http-fake-response.js';

const IDLE_MS = 5 * NUDGE_MS;

interface Rig {
  readonly raw: FakeStreamResponse;
  readonly exchange: DuplexExchange;
  readonly events: string[];
  readonly traffic: { open: number; closing: boolean };
  waiting: boolean;
  /** What the handler throws when it is told the next thing. */
  fault: Error | null;
  readonly faults: unknown[];
}

const FAULT = { status: 500, head: headOf('text/plain'), body: 'a fault' };

function rig(): Rig {
  const raw = new FakeStreamResponse();
  const traffic = { open: 0, closing: false };
  const faults: unknown[] = [];
  const exchange = new DuplexExchange(raw, traffic, { idleMs: IDLE_MS }, (error) => {
    faults.push(error);
    return FAULT;
  });
  const rigged: Rig = { raw, exchange, traffic, events: [], waiting: true, fault: null, faults };
  const events: DuplexEvents = {
    data: (piece, isLast) => {
      if (rigged.fault !== null) throw rigged.fault;
      rigged.events.push(`${Buffer.from(piece).toString()}${isLast ? '.' : ''}`);
    },
    drained: () => rigged.events.push('drained'),
    waiting: () => rigged.waiting,
    idle: () => rigged.events.push('idle'),
    closed: () => rigged.events.push('closed'),
  };
  exchange.listen(events);
  return rigged;
}

const HEAD = headOf('text/plain');

test('what a handler throws is answered before the answer began, and cuts it afterwards', () => {
  const early = rig();
  early.fault = new Error('a bug');
  early.raw.receive('body', true);
  assert.deepEqual(early.faults, [early.fault]);
  assert.equal(early.traffic.open, 0);
  assert.equal(early.raw.body, 'a fault');
  const late = rig();
  late.exchange.begin(200, HEAD);
  late.fault = new Error('another');
  late.raw.receive('body');
  assert.deepEqual(late.faults, [late.fault]);
  assert.equal(late.raw.calls.at(-1), 'close');
});

test('parts are written and the end is told', () => {
  const { raw, exchange, events, traffic } = rig();
  raw.receive('body', true);
  exchange.begin(200, HEAD);
  assert.equal(exchange.write(Buffer.from('one')), true);
  exchange.end();
  assert.deepEqual(events, ['body.', 'closed']);
  assert.deepEqual([raw.sent(), raw.ended, traffic.open], ['one', true, 0]);
  exchange.write(Buffer.from('late'));
  exchange.pause();
  exchange.abandon();
  assert.equal(raw.sent(), 'one');
});

test('a client that is behind is given a small piece before large ones', () => {
  const { raw, exchange, events } = rig();
  raw.receive('', true);
  exchange.begin(200, HEAD);
  raw.taking = false;
  const part = Buffer.alloc(3 * PIECE_BYTES_MAX, 'x');
  assert.equal(exchange.write(part), false);
  assert.equal(raw.sent().length, PIECE_BYTES_MAX);
  raw.writable();
  assert.ok(raw.sent().length < PIECE_BYTES_MAX + 8_192, 'it was still behind');
  raw.taking = true;
  raw.writable();
  assert.equal(raw.sent().length, part.length);
  assert.deepEqual(events, ['.', 'drained']);
});

test('an upload that rests stays so when a write does not pass', () => {
  const { raw, exchange } = rig();
  exchange.begin(200, HEAD);
  exchange.pause();
  raw.taking = false;
  exchange.write(Buffer.from('x'));
  assert.equal(raw.calls.at(-1), 'pause');
  raw.receive('late');
  assert.deepEqual(raw.calls.slice(-2), ['pause', 'pause']);
});

test('the end waits for what is behind', () => {
  const { raw, exchange } = rig();
  raw.receive('', true);
  exchange.begin(200, HEAD);
  raw.taking = false;
  exchange.write(Buffer.from('x'));
  exchange.end();
  assert.equal(raw.ended, false);
  raw.taking = true;
  raw.writable();
  assert.equal(raw.ended, true);
});

test('an answer that ends before the upload lets the client finish', () => {
  const { raw, exchange, events } = rig();
  exchange.begin(200, HEAD);
  exchange.write(Buffer.from('x'));
  exchange.end();
  raw.receive('more');
  assert.equal(raw.ended, false);
  raw.receive('last', true);
  assert.equal(raw.ended, true);
  assert.deepEqual(events, ['closed']);
});

test('a refusal waits for the upload, up to a limit, and then cuts it', () => {
  const patient = rig();
  const reply = { status: 413, head: HEAD, body: 'no' };
  patient.exchange.send(reply);
  patient.raw.receive('rest');
  assert.equal(patient.raw.ended, false);
  patient.raw.receive('last', true);
  assert.deepEqual([patient.raw.ended, patient.raw.closedWithAnswer], [true, false]);
  const endless = rig();
  endless.exchange.send(reply);
  const part = 'x'.repeat(1_048_576);
  for (let sent = 0; sent <= DRAIN_BYTES_MAX; sent += part.length) endless.raw.receive(part);
  assert.deepEqual([endless.raw.ended, endless.raw.closedWithAnswer], [true, true]);
});

test('after an abort nothing is touched', () => {
  const { raw, exchange, events, traffic } = rig();
  exchange.begin(200, HEAD);
  raw.abort();
  const { length } = raw.calls;
  exchange.write(Buffer.from('x'));
  exchange.end();
  exchange.pause();
  exchange.resume();
  exchange.send({ status: 500, head: HEAD, body: '' });
  assert.equal(raw.calls.length, length);
  assert.deepEqual(events, ['closed']);
  assert.equal(traffic.open, 0);
});

test('a slow upload is nudged, and one that is paused stays so', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { raw, exchange } = rig();
  const since = (from: number): string => raw.calls.slice(from).join(' ');
  let from = raw.calls.length;
  context.mock.timers.tick(NUDGE_MS);
  assert.equal(since(from), 'pause resume');
  exchange.pause();
  from = raw.calls.length;
  context.mock.timers.tick(NUDGE_MS);
  assert.equal(since(from), 'pause');
});

test('a client that does nothing is told of, one that waits for us is not', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const rigged = rig();
  rigged.waiting = false;
  context.mock.timers.tick(3 * IDLE_MS);
  assert.deepEqual(rigged.events, []);
  rigged.waiting = true;
  context.mock.timers.tick(IDLE_MS - NUDGE_MS);
  rigged.raw.receive('x');
  context.mock.timers.tick(IDLE_MS - NUDGE_MS);
  assert.deepEqual(rigged.events, ['x']);
  context.mock.timers.tick(NUDGE_MS);
  assert.deepEqual(rigged.events, ['x', 'idle']);
});

test('a refusal waits no longer than the upload moves', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { raw, exchange } = rig();
  exchange.send({ status: 413, head: HEAD, body: 'no' });
  context.mock.timers.tick(NUDGE_MS);
  raw.receive('x');
  context.mock.timers.tick(NUDGE_MS);
  assert.equal(raw.ended, false);
  context.mock.timers.tick(NUDGE_MS);
  assert.deepEqual([raw.ended, raw.closedWithAnswer], [true, true]);
});

test('a client that takes nothing for too long is cut', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { raw, exchange, events } = rig();
  exchange.begin(200, HEAD);
  raw.taking = false;
  exchange.write(Buffer.from('x'));
  context.mock.timers.tick(IDLE_MS);
  assert.equal(raw.calls.at(-1), 'close');
  assert.deepEqual(events, ['closed']);
});
