import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BodyRoom, readBody, refuseBody, SHORT_BODY_BYTES_MAX } from '../../src/http/body.js';
import { KEYED_DRAIN, KEYLESS_DRAIN } from '../../src/http/drain.js';
import { Exchange } from '../../src/http/exchange.js';
import { NUDGE_MS } from '../../src/http/idle-timer.js';
import { headOf } from '../../src/http/reply.js';
import { REQUEST_HEAD_BYTES } from '../../src/pool/frame.js';
import { eventually } from '../support/http-eventually.js';
import { FakeResponse } from '../support/http-fake-response.js';

const HEAD = headOf('text/plain');

interface Collected {
  readonly raw: FakeResponse;
  /** Bodies, and why there are none. */
  readonly results: string[];
}

function collect(
  bytesMax: number,
  room = new BodyRoom(),
  status = 413,
  told = Number.NaN,
): Collected {
  const raw = new FakeResponse();
  const results: string[] = [];
  const exchange = new Exchange(raw, { open: 0, closing: false });
  readBody(exchange, {
    bytesMax,
    told,
    room,
    done: (body) => results.push(Buffer.from(body).toString()),
    refused: (why) => {
      results.push(why);
      return { status, head: HEAD, body: why };
    },
  });
  return { raw, results };
}

// First: one timer serves all bodies, and it is to be the clock's here.
test('a slow upload is kept alive until it is complete or aborted', (context) => {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const { raw, results } = collect(10);
  context.mock.timers.tick(NUDGE_MS * 2);
  assert.equal(raw.calls.filter((call) => call === 'resume').length, 2);
  raw.receive('a', true);
  context.mock.timers.tick(NUDGE_MS * 2);
  assert.equal(raw.calls.filter((call) => call === 'resume').length, 2);
  assert.deepEqual(results, ['a']);
  const aborted = collect(10);
  aborted.raw.abort();
  context.mock.timers.tick(NUDGE_MS);
  assert.ok(!aborted.raw.calls.includes('pause'));
  // Of one with a length the native server gives at once what is there, or nothing.
  const told = collect(10, new BodyRoom(), 413, 3);
  told.raw.receive('');
  context.mock.timers.tick(NUDGE_MS);
  assert.deepEqual(told.raw.calls.slice(-2), ['pause', 'resume']);
  told.raw.receive('abc', true);
  const { length } = told.raw.calls;
  context.mock.timers.tick(NUDGE_MS * 2);
  assert.equal(told.raw.calls.length, length);
  assert.deepEqual(told.results, ['abc']);
});

test('a body in parts arrives whole', () => {
  const { raw, results } = collect(10);
  raw.receive('abc');
  raw.receive('');
  raw.receive('def', true);
  assert.deepEqual(results, ['abcdef']);
});

test('a body of exactly the limit is taken, one byte more is refused at its end', () => {
  const exact = collect(4);
  exact.raw.receive('abcd', true);
  assert.deepEqual(exact.results, ['abcd']);
  const over = collect(4);
  over.raw.receive('abcde');
  assert.deepEqual(over.results, ['too-long']);
  assert.equal(over.raw.body, undefined, 'answered only when the client has sent everything');
  over.raw.receive('f', true);
  assert.deepEqual([over.raw.body, over.raw.closedWithAnswer], ['too-long', false]);
});

test('a body without end is answered after a while and cut', () => {
  const { raw, results } = collect(4);
  const part = 'x'.repeat(1_048_576);
  for (let sent = 0; sent <= KEYED_DRAIN.bytesMax; sent += part.length) raw.receive(part);
  assert.deepEqual([raw.body, raw.closedWithAnswer], ['too-long', true]);
  assert.deepEqual(results, ['too-long']);
});

test('a refused upload that rests or trickles is answered and cut', (context) => {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const refuse = (status: number): FakeResponse => {
    const raw = new FakeResponse();
    const exchange = new Exchange(raw, { open: 0, closing: false });
    refuseBody(exchange, { status, head: HEAD, body: 'no' });
    return raw;
  };
  for (const [status, { quietMs }] of [
    [401, KEYLESS_DRAIN],
    [413, KEYED_DRAIN],
  ] as const) {
    const raw = refuse(status);
    context.mock.timers.tick(quietMs - 1);
    raw.receive('x');
    context.mock.timers.tick(quietMs - 1);
    assert.equal(raw.body, undefined);
    context.mock.timers.tick(1);
    assert.deepEqual([raw.body, raw.closedWithAnswer], ['no', true]);
  }
  const whole = refuse(401);
  whole.receive('x', true);
  assert.deepEqual([whole.body, whole.closedWithAnswer], ['no', false]);
});

test('bodies of all connections share a room, which they leave with their answers', () => {
  const room = new BodyRoom(8 * SHORT_BODY_BYTES_MAX);
  const long = 'x'.repeat(6 * SHORT_BODY_BYTES_MAX);
  const held = collect(1e9, room);
  held.raw.receive(long);
  assert.equal(room.used, long.length);
  const late = collect(1e9, room);
  late.raw.receive(long.slice(0, 2 * SHORT_BODY_BYTES_MAX));
  assert.deepEqual(late.results, ['no-room']);
  late.raw.receive('more', true);
  assert.equal(late.raw.body, 'no-room');
  // What is left is for short ones, as far as it goes.
  const short = [1, 2, 3].map(() => collect(1e9, room));
  for (const { raw } of short) raw.receive(long.slice(0, SHORT_BODY_BYTES_MAX), true);
  assert.deepEqual(
    short.map(({ results }) => results[0]?.length),
    [65_536, 65_536, 7],
  );
  held.raw.abort();
  assert.equal(room.used, 2 * SHORT_BODY_BYTES_MAX);
  for (const { raw } of short) raw.abort();
  assert.equal(room.used, 0);
});

test('a refused body has the bounds of its drain, whatever deadline its exchange had', (context) => {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const raw = new FakeResponse();
  const exchange = new Exchange(raw, { open: 0, closing: false });
  exchange.deadline(100, () => exchange.send({ status: 504, head: HEAD, body: 'late' }));
  refuseBody(exchange, { status: 403, head: HEAD, body: 'no' });
  for (let sent = 0; sent < 5; sent += 1) {
    context.mock.timers.tick(50);
    raw.receive('x');
  }
  assert.equal(raw.body, undefined);
  context.mock.timers.tick(KEYED_DRAIN.quietMs);
  assert.deepEqual([raw.body, raw.closedWithAnswer], ['no', true]);
});

test('a body of single bytes takes little more memory than its bytes', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const used = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const { raw, results } = collect(1e9);
  const before = used();
  const pieces = 200_000;
  for (let sent = 0; sent < pieces; sent += 1) raw.receive('x');
  assert.ok(used() - before < 20 * pieces, `${used() - before} bytes for ${pieces}`);
  raw.receive('y', true);
  assert.equal(results[0], `${'x'.repeat(pieces)}y`);
});

test('of a body whose client has gone nothing is kept, whoever keeps the response', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const used = (): number => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const { raw } = collect(1e9);
  const before = used();
  // So much that what other tests have left is nothing beside it.
  raw.receive('x'.repeat(60_000_000));
  assert.ok(used() - before >= 40_000_000);
  raw.abort();
  await eventually(() => used() - before < 20_000_000, 5_000);
  raw.receive('', true);
});

test('a long body whose length was told lies in memory of that length, with room for a head', () => {
  const piece = 'x'.repeat(300_000);
  for (const [told, isWhole] of [
    [4 * piece.length, true],
    [Number.NaN, false],
  ] as const) {
    const raw = new FakeResponse();
    let memory = 0;
    readBody(new Exchange(raw, { open: 0, closing: false }), {
      bytesMax: 8_000_000,
      told,
      room: new BodyRoom(),
      done: (body) => {
        assert.equal(body.length, 4 * piece.length);
        assert.equal(body.byteOffset, REQUEST_HEAD_BYTES);
        memory = body.buffer.byteLength;
      },
      refused: (why) => assert.fail(why),
    });
    for (let sent = 1; sent <= 4; sent += 1) raw.receive(piece, sent === 4);
    assert.equal(memory === REQUEST_HEAD_BYTES + 4 * piece.length, isWhole, String(memory));
  }
});
