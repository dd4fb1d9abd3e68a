/** How streams end: clocks, violations, keys, lost workers and a service that stops. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { StreamClient } from '../../bench/load/stream-client.js';
import {
  CREDIT_MESSAGES,
  HEARTBEAT_MS,
  MESSAGE_BYTES_MAX,
} from '../../src/bulk/stream/session-options.js';
import { eventually } from '../support/http-eventually.js';
import {
  ending,
  header,
  line,
  message,
  startStreams,
  STREAM_KEY,
  TIMES,
} from '../support/stream-service.js';

test('a client without a sign of life is ended, one that answers pings is not', async (context) => {
  const service = await startStreams(context, { ...TIMES, idleMs: 10 * HEARTBEAT_MS });
  const open = async (autoPong: boolean): Promise<{ socket: WebSocket; client: StreamClient }> => {
    const socket = new WebSocket(`ws://127.0.0.1:${service.port}/stream`, {
      headers: { 'X-API-KEY': STREAM_KEY },
      autoPong,
    });
    const client = StreamClient.over(socket);
    await header(client);
    return { socket, client };
  };
  const alive = await open(true);
  const dead = await open(false);
  const pinged = Promise.all([once(alive.socket, 'ping'), once(dead.socket, 'ping')]);
  service.turn(HEARTBEAT_MS);
  await pinged;
  // The pong has come when a message sent after it has.
  alive.socket.send(message(1));
  await eventually(() => service.pool.requests.length === 1);
  service.turn(HEARTBEAT_MS);
  assert.equal((await dead.client.ended).code, 4504);
  assert.equal(alive.socket.readyState, WebSocket.OPEN);
  alive.client.cut();
});

test('a silent client is ended by its time, and not while it waits for answers', async (context) => {
  const service = await startStreams(context, { ...TIMES, idleMs: 1_000 });
  const client = await service.open();
  await header(client);
  client.send(message(1));
  await eventually(() => service.pool.requests.length === 1);
  service.turn(5_000);
  service.pool.answer();
  assert.equal((await line(client)).seq, 1);
  service.turn(999);
  service.turn(1);
  const { trailer, code } = await ending(client);
  assert.equal(code, 4408);
  assert.deepEqual([trailer.rows, trailer.stopped?.line], [1, 2]);
});

test('an upload that trickles is kept open by nudges', async (context) => {
  const service = await startStreams(context, TIMES, 2);
  service.pool.prompt = true;
  const client = await service.open({ transport: 'post' });
  await header(client);
  for (let seq = 1; seq <= 100; seq += 1) {
    client.send(message(seq));
    assert.equal((await line(client)).seq, seq);
  }
  client.finish();
  assert.equal((await ending(client)).trailer.rows, 100);
});

test('a silent upload is ended with its trailer', async (context) => {
  const service = await startStreams(context, { ...TIMES, idleMs: 20 }, 5);
  const client = await service.open({ transport: 'post' });
  await header(client);
  const { trailer, code } = await ending(client);
  assert.equal(code, 1);
  assert.match(trailer.stopped?.message ?? '', /Nothing was sent for 0.02 seconds/);
  client.cut();
});

const VIOLATIONS: readonly (readonly [
  name: string,
  code: number,
  send: (socket: WebSocket) => void,
])[] = [
  ['binary', 1003, (socket) => socket.send(Buffer.from(message(1)))],
  ['a long batch', 1008, (socket) => socket.send(`[${Array(65).fill('{}').join(',')}]`)],
  ['a long message', 1009, (socket) => socket.send(' '.repeat(MESSAGE_BYTES_MAX + 1))],
  [
    'too many messages',
    4429,
    (socket) => {
      for (let id = 0; id <= CREDIT_MESSAGES; id += 1) socket.send(message(id));
    },
  ],
  [
    'too many bytes',
    4429,
    (socket) => {
      for (let id = 0; id < 5; id += 1) socket.send(' '.repeat(MESSAGE_BYTES_MAX));
    },
  ],
];

test('each violation has its close code, after what came before it is answered', async (context) => {
  const service = await startStreams(context, TIMES);
  for (const [name, code, send] of VIOLATIONS) {
    const socket = new WebSocket(`ws://127.0.0.1:${service.port}/stream`, {
      headers: { 'X-API-KEY': STREAM_KEY },
    });
    const client = StreamClient.over(socket);
    await header(client);
    socket.send(message(0));
    await eventually(() => service.pool.requests.length === 1);
    send(socket);
    socket.ping();
    await once(socket, 'pong');
    service.pool.answer();
    const end = await ending(client);
    assert.equal(end.code, code, name);
    assert.equal(end.trailer.complete, false, name);
    assert.ok((end.trailer.stopped?.line ?? 0) > end.trailer.rows, name);
  }
});

test('what no text frame may hold cuts the connection, and the stream can go on', async (context) => {
  const service = await startStreams(context, TIMES);
  for (const broken of [Buffer.from([0xff, 0xfe]), Buffer.alloc(4 * MESSAGE_BYTES_MAX + 1, 32)]) {
    const socket = new WebSocket(`ws://127.0.0.1:${service.port}/stream`, {
      headers: { 'X-API-KEY': STREAM_KEY },
    });
    const client = StreamClient.over(socket);
    const { resume } = await header(client);
    socket.send(broken, { binary: false });
    assert.ok([1006, 1007, 1009].includes((await client.ended).code));
    const next = await service.open({ query: `?resume=${resume}&from=0` });
    assert.equal((await header(next)).received, 0);
    next.cut();
  }
});

test('a key that is taken away ends its streams at the next message', async (context) => {
  const service = await startStreams(context, TIMES);
  const client = await service.open();
  await header(client);
  service.keys.delete(STREAM_KEY);
  client.send(message(1));
  const { trailer, code } = await ending(client);
  assert.equal(code, 4401);
  assert.deepEqual([trailer.stopped?.code, trailer.stopped?.line], [101, 1]);
});

test('lost workers and a lost dataset end a stream, each with its code', async (context) => {
  const service = await startStreams(context, TIMES);
  for (const [failure, code] of [
    ['internal', 1011],
    ['overloaded', 1013],
  ] as const) {
    const client = await service.open();
    await header(client);
    client.send(message(1));
    await eventually(() => service.pool.requests.length === 1);
    service.pool.fail(failure);
    const end = await ending(client);
    assert.deepEqual([end.code, end.trailer.stopped?.line], [code, 1]);
  }
  const client = await service.open();
  await header(client);
  service.loaded(false);
  client.send(message(1));
  assert.equal((await ending(client)).code, 1013);
});

test('a service that stops answers what the workers have, and says goodbye', async (context) => {
  const service = await startStreams(context, TIMES);
  const socket = await service.open();
  const post = await service.open({ transport: 'post' });
  for (const client of [socket, post]) {
    await header(client);
    client.send(message(1));
  }
  await eventually(() => service.pool.requests.length === 2);
  service.streams.stop();
  service.pool.answer();
  const ends = [await ending(socket), await ending(post)];
  assert.deepEqual(
    ends.map(({ code }) => code),
    [1012, 1],
  );
  for (const { trailer, lines } of ends) {
    assert.equal(lines.length, 2);
    assert.deepEqual([trailer.complete, trailer.rows, trailer.stopped?.line], [false, 1, 2]);
  }
  post.cut();
  await eventually(() => service.router.traffic.open === 0);
});

test('an upload beyond its credits waits, and every message is answered', async (context) => {
  const service = await startStreams(context, TIMES);
  const client = await service.open({ transport: 'post' });
  await header(client);
  const count = 3 * CREDIT_MESSAGES;
  for (let id = 0; id < count; id += 1) client.send(message(id));
  client.send('x'.repeat(MESSAGE_BYTES_MAX));
  client.finish();
  await eventually(() => service.pool.requests.length === 4);
  service.pool.prompt = true;
  service.pool.answer();
  const { trailer, lines } = await ending(client);
  assert.deepEqual([trailer.complete, trailer.rows, lines.length], [true, count + 1, count + 2]);
});

test('an upload waits where a batch only begins within its credits', async (context) => {
  const service = await startStreams(context, TIMES);
  const client = await service.open({ transport: 'post' });
  await header(client);
  const batch = `[${Array.from({ length: 60 }, (_, id) => message(id)).join(',')}]`;
  const count = Math.ceil((2 * CREDIT_MESSAGES) / 60);
  for (let sent = 0; sent < count; sent += 1) client.send(batch);
  client.finish();
  await eventually(() => service.pool.requests.length === 4);
  service.pool.prompt = true;
  service.pool.answer();
  const { trailer } = await ending(client);
  assert.deepEqual([trailer.complete, trailer.rows, trailer.stopped], [true, 60 * count, null]);
});
