/** The script of rolling minutes, on a real server, against the windows of a process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BucketWindow, ExactWindow, REFUSED, type RateWindow } from '../../src/http/rate-window.js';
import { WindowsLost } from '../../src/limit/port.js';
import { readRedisAddress } from '../../src/limit/redis-address.js';
import { RedisWindows } from '../../src/limit/redis.js';
import { eventually } from '../support/http-eventually.js';
import { startRedis, type OwnRedis } from '../support/redis-server.js';

const EXACT_LIMITS = [1, 3, 70, 200];
/** Above what is counted one by one. */
const BUCKET_LIMITS = [100_001, 100_003, 200_000];

/** Takes places one by one: how many were had, and how many are left. */
function taken(
  window: RateWindow,
  now: number,
  limit: number,
  count: number,
): { admitted: number; left: number } {
  let admitted = 0;
  for (let index = 0; index < count; index += 1) {
    if (window.take(now, limit) !== REFUSED) admitted += 1;
  }
  return { admitted, left: window.remaining(now, limit) };
}

function steps(
  limits: readonly number[],
  countMax: number,
): fc.Arbitrary<
  readonly {
    readonly wait: number;
    readonly limit: number;
    readonly count: number;
  }[]
> {
  return fc.array(
    fc.record({
      // Microseconds: often within a millisecond, sometimes more than a window.
      wait: fc.oneof(
        fc.integer({ min: 0, max: 900 }),
        fc.integer({ min: 0, max: 5_000_000 }),
        fc.integer({ min: 0, max: 70_000_000 }),
      ),
      limit: fc.constantFrom(...limits),
      count: fc.integer({ min: 0, max: countMax }),
    }),
    { maxLength: 60 },
  );
}

async function opened(server: OwnRedis, clock?: () => number): Promise<RedisWindows> {
  const windows = new RedisWindows(
    readRedisAddress(server.url),
    clock === undefined ? {} : { clock },
  );
  await eventually(async () =>
    windows.ask([]).then(
      () => true,
      () => false,
    ),
  );
  return windows;
}

const FROM = 1_790_000_000_000_000;

test('over random times the script says what the windows of a process say', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  let microseconds = FROM;
  const windows = await opened(server, () => microseconds);
  context.after(() => windows.close());
  let runs = 0;
  const compare = async (
    own: RateWindow,
    walk: readonly { wait: number; limit: number; count: number }[],
  ): Promise<void> => {
    runs += 1;
    const id = `key-${runs}`;
    for (const { wait, limit, count } of walk) {
      microseconds += wait;
      const expected = taken(own, microseconds / 1_000, limit, count);
      const [answer] = await windows.ask([{ id, rate: limit, count }]);
      assert.deepEqual(answer, { ...expected, held: 0 });
    }
  };
  await fc.assert(
    fc.asyncProperty(steps(EXACT_LIMITS, 90), (walk) => compare(new ExactWindow(), walk)),
    { numRuns: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps(BUCKET_LIMITS, 30_000), (walk) =>
      compare(new BucketWindow(microseconds / 1_000), walk),
    ),
    { numRuns: 15 },
  );
});

test('a minute of many entries is forgotten in one go, and none too early', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  let microseconds = FROM;
  const windows = await opened(server, () => microseconds);
  context.after(() => windows.close());
  const own = new ExactWindow();
  const ask = async (count: number): Promise<void> => {
    const expected = taken(own, microseconds / 1_000, 5_000, count);
    assert.deepEqual(await windows.ask([{ id: 'a', rate: 5_000, count }]), [
      { ...expected, held: 0 },
    ]);
  };
  for (let index = 0; index < 1_000; index += 1) {
    microseconds += 50_001;
    await ask(2);
  }
  // Between two of the entries.
  microseconds += 45_000_017;
  await ask(1);
  assert.ok((await server.redis.llen('{situs}:w:a')) < 500, 'what is forgotten is dropped');
});

test('by its own clock: what one process took, another one has not', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  const [one, two] = [await opened(server), await opened(server)];
  context.after(() => Promise.all([one.close(), two.close()]));
  assert.deepEqual(
    await one.ask([
      { id: 'a', rate: 5, count: 3 },
      { id: 'b', rate: 1, count: 2 },
    ]),
    [
      { admitted: 3, left: 2, held: 0 },
      { admitted: 1, left: 0, held: 0 },
    ],
  );
  assert.deepEqual(await two.ask([{ id: 'a', rate: 5, count: 3 }]), [
    { admitted: 2, left: 0, held: 0 },
  ]);
  await two.settle([
    {
      id: 'c',
      admitted: [
        [0, 3],
        [250, 1],
        [60_000, 9],
      ],
    },
  ]);
  assert.deepEqual(
    await one.ask([
      { id: 'c', rate: 5, count: 0 },
      { id: 'c', rate: 5, count: 9 },
    ]),
    [
      { admitted: 0, left: 1, held: 0 },
      { admitted: 1, left: 0, held: 0 },
    ],
    'what is a minute old counts no more',
  );
  const ttl = await server.redis.pttl('{situs}:w:a');
  assert.ok(ttl > 59_000 && ttl <= 61_000, 'nothing of a key that rests is kept');
});

test('the script is sent again when it was flushed, also with many keys', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  const windows = await opened(server);
  context.after(() => windows.close());
  await server.redis.script('FLUSH');
  const questions = Array.from({ length: 300 }, (_, index) => ({
    id: `key-${index}`,
    rate: 2,
    count: 3,
  }));
  const answers = await windows.ask(questions);
  assert.equal(answers.length, 300);
  assert.ok(answers.every(({ admitted, left }) => admitted === 2 && left === 0));
});

test('windows that were lost are told, to each who knew them', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  const [one, two] = [await opened(server), await opened(server)];
  context.after(() => Promise.all([one.close(), two.close()]));
  await server.redis.flushall();
  const asked = [one, two].flatMap((windows) => [
    windows.ask([{ id: 'a', rate: 2, count: 2 }]),
    windows.ask([]),
  ]);
  for (const { status, ...rest } of await Promise.allSettled(asked)) {
    assert.equal(status, 'rejected');
    assert.ok('reason' in rest && rest.reason instanceof WindowsLost);
  }
  assert.deepEqual(await one.ask([{ id: 'a', rate: 2, count: 1 }]), [
    { admitted: 1, left: 1, held: 0 },
  ]);
});

test('a clock that went back by an hour keeps no key waiting for an hour', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  let microseconds = FROM;
  const windows = await opened(server, () => microseconds);
  context.after(() => windows.close());
  const ask = (): Promise<readonly unknown[]> => windows.ask([{ id: 'a', rate: 2, count: 1 }]);
  assert.deepEqual(await ask(), [{ admitted: 1, left: 1, held: 0 }]);
  microseconds -= 500_000;
  assert.deepEqual(
    await ask(),
    [{ admitted: 1, left: 0, held: 0 }],
    'half a second is stood through',
  );
  microseconds -= 3_600_000_000;
  assert.deepEqual(await ask(), [{ admitted: 0, left: 0, held: 0 }], 'nothing is forgotten');
  microseconds += 59_999_999;
  assert.deepEqual(await ask(), [{ admitted: 0, left: 0, held: 0 }]);
  microseconds += 1;
  assert.deepEqual(await ask(), [{ admitted: 1, left: 1, held: 0 }], 'a minute later it is');
});

test('what is held ahead counts, by its holder as used, given back, or gone', async (context) => {
  const server = await startRedis(context);
  if (server === null) return;
  let microseconds = FROM;
  const windows = await opened(server, () => microseconds);
  context.after(() => windows.close());
  const ask = async (
    holder: string,
    count: number,
    ahead = { used: 0, keep: 0, want: 0 },
  ): Promise<unknown> => (await windows.ask([{ id: 'a', rate: 320, count, ahead }], holder))[0];
  const hold = { used: 0, keep: 0, want: 8 };
  assert.deepEqual(await ask('one', 1, hold), { admitted: 1, left: 311, held: 8 });
  assert.deepEqual(await ask('two', 0, hold), { admitted: 0, left: 309, held: 2 }, 'ten by all');
  assert.deepEqual(await ask('three', 0), { admitted: 0, left: 309, held: 0 });
  assert.deepEqual(
    await ask('one', 0, { used: 5, keep: 1, want: 1 }),
    { admitted: 0, left: 311, held: 1 },
    'six are used, two are free again',
  );
  assert.deepEqual(
    await ask('one', 0, { used: 99, keep: 99, want: 0 }),
    { admitted: 0, left: 311, held: 0 },
    'no more than is held',
  );
  microseconds += 1_999_999;
  assert.deepEqual(await ask('three', 309), { admitted: 309, left: 2, held: 0 });
  assert.deepEqual(
    await ask('three', 3, { used: 0, keep: 0, want: 9 }),
    { admitted: 2, left: 0, held: 0 },
    'near the rate none are held',
  );
  microseconds += 1;
  assert.deepEqual(await ask('three', 1), { admitted: 0, left: 0, held: 0 });
  // The two of a holder that has gone count as of now, for a minute.
  microseconds += 58_000_000;
  assert.deepEqual(
    await ask('two', 0, { used: 1, keep: 1, want: 1 }),
    { admitted: 0, left: 7, held: 0 },
    'a holder that was late finds all of it used',
  );
  microseconds += 60_000_000;
  assert.deepEqual(await ask('two', 0), { admitted: 0, left: 320, held: 0 });
});
