/** Several nodes with one Redis, as whole services. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import WebSocket from 'ws';
import type { Limits } from '../../src/limit/open-rates.js';
import { readRedisAddress } from '../../src/limit/redis-address.js';
import { RedisWindows } from '../../src/limit/redis.js';
import { SharedRates } from '../../src/limit/shared-rates.js';
import { ask } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { buildRecipe } from '../support/built-dataset.js';
import { KEYS, startBulkApp } from '../support/bulk-client.js';
import { table } from '../support/job-service.js';
import { startRedis, type OwnRedis } from '../support/redis-server.js';
import { HEADER, health, LOOKUP, metric, type Node, remaining, startNode } from './service-node.js';

const PATIENT_MS = 60_000;
/** So few that no node holds places ahead, and each tells what is left to the last one. */
const FEW = 31;

/** Rates that wait for an answer however busy the machine is: else an answer may come too late. */
async function patient({ url }: OwnRedis): Promise<Limits> {
  const rates = new SharedRates({
    windows: new RedisWindows(readRedisAddress(`${url}/3?prefix=test`)),
    sharePercent: 50,
    answerMs: PATIENT_MS,
  });
  assert.equal(await rates.started(PATIENT_MS), true);
  return { rates, shared: rates, close: () => rates.close() };
}

async function withTwo(
  context: TestContext,
  rate: number,
  see: (one: Node, two: Node) => Promise<void>,
  transport = 'auto',
): Promise<void> {
  const redis = await startRedis(context);
  if (redis === null) return;
  const environment = { SITUS_BOOTSTRAP_RATE: String(rate), SITUS_TRANSPORT: transport };
  await see(
    await startNode(context, environment, await patient(redis)),
    await startNode(context, environment, await patient(redis)),
  );
}

test('the rate of a key holds over two nodes, whichever is asked', (context) =>
  withTwo(context, 10, async (one, two) => {
    assert.equal(await health(one.port), 'shared');
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      const { status, headers } = await ask([one, two][index % 2]!.port, LOOKUP, HEADER);
      statuses.push(status);
      assert.equal(headers.get('x-ratelimit-limit'), '10');
      assert.equal(headers.get('x-ratelimit-remaining'), String(Math.max(0, 9 - index)));
    }
    assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429]);
    assert.equal(await remaining(two.port, '/account/metrics'), 0, 'looking takes nothing');
    assert.equal(await metric(one, 'situs_limits_shared'), 1);
    assert.equal(await metric(one, 'situs_limits_asked_total'), 6);
  }));

const NDJSON = { 'Content-Type': 'application/x-ndjson' };
/** One of each kind of operation behind the gate. */
const REQUESTS: readonly (readonly [string, string, RequestInit])[] = [
  ['GET', LOOKUP, {}],
  ['POST', '/search/tic', { body: '{"query":"shirt"}' }],
  ['POST', '/calculate/cart', { body: '{}' }],
  ['POST', '/merchant/cart/calculate', { body: '{}' }],
  ['POST', '/bulk/lookup', { body: 'x', headers: { 'Content-Type': 'image/png' } }],
  ['POST', '/stream', { body: '', headers: NDJSON }],
  ['GET', '/bulk/trailer?job=none', {}],
  ['GET', '/bulk/jobs', {}],
  ['POST', '/bulk/jobs?kind=none', { body: 'x' }],
  ['GET', '/bulk/jobs/none', {}],
  ['GET', '/bulk/jobs/none/result', {}],
  ['DELETE', '/bulk/jobs/none', {}],
];

async function seeEach(one: Node, two: Node): Promise<void> {
  const keyed = one.app.routes.filter(
    ({ path }) =>
      /^\/(?:request|account|search|calculate|merchant|bulk|stream)(?:\/|$)/.test(path) &&
      !path.endsWith('/schema'),
  );
  assert.ok(keyed.length > 30);
  for (const { method, path, ask: asks } of keyed) {
    assert.equal(typeof asks, 'function', `${method} ${path}`);
  }
  // The catalogue asks how often its client's address has asked, which is the supervisor's to say.
  const asking = one.app.routes.filter(({ ask: asks }) => asks !== undefined);
  const others = asking.filter(({ path }) => keyed.every((route) => route.path !== path));
  assert.deepEqual(
    others.map(({ path }) => path),
    ['/data/tic'],
  );
  const base = `http://127.0.0.1:${one.port}`;
  let left = FEW;
  for (const [method, path, { headers, ...init }] of REQUESTS) {
    const answer = await fetch(base + path, {
      method,
      ...init,
      headers: { ...HEADER, ...(headers as Record<string, string>) },
    });
    await answer.arrayBuffer();
    left -= 1;
    assert.notEqual(answer.status, 401, path);
    assert.notEqual(answer.status, 500, path);
    assert.equal(answer.headers.get('x-ratelimit-remaining'), String(left), path);
    assert.equal(await remaining(two.port, '/account/metrics'), left, path);
  }
  const socket = new WebSocket(`ws://127.0.0.1:${one.port}/stream`, { headers: HEADER });
  await once(socket, 'open');
  socket.terminate();
  assert.equal(await remaining(two.port, '/account/metrics'), left - 1, 'a WebSocket');
  assert.equal(await metric(one, 'situs_limits_alone_total'), 0);
}

for (const transport of ['auto', 'node']) {
  test(`every operation behind the gate asks, and takes one place: ${transport}`, (context) =>
    withTwo(context, FEW, seeEach, transport));
}

for (const transport of ['auto', 'node']) {
  test(`what is held ahead takes one place a request: ${transport}`, (context) =>
    withTwo(
      context,
      50_000,
      async (one, two) => {
        const base = `http://127.0.0.1:${one.port}`;
        let asked = 0;
        for (let round = 0; round < 4; round += 1) {
          for (const [method, path, { headers, ...init }] of REQUESTS) {
            const answer = await fetch(base + path, {
              method,
              ...init,
              headers: { ...HEADER, ...(headers as Record<string, string>) },
            });
            await answer.arrayBuffer();
            asked += 1;
            assert.equal(answer.headers.get('x-ratelimit-remaining'), String(50_000 - asked), path);
          }
          const socket = new WebSocket(`ws://127.0.0.1:${one.port}/stream`, { headers: HEADER });
          await once(socket, 'open');
          socket.terminate();
          asked += 1;
        }
        assert.ok((await metric(one, 'situs_limits_ahead_total')) > asked / 2);
        assert.equal(await metric(one, 'situs_limits_alone_total'), 0);
        // What is not used is given back.
        await eventually(
          async () => (await remaining(two.port, '/account/metrics')) === 50_000 - asked,
        );
      },
      transport,
    ));
}

test('a key without a place left is refused before a stream or a WebSocket', async (context) => {
  const redis = await startRedis(context);
  if (redis === null) return;
  const { port } = await startNode(context, {
    SITUS_LIMITS: `unix://${redis.socket}`,
    SITUS_BOOTSTRAP_RATE: '1',
  });
  assert.equal((await ask(port, LOOKUP, HEADER)).status, 200);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`, { headers: HEADER });
  const [, refusal] = (await once(socket, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ];
  assert.equal(refusal.statusCode, 429);
  socket.on('error', () => undefined).terminate();
  const cart = await fetch(`http://127.0.0.1:${port}/calculate/cart`, {
    method: 'POST',
    headers: HEADER,
    body: JSON.stringify({ filler: 'x'.repeat(300_000) }),
  });
  assert.equal(cart.status, 429);
  assert.equal((await ask(port, LOOKUP)).status, 401);
});

test('without its server a node admits its share at once, tells it, and comes back', async (context) => {
  const redis = await startRedis(context, ['--requirepass', 'a-secret-word']);
  if (redis === null) return;
  const node = await startNode(context, {
    SITUS_LIMITS: redis.url.replace('//', '//:a-secret-word@'),
    SITUS_BOOTSTRAP_RATE: '100',
    SITUS_LIMITS_SHARE: '20',
  });
  await eventually(async () => (await remaining(node.port)) > 20);
  await redis.kill();
  const left = await remaining(node.port);
  assert.ok(left >= 0 && left <= 18, `what was used of the share of twenty is used: ${left}`);
  await eventually(async () => (await health(node.port)) === 'own share');
  assert.equal(await metric(node, 'situs_limits_shared'), 0);
  assert.equal((await ask(node.port, '/system/ready')).status, 200);
  for (let index = left - 1; index >= 0; index -= 1)
    assert.equal(await remaining(node.port), index);
  assert.equal((await ask(node.port, LOOKUP, HEADER)).status, 429);
  await redis.start();
  await eventually(async () => (await health(node.port)) === 'shared');
  // What was answered too late is counted twice.
  assert.ok((await remaining(node.port)) <= 79, 'a server without memory was told of the twenty');
  const told = node.lines.filter((line) => line.includes('limits'));
  assert.deepEqual(
    told.slice(-2).map((line) => (JSON.parse(line) as { event: string }).event),
    ['limits not shared', 'limits shared again'],
  );
  assert.ok(!node.lines.join('').includes('a-secret-word'));
  assert.ok((await metric(node, 'situs_limits_lost_total')) >= 1);
});

test('a server that takes connections and never answers keeps nobody waiting', async (context) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const node = await startNode(context, {
    SITUS_LIMITS: `redis://127.0.0.1:${port}`,
    SITUS_BOOTSTRAP_RATE: '10',
  });
  assert.equal(await health(node.port), 'own share');
  assert.deepEqual([await remaining(node.port), await remaining(node.port)], [4, 3]);
  assert.ok(node.lines.some((line) => line.includes('no answer yet')));
});

const ROWS = 6_000;
/** So small that there are many of them. */
const PIECE_BYTES = 16_384;

test('a file is answered byte for byte as without shared windows, a piece at a time', async (context) => {
  const redis = await startRedis(context);
  if (redis === null) return;
  const bodies: string[] = [];
  const shared = { SITUS_LIMITS: redis.url };
  for (const settings of [{}, shared, { ...shared, SITUS_TRANSPORT: 'node' }]) {
    const built = buildRecipe('fixture');
    context.after(() => built.remove());
    const { app, port } = await startBulkApp(built.varDir, settings);
    const text = Buffer.from(table(ROWS));
    // Pieces arrive while the window is asked.
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < text.length; at += PIECE_BYTES) {
        yield text.subarray(at, at + PIECE_BYTES);
      }
    }
    const answer = await fetch(`http://127.0.0.1:${port}/bulk/lookup`, {
      method: 'POST',
      body: ReadableStream.from(pieces()),
      duplex: 'half',
      headers: { 'X-API-KEY': KEYS.bulk, 'Content-Type': 'text/csv' },
    });
    assert.equal(answer.status, 200);
    bodies.push(await answer.text());
    await app.stop();
  }
  assert.equal(bodies[0]!.split('\n').length, ROWS + 2);
  assert.equal(bodies[1], bodies[0]);
  assert.equal(bodies[2], bodies[0]);
});
