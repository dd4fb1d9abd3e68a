/** The protocol of streams over real sockets, with a clock that the test turns. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { StreamClient, wasRefused, type StreamAsk } from '../../bench/load/stream-client.js';
import {
  CREDIT_MESSAGES, HEARTBEAT_MS, MESSAGE_BYTES_MAX, STREAMS_MAX, STREAMS_PER_ACCOUNT_MAX,
} from '../../src/http/socket/limit.js';
import { eventually } from '../support/http-eventually.js';
import { ask } from '../support/http-client.js';
import {
  OTHER_KEY, recordOf, startStreams, STREAM_KEY, type StreamService,
} from '../support/stream-service.js';

const TERMS = { idleMs: 60_000, resumeMs: 30_000 };
const START = TERMS;

interface Line {
  readonly header?: { readonly resume: string; readonly received: number; readonly job: string };
  readonly trailer?: {
    readonly complete: boolean; readonly rows: number;
    readonly stopped: { readonly code: number; readonly message: string; readonly line: number } | null;
  };
  readonly seq?: number;
}

async function line(client: StreamClient): Promise<Line> {
  const text = await client.next();
  assert.ok(text !== null, 'the stream has ended');
  return JSON.parse(text) as Line;
}

async function header(client: StreamClient): Promise<NonNullable<Line['header']>> {
  const { header: found } = await line(client);
  assert.ok(found !== undefined);
  return found;
}

/** Everything to the end: the trailer and how the connection closed. */
async function ending(client: StreamClient): Promise<{
  readonly lines: readonly string[];
  readonly trailer: NonNullable<Line['trailer']>;
  readonly code: number;
}> {
  const lines = await client.rest();
  const { trailer } = JSON.parse(lines.at(-1) ?? '{}') as Line;
  assert.ok(trailer !== undefined, lines.join('\n'));
  return { lines, trailer, code: (await client.ended).code };
}

async function refused(service: StreamService, more: Partial<StreamAsk> = {}): Promise<number> {
  const opened = await StreamClient.open({
    port: service.port, key: STREAM_KEY, transport: 'socket', ...more,
  });
  assert.ok(wasRefused(opened));
  const problem = JSON.parse(opened.body) as { readonly status: number };
  assert.equal(problem.status, opened.status);
  assert.ok(opened.headers['x-ratelimit-limit'] !== undefined);
  return opened.status;
}

function message(id: number): string {
  return JSON.stringify({ id, postalcode: '91020' });
}

/** Both transports, each as a test of its own. */
function overBoth(
  name: string,
  run: (service: StreamService, transport: StreamAsk['transport']) => Promise<void>,
): void {
  for (const transport of ['socket', 'post'] as const) {
    test(`${name} (${transport})`, async (context: TestContext) =>
      run(await startStreams(context, START), transport));
  }
}

overBoth('messages and batches are answered in order between header and trailer',
  async (service, transport) => {
    service.pool.prompt = true;
    const client = await service.open({ transport });
    assert.equal((await header(client)).received, 0);
    client.send(message(1));
    client.send(`[${message(2)}, ${message(3)}]`);
    assert.equal((await line(client)).seq, 1);
    assert.deepEqual(await line(client), [{ seq: 2, id: null }, { seq: 3, id: null }]);
    client.send('{"end":true}');
    const { trailer, code } = await ending(client);
    assert.deepEqual([trailer.complete, trailer.rows, trailer.stopped], [true, 3, null]);
    assert.equal(code, transport === 'socket' ? 1000 : 1);
    assert.equal(service.router.traffic.open, 0);
  });

overBoth('a cut stream goes on where the client says, and is told what came',
  async (service, transport) => {
    service.pool.prompt = true;
    const first = await service.open({ transport });
    const { resume, job } = await header(first);
    for (const id of [1, 2, 3]) first.send(message(id));
    for (const seq of [1, 2, 3]) assert.equal((await line(first)).seq, seq);
    service.pool.prompt = false;
    first.send(message(4));
    await eventually(() => service.pool.requests.length === 1);
    first.cut();
    await first.ended;
    service.pool.answer();
    const second = await service.open({ transport, query: `?resume=${resume}&from=1` });
    const again = await header(second);
    assert.deepEqual([again.received, again.resume, again.job], [4, resume, job]);
    for (const seq of [2, 3, 4]) assert.equal((await line(second)).seq, seq);
    second.finish();
    const { trailer } = await ending(second);
    assert.equal(trailer.rows, 4);
    const third = await service.open({ transport, query: `?resume=${resume}&from=4` });
    await header(third);
    assert.deepEqual((await ending(third)).trailer, trailer, 'a lost trailer comes again');
  });

overBoth('a second connection takes the stream over', async (service, transport) => {
  const first = await service.open({ transport });
  const { resume } = await header(first);
  const second = await service.open({ transport, query: `?resume=${resume}&from=0` });
  await header(second);
  assert.equal(await first.next(), null, 'without a trailer');
  assert.equal((await first.ended).code, transport === 'socket' ? 4409 : 0);
});

overBoth('a stream is resumed by its key alone, with what is kept', async (service, transport) => {
  service.pool.prompt = true;
  const client = await service.open({ transport });
  const { resume } = await header(client);
  client.send(`[${message(1)},${message(2)}]`);
  await line(client);
  client.send('{"ack":2}');
  client.send(message(3));
  await line(client);
  const ask = (query: string, key = STREAM_KEY): Promise<number> =>
    refused(service, { transport, query, key });
  assert.equal(await ask(`?resume=${resume}&from=3`, OTHER_KEY), 404);
  assert.equal(await ask('?resume=x&from=0'), 404);
  assert.equal(await ask(`?resume=${resume}`), 422);
  assert.equal(await ask(`?resume=${resume}&from=4`), 422);
  assert.equal(await ask(`?resume=${resume}&from=1`), 410);
  const gone = (): Promise<number> => eventually(() => service.router.traffic.open === 0);
  client.cut();
  await gone();
  service.turn(1);
  service.turn(TERMS.resumeMs - 1);
  const second = await service.open({ transport, query: `?resume=${resume}&from=2` });
  second.cut();
  await gone();
  service.turn(1);
  service.turn(TERMS.resumeMs);
  assert.equal(await ask(`?resume=${resume}&from=2`), 404);
  assert.equal(service.family.desk.open, 0);
});

overBoth('who may not stream is told before it begins', async (service, transport) => {
  const set = (key: string, change: object): Map<string, ReturnType<typeof recordOf>> =>
    service.keys.set(key, { ...recordOf(key), ...change });
  set('starter', { plan: 'starter' });
  set('slow', { rate: 1, account: 'slow' });
  assert.equal(await refused(service, { transport, key: null }), 401);
  assert.equal(await refused(service, { transport, key: 'nobody' }), 401);
  assert.equal(await refused(service, { transport, query: `?key=${STREAM_KEY}`, key: null }), 401);
  assert.equal(await refused(service, { transport, key: 'starter' }), 403);
  (await service.open({ transport, key: 'slow' })).cut();
  assert.equal(await refused(service, { transport, key: 'slow' }), 429);
  service.loaded(false);
  assert.equal(await refused(service, { transport }), 503);
});

test('streams have a number, and those that are cut give way', async (context) => {
  const service = await startStreams(context, START);
  const clients: StreamClient[] = [];
  for (let count = 0; count < STREAMS_PER_ACCOUNT_MAX; count += 1) {
    clients.push(await service.open());
  }
  assert.equal(await refused(service), 429);
  clients[3]?.cut();
  await eventually(() => service.router.traffic.open === STREAMS_PER_ACCOUNT_MAX - 1);
  clients.push(await service.open());
  for (let count = STREAMS_PER_ACCOUNT_MAX; count < STREAMS_MAX; count += 1) {
    service.keys.set(`k${count}`, { ...recordOf(`k${count}`), account: `a${count}` });
    clients.push(await service.open({ key: `k${count}` }));
  }
  service.keys.set('last', { ...recordOf('last'), account: 'last' });
  assert.equal(await refused(service, { key: 'last' }), 503);
  for (const client of clients) client.cut();
});

test('a client without a sign of life is ended, one that answers pings is not', async (context) => {
  const service = await startStreams(context, { ...START, idleMs: 10 * HEARTBEAT_MS });
  const open = async (autoPong: boolean): Promise<{ socket: WebSocket; client: StreamClient }> => {
    const socket = new WebSocket(`ws://127.0.0.1:${service.port}/stream`, {
      headers: { 'X-API-KEY': STREAM_KEY }, autoPong,
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
  const service = await startStreams(context, { ...START, idleMs: 1_000 });
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
  const service = await startStreams(context, START, 2);
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
  const service = await startStreams(context, { ...START, idleMs: 20 }, 5);
  const client = await service.open({ transport: 'post' });
  await header(client);
  const { trailer, code } = await ending(client);
  assert.equal(code, 1);
  assert.match(trailer.stopped?.message ?? '', /Nothing was sent for 0.02 seconds/);
  client.cut();
});

const VIOLATIONS: readonly (readonly [name: string, code: number, send: (socket: WebSocket) => void])[] = [
  ['binary', 1003, (socket) => socket.send(Buffer.from(message(1)))],
  ['a long batch', 1008, (socket) => socket.send(`[${Array(65).fill('{}').join(',')}]`)],
  ['a long message', 1009, (socket) => socket.send(' '.repeat(MESSAGE_BYTES_MAX + 1))],
  ['too many messages', 4429, (socket) => {
    for (let id = 0; id <= CREDIT_MESSAGES; id += 1) socket.send(message(id));
  }],
  ['too many bytes', 4429, (socket) => {
    for (let id = 0; id < 5; id += 1) socket.send(' '.repeat(MESSAGE_BYTES_MAX));
  }],
];

test('each violation has its close code, after what came before it is answered', async (context) => {
  const service = await startStreams(context, START);
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
  const service = await startStreams(context, START);
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
  const service = await startStreams(context, START);
  const client = await service.open();
  await header(client);
  service.keys.delete(STREAM_KEY);
  client.send(message(1));
  const { trailer, code } = await ending(client);
  assert.equal(code, 4401);
  assert.deepEqual([trailer.stopped?.code, trailer.stopped?.line], [101, 1]);
});

test('lost workers and a lost dataset end a stream, each with its code', async (context) => {
  const service = await startStreams(context, START);
  for (const [failure, code] of [['internal', 1011], ['overloaded', 1013]] as const) {
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
  const service = await startStreams(context, START);
  const socket = await service.open();
  const post = await service.open({ transport: 'post' });
  for (const client of [socket, post]) {
    await header(client);
    client.send(message(1));
  }
  await eventually(() => service.pool.requests.length === 2);
  service.family.stop();
  service.pool.answer();
  const ends = [await ending(socket), await ending(post)];
  assert.deepEqual(ends.map(({ code }) => code), [1012, 1]);
  for (const { trailer, lines } of ends) {
    assert.equal(lines.length, 2);
    assert.deepEqual([trailer.complete, trailer.rows, trailer.stopped?.line], [false, 1, 2]);
  }
  post.cut();
  await eventually(() => service.router.traffic.open === 0);
});

test('a plain GET and another content type are refused', async (context) => {
  const service = await startStreams(context, START);
  const plain = await ask(service.port, '/stream', { 'X-API-KEY': STREAM_KEY });
  assert.equal(plain.status, 405);
  assert.equal(plain.headers.get('allow'), 'POST');
  for (const headers of [{ 'Content-Type': 'text/csv' }, { 'Content-Encoding': 'gzip' }]) {
    assert.equal(await refused(service, { transport: 'post', headers }), 415);
  }
});

test('an upload beyond its credits waits, and every message is answered', async (context) => {
  const service = await startStreams(context, START);
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
