/** What a key has at most over several nodes, on a real server that goes away in every way. */
import assert from 'node:assert/strict';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { REFUSED } from '../../src/http/rate-limit.js';
import { readRedisAddress } from '../../src/limit/redis-address.js';
import { RedisWindows } from '../../src/limit/redis.js';
import { SharedRates } from '../../src/limit/shared-rates.js';
import { eventually } from '../support/http-eventually.js';
import { startRedis, type OwnRedis } from '../support/redis-server.js';

const NODES = 4;
const RATE = 400;
const PERCENT = 25;
const OWN = (RATE * PERCENT) / 100;
/** Of all nodes and steps; far above every bound. */
const ASKED_TOGETHER = 50;

interface Fleet {
  readonly nodes: readonly SharedRates[];
  /** Asks each node about so many requests of a key at once; how many were admitted. */
  ask(id: string, count?: number): Promise<number>;
}

async function openFleet(context: TestContext, url: string, answerMs?: number): Promise<Fleet> {
  const nodes = Array.from(
    { length: NODES },
    () =>
      new SharedRates({
        windows: new RedisWindows(readRedisAddress(url)),
        sharePercent: PERCENT,
        ...(answerMs === undefined ? {} : { answerMs }),
      }),
  );
  context.after(() => Promise.all(nodes.map((node) => node.close())));
  for (const node of nodes) await eventually(() => node.shared);
  const one = async (node: SharedRates, id: string): Promise<boolean> => {
    const key = { id, rate: RATE };
    return ((await node.ask(key, true)) ?? node.take(key)) !== REFUSED;
  };
  const ask = async (id: string, count = ASKED_TOGETHER): Promise<number> => {
    const asked = nodes.flatMap((node) => Array.from({ length: count }, () => one(node, id)));
    return (await Promise.all(asked)).filter((had) => had).length;
  };
  return { nodes, ask };
}

async function allShared({ nodes }: Fleet): Promise<void> {
  for (const node of nodes) await eventually(() => node.shared);
}

test('with an answer each time a key has its rate over all nodes, exactly', async (context) => {
  const redis = await startRedis(context);
  if (redis === null) return;
  // So long that also a machine under load is in time.
  const fleet = await openFleet(context, redis.url, 60_000);
  let admitted = 0;
  for (let step = 0; step < 10; step += 1) admitted += await fleet.ask('a');
  assert.equal(admitted, RATE);
  // Cut connections and a script that was flushed are no reason for one request more.
  for (let step = 0; step < 10; step += 1) {
    await redis.redis.script('FLUSH');
    admitted += await fleet.ask(`b${step}`, 5);
  }
  assert.equal(admitted, RATE + 10 * NODES * 5);
  assert.ok(fleet.nodes.every(({ counts }) => counts.away === 0));
});

/** A way to have a server go away, and how it comes back. */
type Fault = readonly [
  name: string,
  away: (redis: OwnRedis) => Promise<void>,
  back: (redis: OwnRedis) => Promise<void>,
  bound: number,
];

const NOTHING = (): Promise<void> => Promise.resolve();

const FAULTS: readonly Fault[] = [
  [
    'connections that are cut',
    async ({ redis }) => {
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
    NOTHING,
    RATE + NODES * OWN,
  ],
  [
    'a server that stands still',
    ({ child }) => {
      child.kill('SIGSTOP');
      return NOTHING();
    },
    ({ child }) => {
      child.kill('SIGCONT');
      return NOTHING();
    },
    RATE + NODES * OWN,
  ],
  [
    'a server that forgets',
    async ({ redis }) => {
      await redis.flushall();
    },
    NOTHING,
    2 * RATE + NODES * OWN,
  ],
  ['a server that is killed', ({ kill }) => kill(), ({ start }) => start(), 2 * RATE + NODES * OWN],
];

for (const [name, away, back, bound] of FAULTS) {
  test(`${name}: no key passes the stated bound, and what was had counts`, async (context) => {
    const redis = await startRedis(context);
    if (redis === null) return;
    const fleet = await openFleet(context, redis.url);
    for (const [id, before] of [
      ['idle', 0],
      ['half', 12],
      ['full', ASKED_TOGETHER * 3],
    ] as const) {
      await allShared(fleet);
      let admitted = await fleet.ask(id, before);
      // Questions are under way when it goes.
      const under = fleet.ask(id, 3);
      await away(redis);
      admitted += await under;
      for (let step = 0; step < 5; step += 1) admitted += await fleet.ask(id);
      await back(redis);
      for (let step = 0; step < 5; step += 1) admitted += await fleet.ask(id);
      await allShared(fleet);
      for (let step = 0; step < 5; step += 1) admitted += await fleet.ask(id);
      // Nobody is kept from the rate for good; on a machine under load answers are late for a while.
      await eventually(async () => {
        if (admitted >= RATE) return true;
        await allShared(fleet);
        admitted += await fleet.ask(id);
        return admitted >= RATE;
      }, 30_000);
      assert.ok(admitted <= bound, `${id}: ${admitted} of ${bound}`);
      context.diagnostic(`${id}: ${admitted} of ${bound}, rate ${RATE}`);
    }
  });
}

/** A way to a server that can be closed for good and for a while: what comes in goes nowhere. */
async function openWay(
  context: TestContext,
  port: number,
): Promise<{
  readonly url: string;
  block(is: boolean): void;
}> {
  const pairs: (readonly [Socket, Socket])[] = [];
  let blocked = false;
  const server: Server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    pairs.push([near, far]);
    near.on('error', () => undefined).on('data', (bytes) => blocked || far.write(bytes));
    far.on('error', () => undefined).on('data', (bytes) => blocked || near.write(bytes));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of pairs.flat()) socket.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    block: (is) => {
      blocked = is;
    },
  };
}

test('one node that is cut off adds its share, and the others go on exactly', async (context) => {
  const redis = await startRedis(context);
  if (redis === null) return;
  const way = await openWay(context, Number(new URL(redis.url).port));
  const [near, far] = await Promise.all(
    [way.url, redis.url].map(async (url) => {
      const node = new SharedRates({
        windows: new RedisWindows(readRedisAddress(url)),
        sharePercent: PERCENT,
        ...(url === redis.url ? { answerMs: 60_000 } : {}),
      });
      context.after(() => node.close());
      await eventually(() => node.shared);
      return node;
    }),
  );
  const key = { id: 'a', rate: RATE };
  way.block(true);
  let admitted = 0;
  const one = async (node: SharedRates): Promise<void> => {
    if (((await node.ask(key, true)) ?? node.take(key)) !== REFUSED) admitted += 1;
  };
  for (let index = 0; index < OWN * 2; index += 1) await one(near!);
  assert.equal(admitted, OWN);
  await Promise.all(Array.from({ length: RATE - OWN }, () => one(far!)));
  assert.equal(admitted, RATE);
  // A connection on which nothing comes back is cut and made anew.
  way.block(false);
  await eventually(() => near!.shared);
  await Promise.all(Array.from({ length: RATE }, () => one(far!)));
  assert.equal(admitted, RATE, 'what the other one had alone counts');
});
