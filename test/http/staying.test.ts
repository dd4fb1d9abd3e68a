/** Clients that say that they go on with their connection, which is then read on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { runLoad } from '../../bench/load/load.js';
import {
  BUSY_REQUESTS,
  BUSY_WARY_MS,
  Staying,
  STAYING_BODY_BYTES_MAX,
  WARY_MS,
} from '../../src/http/staying.js';
import type { RawRequest } from '../../src/http/transport.js';
import { RawClient, requestText } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { startStubServer, STUB_KEY } from '../support/http-stub-server.js';

const KEY = { 'X-API-KEY': STUB_KEY };
const STAYING = { ...KEY, Connection: 'keep-alive' };
const SLOW = '/request/v60?sleep';

/** A request that says this of its connection. */
function saying(connection: string): Pick<RawRequest, 'getHeader'> {
  return { getHeader: () => connection };
}

test('whoever says keep-alive, in whatever letters, stays; nobody else does', () => {
  const staying = new Staying();
  for (const said of ['keep-alive', 'Keep-Alive'])
    assert.equal(staying.stays(saying(said), 'a'), true);
  for (const said of ['', 'close', 'upgrade', 'keep-alive, Upgrade', 'keep-alivf']) {
    assert.equal(staying.stays(saying(said), 'a'), false, said);
  }
});

test('after a cut the connections of that key are held for a while, those of others are not', () => {
  let now = 1_000;
  const staying = new Staying(() => now);
  const request = saying('keep-alive');
  staying.cut('a');
  assert.equal(staying.stays(request, 'a'), false);
  assert.equal(staying.stays(request, 'b'), true);
  now += WARY_MS - 1;
  assert.equal(staying.stays(request, 'a'), false);
  now += 1;
  assert.equal(staying.stays(request, 'a'), true);
});

/** Asks of a key until it is trusted, once a millisecond; how many milliseconds that took. */
function msUntilTrusted(staying: Staying, clock: { now: number }, key: string): number {
  const from = clock.now;
  while (!staying.trusts(key)) clock.now += 1;
  return clock.now - from;
}

for (const key of ['a', '']) {
  const whose = key === '' ? 'whoever has no key yet' : 'a key';
  test(`${whose}, under which thousands of requests come, is trusted again soon, and later each time it is cut at once`, () => {
    const clock = { now: 1_000 };
    const staying = new Staying(() => clock.now);
    staying.cut(key);
    assert.equal(msUntilTrusted(staying, clock, key), BUSY_REQUESTS - 1);
    // The first try lasted as long as its requests, the next ones as long as they must.
    for (const milliseconds of [BUSY_WARY_MS * 5, BUSY_WARY_MS * 25, WARY_MS, WARY_MS]) {
      clock.now += 10;
      staying.cut(key);
      // Others that are cut meanwhile were read on before.
      staying.cut(key);
      assert.equal(msUntilTrusted(staying, clock, key), milliseconds);
    }
    // A cut much later is one of a client that has gone.
    clock.now += BUSY_WARY_MS;
    staying.cut(key);
    assert.equal(msUntilTrusted(staying, clock, key), BUSY_REQUESTS - 1);
  });
}

test('a busy key is held for a least time, however many requests come', () => {
  const clock = { now: 0 };
  const staying = new Staying(() => clock.now);
  staying.cut('a');
  for (let at = 0; at < BUSY_REQUESTS * 3; at += 1) assert.equal(staying.trusts('a'), false);
  clock.now = BUSY_WARY_MS - 1;
  assert.equal(staying.trusts('a'), false);
  clock.now = BUSY_WARY_MS;
  assert.equal(staying.trusts('a'), true);
});

test('a connection that was used again and again may still end its half where it does not say more', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  for (let at = 0; at < 40; at += 1) {
    client.get(`/request/v60?${at}`, STAYING);
    assert.equal((await client.answer())?.status, 200);
  }
  client.socket.end(requestText('GET', SLOW, KEY));
  assert.equal((await client.answer())?.status, 200);
  await client.closed();
});

test('a client that says it stays and sends the next request early is cut once at most', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const early = async (): Promise<number> => {
    const client = await RawClient.open(server.port);
    client.get(SLOW, STAYING);
    await delay(5);
    client.get('/nothing', STAYING);
    const statuses = [(await client.answer())?.status, (await client.answer())?.status];
    client.close();
    assert.ok(statuses[0] === 200 ? statuses[1] === 404 : statuses[1] === undefined);
    return statuses[0] === 200 ? 0 : 1;
  };
  const first = await early();
  assert.equal(first, server.server.transport === 'native' ? 1 : 0);
  for (let round = 0; round < 5; round += 1) assert.equal(await early(), 0);
  assert.equal(server.router.traffic.open, 0);
});

test('while a key is not known yet, a cut of any is minded', () => {
  const staying = new Staying();
  assert.equal(staying.trusts(''), true);
  staying.cut('a');
  assert.equal(staying.trusts(''), false);
  assert.equal(staying.trusts('b'), true);
});

/** A POST whose client ends its half behind it all the same. */
function posted(path: string, fields: string, body = 'x'): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n${fields}` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

const LONG = 'x'.repeat(STAYING_BODY_BYTES_MAX + 1);
const IDEMPOTENT = 'Idempotency-Key: 1\r\n';
const POSTS: readonly (readonly [name: string, request: string, isRead: boolean])[] = [
  ['what writes nothing', posted('/slow', ''), true],
  ['a write under an Idempotency-Key', posted('/slow/write', IDEMPOTENT), true],
  ['a write without one', posted('/slow/write', ''), false],
  ['a route that says nothing of repeating', posted('/slow/once', IDEMPOTENT), false],
  ['a long body', posted('/slow', '', LONG), false],
];

for (const [name, request, isRead] of POSTS) {
  test(`a body of a client that stays, its half ended all the same: ${name}`, async (context) => {
    const server = await startStubServer();
    context.after(server.close);
    const once = async (): Promise<number> => {
      const client = await RawClient.open(server.port);
      client.write(request);
      await delay(5);
      client.socket.end();
      const answer = await client.answer();
      await client.closed();
      return answer?.status ?? 0;
    };
    const isCut = isRead && server.server.transport === 'native';
    assert.equal(await once(), isCut ? 0 : 200);
    for (let round = 0; round < 3; round += 1) assert.equal(await once(), 200);
    assert.equal(server.router.traffic.open, 0);
    assert.equal(server.router.room.used, 0);
  });
}

test('bodies of a client that stays and waits are answered, one behind the other, whole or in parts', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  for (let round = 0; round < 5; round += 1) {
    const request = posted('/slow', '', 'some text');
    client.write(request.slice(0, -3));
    if (round % 2 === 0) await delay(5);
    client.write(request.slice(-3));
    assert.equal((await client.answer())?.body, '/slow');
  }
  client.close();
  assert.equal(server.router.room.used, 0);
});

test('the answer of a client that goes meanwhile is let go of, and others are answered', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  for (const leave of ['end', 'resetAndDestroy'] as const) {
    const client = await RawClient.open(server.port);
    client.get(SLOW, STAYING);
    await delay(5);
    client.socket[leave]();
    const other = await RawClient.open(server.port);
    other.get('/request/v60?other', STAYING);
    assert.equal((await other.answer())?.status, 200);
    other.close();
  }
  while (server.router.traffic.open > 0) await delay(5);
});

test('under load every client is answered that waits, or ends its half without a word', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const stays = async (): Promise<void> => {
    const client = await RawClient.open(server.port);
    for (let at = 0; at < 300; at += 1) {
      client.get(`/request/v60?stays${at}`, STAYING);
      assert.equal((await client.answer())?.status, 200);
    }
    client.close();
  };
  const ends = async (): Promise<void> => {
    for (let at = 0; at < 40; at += 1) {
      const client = await RawClient.open(server.port);
      client.socket.end(requestText('GET', `/request/v60?ends${at}`, KEY));
      assert.equal((await client.answer())?.status, 200);
      await client.closed();
    }
  };
  await Promise.all([...Array.from({ length: 16 }, stays), ...Array.from({ length: 8 }, ends)]);
  assert.equal(server.router.traffic.open, 0);
});

test('the load generator waits for its last answers, so that what it measures next is read on too', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const { port } = server;
  // Four at once are answered within a second, unless the machine is busy: then all is waited for again.
  await eventually(async () => {
    const { errors, requests } = await runLoad({
      port,
      paths: [SLOW],
      headers: KEY,
      connections: 4,
      seconds: 1,
      warmupSeconds: 0.1,
    });
    assert.equal(errors, 0);
    return requests > 0;
  });
  const client = await RawClient.open(port);
  client.get(SLOW, STAYING);
  await delay(5);
  client.socket.end();
  assert.equal((await client.answer()) === null, server.server.transport === 'native');
  await client.closed();
});
