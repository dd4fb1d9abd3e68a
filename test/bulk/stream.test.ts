/** The protocol of streams over real sockets, with a clock that the test turns. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { StreamClient, StreamAsk } from '../../bench/load/stream-client.js';
import { STREAMS_MAX, STREAMS_PER_ACCOUNT_MAX } from '../../src/bulk/stream/session-options.js';
import { eventually } from '../support/http-eventually.js';
import { ask } from '../support/http-client.js';
import {
  ending,
  header,
  line,
  message,
  OTHER_KEY,
  recordOf,
  refused,
  startStreams,
  STREAM_KEY,
  type StreamService,
  TIMES,
} from '../support/stream-service.js';

/** Both transports, each as a test of its own. */
function overBoth(
  name: string,
  run: (service: StreamService, transport: StreamAsk['transport']) => Promise<void>,
): void {
  for (const transport of ['socket', 'post'] as const) {
    test(`${name} (${transport})`, async (context: TestContext) =>
      run(await startStreams(context, TIMES), transport));
  }
}

overBoth(
  'messages and batches are answered in order between header and trailer',
  async (service, transport) => {
    service.pool.prompt = true;
    const client = await service.open({ transport });
    assert.equal((await header(client)).received, 0);
    client.send(message(1));
    client.send(`[${message(2)}, ${message(3)}]`);
    assert.equal((await line(client)).seq, 1);
    assert.deepEqual(await line(client), [
      { seq: 2, id: null },
      { seq: 3, id: null },
    ]);
    client.send('{"end":true}');
    const { trailer, code } = await ending(client);
    assert.deepEqual([trailer.complete, trailer.rows, trailer.stopped], [true, 3, null]);
    assert.equal(code, transport === 'socket' ? 1000 : 1);
    assert.equal(service.router.traffic.open, 0);
  },
);

overBoth(
  'a cut stream goes on where the client says, and is told what came',
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
  },
);

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
  const gone = (): Promise<void> => eventually(() => service.router.traffic.open === 0);
  client.cut();
  await gone();
  service.turn(1);
  service.turn(TIMES.resumeMs - 1);
  const second = await service.open({ transport, query: `?resume=${resume}&from=2` });
  second.cut();
  await gone();
  service.turn(1);
  service.turn(TIMES.resumeMs);
  assert.equal(await ask(`?resume=${resume}&from=2`), 404);
  assert.equal(service.streams.sessions.open, 0);
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
  const service = await startStreams(context, TIMES);
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

test('a plain GET and another content type are refused', async (context) => {
  const service = await startStreams(context, TIMES);
  const plain = await ask(service.port, '/stream', { 'X-API-KEY': STREAM_KEY });
  assert.equal(plain.status, 426);
  assert.equal(plain.headers.get('upgrade'), 'websocket');
  assert.equal((await ask(service.port, '/stream', { 'X-API-KEY': 'none' })).status, 401);
  for (const headers of [{ 'Content-Type': 'text/csv' }, { 'Content-Encoding': 'gzip' }]) {
    assert.equal(await refused(service, { transport: 'post', headers }), 415);
  }
});

test('a client that takes no answers stops its own upload, and memory stays small', async (context) => {
  const service = await startStreams(context, TIMES);
  service.pool.prompt = true;
  service.pool.fillBytes = 16_000;
  const client = await service.open({ transport: 'post' });
  await header(client);
  client.flow?.pause();
  const count = 4_000;
  for (let id = 0; id < count; id += 1) client.send(message(id));
  client.finish();
  let before = -1;
  await eventually(async () => {
    const settled = before === service.pool.answered && before > 0;
    before = service.pool.answered;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return settled;
  });
  // The rest is with the system, which takes some megabytes for each connection.
  assert.ok(service.pool.answered * service.pool.fillBytes < 24_000_000, String(before));
  client.flow?.resume();
  const { trailer, lines } = await ending(client);
  assert.deepEqual([trailer.rows, lines.length], [count, count + 1]);
});
