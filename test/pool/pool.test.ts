import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PoolOptions } from '../../src/pool/threads.js';
import type { EnginePool, PinnedRelease } from '../../src/pool.js';
import { startEchoPool } from '../support/echo-pool.js';
import { eventually } from '../support/http-eventually.js';

const RELEASE = { id: '2026-11-21-000000000000', dir: '/nowhere' };

function startPool(
  context: TestContext,
  options: Partial<PoolOptions> = {},
): ReturnType<typeof startEchoPool> {
  return startEchoPool(context, () => RELEASE, options);
}

/** The body of the answer, or the failure. */
function ask(pool: EnginePool, payload: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    pool.submit({
      kind: 'lookup',
      version: 60,
      grants: 0,
      payload,
      answered: ({ body }, release: PinnedRelease) => {
        assert.equal(release.id, RELEASE.id);
        resolve(Buffer.from(body).toString());
      },
      failed: resolve,
    });
  });
}

test('requests of one turn travel in one task and come back in order', async (context) => {
  const { pool, pins } = startPool(context, { requestsPerTask: 64 });
  const payloads = Array.from({ length: 15 }, (_, index) => `echo=${index}=é`);
  assert.deepEqual(await Promise.all(payloads.map((payload) => ask(pool, payload))), payloads);
  assert.deepEqual(pins, { held: 0, taken: 1 });
});

test('a worker with nothing to do is given sixteen before the turn ends', async (context) => {
  const { pool, pins } = startPool(context, { requestsPerTask: 64 });
  const payloads = Array.from({ length: 40 }, (_, index) => `echo=${index}=é`);
  assert.deepEqual(await Promise.all(payloads.map((payload) => ask(pool, payload))), payloads);
  assert.deepEqual(pins, { held: 0, taken: 2 });
});

test('a large turn is split into tasks that go out as they fill', async (context) => {
  const { pool, pins } = startPool(context, { requestsPerTask: 10, threads: 2 });
  const payloads = Array.from({ length: 90 }, (_, index) => `echo=${index}`);
  assert.deepEqual(await Promise.all(payloads.map((payload) => ask(pool, payload))), payloads);
  // The first ten are shared by the two idle workers.
  assert.deepEqual(pins, { held: 0, taken: 10 });
});

test('requests that are no lookups fill a task by their bytes', async (context) => {
  for (const [bytes, tasks] of [
    // The first for a worker with nothing to do: what takes as long as 16 lookups.
    [8, 3],
    [639, 3],
    [1_280, 5],
    [16_384, 40],
    [65_536, 40],
  ] as const) {
    const { pool, pins } = startPool(context, { requestsPerTask: 128 });
    const payloads = Array.from({ length: 40 }, (_, index) => `echo=${index}`.padEnd(bytes, 'x'));
    const located = payloads.map(
      (payload) =>
        new Promise<string>((resolve) => {
          pool.submit({
            kind: 'locate',
            payload,
            failed: resolve,
            answered: ({ body }) => resolve(Buffer.from(body).toString()),
          });
        }),
    );
    assert.deepEqual(await Promise.all(located), payloads);
    assert.deepEqual(pins, { held: 0, taken: tasks }, `${bytes} bytes`);
  }
});

test('beyond the queue limit requests are refused at once', async (context) => {
  const { pool } = startPool(context, { waitingMax: 10, requestsPerTask: 64 });
  const outcomes = await Promise.all(
    Array.from({ length: 25 }, (_, index) => ask(pool, `echo=${index}`)),
  );
  assert.equal(outcomes.filter((outcome) => outcome === 'overloaded').length, 15);
  assert.equal(await ask(pool, 'echo=later'), 'echo=later');
});

test('requests of many bytes are refused before they are many', async (context) => {
  const { pool } = startPool(context, { waitingBytesMax: 1_000, requestsPerTask: 64 });
  const long = `echo=${'x'.repeat(395)}`;
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => ask(pool, long)));
  assert.deepEqual(
    outcomes.map((outcome) => outcome === long),
    [true, true, false, false, false],
  );
  assert.equal(outcomes[2], 'overloaded');
  const longest = `echo=${'y'.repeat(2_000)}`;
  assert.equal(await ask(pool, longest), longest, 'one alone may be longer');
  assert.equal(await ask(pool, long), long);
});

test('a worker that ends takes its requests with it, and is replaced', async (context) => {
  const { pool, pins } = startPool(context);
  for (let round = 0; round < 3; round += 1) {
    const outcomes = await Promise.all([ask(pool, 'echo=1'), ask(pool, 'exit')]);
    assert.deepEqual(outcomes, ['internal', 'internal']);
    assert.equal(await ask(pool, 'echo=2'), 'echo=2');
  }
  assert.equal(pins.held, 0);
});

test('a task that throws fails alone', async (context) => {
  const { pool } = startPool(context);
  assert.equal(await ask(pool, 'throw'), 'internal');
  assert.equal(await ask(pool, 'echo=3'), 'echo=3');
});

test('a worker that hangs is replaced after the longest time of a task', async (context) => {
  const { pool, pins } = startPool(context, { taskMs: 1_000, watchMs: 50 });
  assert.equal(await ask(pool, 'hang'), 'internal');
  // The next one may take longer than that to start.
  await eventually(async () => (await ask(pool, 'echo=4')) === 'echo=4');
  assert.equal(pins.held, 0);
});

test('a worker that cannot start fails its requests instead of keeping them', async (context) => {
  const worker = new URL('./no-such-worker.js', import.meta.url);
  const { pool } = startPool(context, { worker, taskMs: 200, watchMs: 50 });
  assert.equal(await ask(pool, 'echo=5'), 'internal');
});

test('without a release nothing waits', async (context) => {
  const { pool } = startPool(context, {
    releases: { pin: () => null, unpin: () => assert.fail('nothing was pinned') },
  });
  assert.equal(await ask(pool, 'echo=6'), 'overloaded');
});

test('a pool that closes answers what it holds', async (context) => {
  const { pool, pins } = startPool(context);
  const hanging = ask(pool, 'hang');
  await new Promise((resolve) => setTimeout(resolve, 20));
  await pool.close();
  assert.equal(await hanging, 'internal');
  assert.equal(await ask(pool, 'echo=7'), 'overloaded');
  assert.equal(pins.held, 0);
});

test('a pool that closes starts no thread in the place of those it ends', async (context) => {
  const started: unknown[] = [];
  const count = (worker: unknown): void => {
    started.push(worker);
  };
  process.on('worker', count);
  context.after(() => process.off('worker', count));
  const { pool } = startPool(context, { threads: 2 });
  assert.equal(await ask(pool, 'echo=8'), 'echo=8');
  await pool.close();
  assert.equal(started.length, 2);
});

/** Asks for each in one turn; what is told of them, in order. `refused` throws when it is read. */
async function toldOf(
  pool: EnginePool,
  payloads: readonly string[],
  refused = '',
): Promise<readonly string[]> {
  const told: string[] = [];
  await Promise.all(
    payloads.map(
      (payload) =>
        new Promise<void>((resolve) => {
          const tell = (what: string): void => {
            told.push(`${what} ${payload}`);
            if (what !== 'read') resolve();
          };
          pool.submit({
            kind: 'lookup',
            version: 60,
            grants: 0,
            payload,
            read: ({ body }) => {
              assert.equal(Buffer.from(body).toString(), payload);
              if (payload === refused) throw new Error('a bug');
              tell('read');
            },
            answered: () => tell('answered'),
            failed: tell,
          });
        }),
    ),
  );
  return told;
}

test('every answer of a task is read before the first is handed over', async (context) => {
  const { pool, pins } = startPool(context);
  assert.deepEqual(await toldOf(pool, ['a', 'b', 'c']), [
    'read a',
    'read b',
    'read c',
    'answered a',
    'answered b',
    'answered c',
  ]);
  assert.equal(pins.held, 0);
});

test('an answer that cannot be read keeps none back that was read before', async (context) => {
  const { pool, pins } = startPool(context);
  assert.deepEqual(await toldOf(pool, ['a', 'b', 'c'], 'b'), [
    'read a',
    'answered a',
    'internal b',
    'internal c',
  ]);
  assert.equal(pins.held, 0);
});
