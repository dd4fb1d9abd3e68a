/** The machine's clock jumps by a year, and nothing that is kept for a time goes or stays for it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { AGE_PREFIX, KEPT_PREFIX } from '../../src/store/idempotency-record.js';
import { IdempotencyBook, KEPT_MS_MAX, type Intent } from '../../src/store/idempotency.js';
import { storeJob } from '../../src/store/jobs.js';
import { CLOCK_KEY, ServiceClock, STOP_MS_MAX } from '../../src/store/service-clock.js';
import { Store } from '../../src/store/store.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { newVarDir } from '../support/http-var-dir.js';
import { JOB } from './turned.js';

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

interface Machine {
  readonly store: Store;
  wall: number;
  uptime: number;
  start(): ServiceClock;
}

async function openMachine(context: TestContext): Promise<Machine> {
  const store = await Store.open(newVarDir(context));
  const clocks: ServiceClock[] = [];
  const machine: Machine = {
    store,
    wall: NOW,
    uptime: 5_000,
    start: () => {
      const clock = new ServiceClock(store, {
        wall: () => machine.wall,
        uptime: () => machine.uptime,
      });
      clocks.push(clock);
      return clock;
    },
  };
  context.after(async () => {
    for (const clock of clocks) await clock.close();
    await store.close();
  });
  return machine;
}

const INTENT: Intent = {
  account: 'alpha',
  key: 'a-key',
  path: '/merchant/create',
  body: Buffer.from('{}'),
};

test("it goes on with the process, wherever the machine's clock is set", async (context) => {
  const machine = await openMachine(context);
  const clock = machine.start();
  assert.equal(clock.now(), NOW);
  for (const jump of [YEAR, -3 * YEAR, 0]) {
    machine.wall += jump;
    machine.uptime += 1_000.5;
  }
  assert.equal(clock.now(), NOW + 3_001);
});

test('a stop counts what it took, an hour at most, and never less than nothing', async (context) => {
  const machine = await openMachine(context);
  await machine.start().close();
  let expected = NOW;
  for (const [jump, counted] of [
    [60_000, 60_000],
    [YEAR, STOP_MS_MAX],
    [-YEAR, 0],
    [30_000, 30_000],
  ] as const) {
    machine.wall += jump;
    // Another process counts from another start.
    machine.uptime = 7;
    const clock = machine.start();
    expected += counted;
    assert.equal(clock.now(), expected, String(jump));
    machine.uptime += 10;
    expected += 10;
    await clock.close();
  }
});

test('what a killed process did not write down sets it back by little', async (context) => {
  const machine = await openMachine(context);
  await machine.start().save();
  machine.uptime += 30_000;
  machine.wall += 30_000;
  assert.equal(machine.start().now(), NOW + 30_000, "the machine's clock tells of it");
});

test('kept answers outlive jumps of the clock, running and over a restart', async (context) => {
  const machine = await openMachine(context);
  const open = (clock: ServiceClock): IdempotencyBook => {
    const book = new IdempotencyBook(machine.store, {
      vault: EVENT_VAULT,
      now: () => clock.now(),
    });
    context.after(() => book.close());
    return book;
  };
  const clock = machine.start();
  const book = open(clock);
  const claimed = book.claim(INTENT);
  if (claimed.kind !== 'fresh') throw new Error('not fresh');
  await machine.store.write((transaction) =>
    claimed.claim.keep(transaction, {
      status: 201,
      fields: {},
      body: '{}',
    }),
  );
  claimed.claim.end();
  machine.wall += YEAR;
  assert.equal(await book.sweep(), 0);
  assert.equal(book.claim(INTENT).kind, 'kept');
  await clock.close();
  machine.wall += YEAR;
  const later = machine.start();
  const after = open(later);
  assert.equal(await after.sweep(), 0);
  assert.equal(after.claim(INTENT).kind, 'kept');
  machine.wall -= 5 * YEAR;
  machine.uptime += KEPT_MS_MAX;
  assert.equal(await after.sweep(), 1, 'their day is a day of the service');
});

test('in a store of an earlier version it begins where the records end', async (context) => {
  const machine = await openMachine(context);
  await storeJob(machine.store, { ...JOB, createdAt: NOW, startedAt: NOW, endedAt: NOW + HOUR });
  machine.wall = NOW + YEAR;
  assert.equal(machine.start().now(), NOW + HOUR + STOP_MS_MAX);
  const { store } = machine;
  await store.write(({ put }) => {
    put([KEPT_PREFIX, 'alpha', 'h'], {
      v: 1,
      status: 201,
      fields: {},
      body: '',
      fingerprint: 'f',
      at: NOW + 2 * HOUR,
    });
    put([AGE_PREFIX, String(NOW + 2 * HOUR).padStart(15, '0'), 'alpha', 'h'], {
      v: 1,
      account: 'alpha',
      hash: 'h',
      at: NOW + 2 * HOUR,
    });
  });
  assert.equal(machine.start().now(), NOW + 2 * HOUR + STOP_MS_MAX);
  machine.wall = NOW - YEAR;
  assert.equal(machine.start().now(), NOW + 2 * HOUR);
});

test('a clock that cannot be read is as none', async (context) => {
  const machine = await openMachine(context);
  await machine.store.write(({ put }) => put(CLOCK_KEY, { v: 1, at: 'never', wall: 0 }));
  assert.equal(machine.start().now(), NOW);
});

test('a full store takes its clock', async (context) => {
  const store = await Store.open(newVarDir(context), { bytesMax: 1 });
  // Its size is looked at now and then.
  for (let count = 0; count < 64; count += 1) {
    await store.write(({ remove }) => remove(['nothing']));
  }
  await assert.rejects(
    store.write(({ put }) => put(['thing'], { v: 1 })),
    /largest size/,
  );
  const clock = new ServiceClock(store);
  await clock.close();
  assert.notEqual(store.get(CLOCK_KEY), undefined);
  await store.close();
});
