/** Lanes: what passes through shared memory, what does not fit it, and workers that fail alone. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SILENT } from '../../src/log.js';
import type { PoolOptions } from '../../src/pool/threads.js';
import { EnginePool, type PinnedRelease } from '../../src/pool.js';
import { REQUEST_HEAD_BYTES } from '../../src/pool/frame.js';
import { startEchoPool } from '../support/echo-pool.js';
import { ECHO_WORKER } from '../support/http-stub-server.js';

const MIB = 1_048_576;
/** Between requests beside a worker that answers nothing. */
const BETWEEN_MS = 5;

/** A pool whose every task names another release. */
function startPool(
  context: TestContext,
  options: Partial<PoolOptions> = {},
): ReturnType<typeof startEchoPool> {
  return startEchoPool(
    context,
    (taken) => ({ id: `2026-11-21-${taken % 3}`, dir: `/nowhere/${taken % 3}/é` }),
    options,
  );
}

interface Told {
  readonly body: string;
  readonly release: PinnedRelease | null;
}

function tell(pool: EnginePool, payload: string | Uint8Array): Promise<Told> {
  return new Promise((resolve) => {
    pool.submit({
      kind: 'lookup',
      version: 60,
      grants: 0,
      payload,
      answered: ({ body }, release) => resolve({ body: Buffer.from(body).toString(), release }),
      failed: (failure) => resolve({ body: failure, release: null }),
    });
  });
}

async function ask(pool: EnginePool, payload: string | Uint8Array): Promise<string> {
  return (await tell(pool, payload)).body;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('one worker and four give the same answers', async (context) => {
  const payloads = Array.from({ length: 700 }, (_, index) => `echo=${index}=${'é'.repeat(index)}`);
  for (const threads of [1, 4]) {
    const { pool, pins } = startPool(context, { threads, requestsPerTask: 16 });
    assert.deepEqual(await Promise.all(payloads.map((one) => ask(pool, one))), payloads);
    assert.equal(pins.held, 0);
    assert.equal(pool.load, 0);
  }
});

test('an answer stays as it is while its taker asks again at once', async (context) => {
  const { pool } = startPool(context, { threads: 2, requestsPerTask: 1, tasksPerWorker: 2 });
  assert.equal(await ask(pool, 'echo=first'), 'echo=first');
  let left = 20_000;
  const wrong: string[] = [];
  const again = (resolve: () => void): void => {
    left -= 1;
    const payload = `echo=${left}`;
    pool.submit({
      kind: 'lookup',
      version: 60,
      grants: 0,
      payload,
      answered: ({ body }) => {
        if (left > 0) again(resolve);
        else resolve();
        const read = Buffer.from(body).toString();
        if (read !== payload) wrong.push(read);
      },
      failed: (failure) => wrong.push(failure),
    });
  };
  await Promise.all(Array.from({ length: 4 }, () => new Promise<void>(again)));
  assert.deepEqual(wrong, []);
});

test('every task is answered with the release it names', async (context) => {
  const { pool, pins } = startPool(context, { threads: 2 });
  for (let round = 0; round < 200; round += 1) {
    const { body, release } = await tell(pool, 'dataset');
    assert.equal(body, release?.id);
  }
  assert.deepEqual(pins, { held: 0, taken: 200 });
});

test('no answer waits for the next request', async (context) => {
  const { pool } = startPool(context, { threads: 2, tasksPerWorker: 3 });
  for (let round = 0; round < 500; round += 1) {
    const asked = [ask(pool, `echo=${round}`)];
    for (let turn = 0; turn < round % 4; turn += 1) {
      await nextTurn();
      asked.push(ask(pool, `echo=${round}.${turn}`));
    }
    const answers = await Promise.all(asked);
    assert.equal(answers[0], `echo=${round}`);
    assert.equal(new Set(answers).size, asked.length);
  }
});

test('requests and answers that outgrow the shared memory come through whole', async (context) => {
  const { pool, pins } = startPool(context, { requestBytes: 2_048, answerBytes: 4_096 });
  const sizes = [1, 100, 1_900, 1_990, 2_040, 2_048, 4_000, 4_084, 4_096, 10, MIB, 3];
  for (let round = 0; round < 3; round += 1) {
    const alone = [];
    for (const size of sizes) alone.push((await ask(pool, 'x'.repeat(size))).length);
    assert.deepEqual(alone, sizes);
    const together = await Promise.all(sizes.map((size) => ask(pool, Buffer.alloc(size, 'y'))));
    assert.deepEqual(
      together.map((body) => body.length),
      sizes,
    );
    const grown = await Promise.all(sizes.map((size) => ask(pool, `grow=${size}`)));
    assert.deepEqual(
      grown.map((body) => body.length),
      sizes,
    );
  }
  assert.equal(pins.held, 0);
});

test('a long payload that is given is not copied, and any other is', async (context) => {
  const { pool } = startPool(context, { requestBytes: 2_048 });
  const give = (payload: Buffer): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      pool.submit({
        kind: 'lookup',
        version: 60,
        grants: 0,
        payload,
        gives: true,
        answered: ({ body }) => resolve(Buffer.from(body)),
        failed: reject,
      });
    });
  const memoryOf = (length: number, before: number): Buffer =>
    Buffer.allocUnsafeSlow(before + length + 100)
      .subarray(before, before + length)
      .fill('g');
  for (const [length, before, isGiven] of [
    [MIB, REQUEST_HEAD_BYTES, true],
    [MIB, 5 * REQUEST_HEAD_BYTES + 1, true],
    [MIB, REQUEST_HEAD_BYTES - 1, false],
    [2_048, REQUEST_HEAD_BYTES, false],
  ] as const) {
    const payload = memoryOf(length, before);
    const expected = Buffer.from(payload);
    const answer = await give(payload);
    assert.ok(answer.equals(expected), `${length} ${before}`);
    assert.equal(payload.buffer.byteLength === 0, isGiven, `${length} ${before}`);
  }
});

test('a task takes eight mebibytes and gives sixty-four', async (context) => {
  const { pool } = startPool(context);
  assert.equal((await ask(pool, Buffer.alloc(8 * MIB, 'z'))).length, 8 * MIB);
  assert.equal((await ask(pool, `grow=${64 * MIB}`)).length, 64 * MIB);
  assert.equal(await ask(pool, 'echo=after'), 'echo=after');
});

test('a worker that ends leaves the tasks of the others alone', async (context) => {
  const { pool, pins } = startPool(context, { threads: 2 });
  const slow = ask(pool, 'sleep');
  await nextTurn();
  assert.equal(await ask(pool, 'exit'), 'internal');
  assert.equal(await slow, 'sleep');
  assert.equal(await ask(pool, 'echo=on'), 'echo=on');
  assert.equal(pins.held, 0);
});

test('a worker that hangs holds up nobody else, and is replaced alone', async (context) => {
  const { pool, pins } = startPool(context, { threads: 2, taskMs: 1_500, watchMs: 50 });
  const hung = ask(pool, 'stand');
  await nextTurn();
  let answered = 0;
  let ended = false;
  void hung.then(() => {
    ended = true;
  });
  while (!ended) {
    assert.equal(await ask(pool, 'echo=meanwhile'), 'echo=meanwhile');
    answered += 1;
    await delay(BETWEEN_MS);
  }
  assert.equal(await hung, 'internal');
  assert.ok(answered > 1);
  const both = await Promise.all(['echo=1', 'echo=2'].map((payload) => ask(pool, payload)));
  assert.deepEqual(both, ['echo=1', 'echo=2']);
  assert.equal(pins.held, 0);
});

test('what waits behind a task that ends its worker fails with it', async (context) => {
  const { pool, pins } = startPool(context, { requestsPerTask: 1, tasksPerWorker: 4 });
  const outcomes = await Promise.all(
    ['echo=0', 'exit', 'echo=1', 'echo=2'].map((payload) => ask(pool, payload)),
  );
  assert.deepEqual(outcomes.slice(1), ['internal', 'internal', 'internal']);
  assert.match(outcomes[0]!, /^(?:echo=0|internal)$/);
  assert.equal(await ask(pool, 'echo=3'), 'echo=3');
  assert.equal(pins.held, 0);
});

test('a busy pool that closes fails what it holds, once, and ends', async (context) => {
  const { pool, pins } = startPool(context, { threads: 3, requestsPerTask: 1 });
  const asked = Array.from({ length: 20 }, (_, index) =>
    ask(pool, index % 2 === 0 ? 'hang' : 'echo=1'),
  );
  await nextTurn();
  await nextTurn();
  await pool.close();
  for (const outcome of await Promise.all(asked)) {
    assert.match(outcome, /^(?:internal|overloaded|echo=1)$/);
  }
  assert.equal(await ask(pool, 'echo=late'), 'overloaded');
  assert.equal(pins.held, 0);
});

test('two pools side by side share nothing', async (context) => {
  const lookups = startPool(context).pool;
  const bulk = startPool(context, { taskMs: 60_000 }).pool;
  const slow = ask(bulk, 'sleep');
  assert.equal(await ask(lookups, 'echo=quick'), 'echo=quick');
  assert.equal(await slow, 'sleep');
});

test('a lane has a bounded number of slots', () => {
  assert.throws(
    () =>
      new EnginePool({
        releases: { pin: () => null, unpin: () => undefined },
        log: SILENT,
        threads: 1,
        worker: ECHO_WORKER,
        tasksPerWorker: 33,
      }),
    RangeError,
  );
});

/** Longer than a worker takes to answer a task and to end in the next one. */
const BUSY_MS = 500;

test('what was answered before a task that ends its worker is handed out', async (context) => {
  const { pool } = startPool(context, { requestsPerTask: 1 });
  assert.equal(await ask(pool, 'echo=begun'), 'echo=begun');
  // Both go out at once, and the front end looks at neither before it hears of the worker's end.
  await new Promise((resolve) => setImmediate(resolve));
  const answers = ['echo=first', 'exit'].map((query) => ask(pool, query));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
  assert.deepEqual(await Promise.all(answers), ['echo=first', 'internal']);
  assert.equal(await ask(pool, 'echo=after'), 'echo=after');
});
