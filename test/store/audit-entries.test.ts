/** Entries of the audit log: how many are kept, for how long, whatever the clock says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addAudit,
  AUDIT_ENTRIES_MAX,
  AUDIT_MS_MAX,
  listAudit,
  type Actor,
} from '../../src/store/audit.js';
import { CLOCK_KEY } from '../../src/store/service-clock.js';
import { Store } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

const NOW = 1_800_000_000_000;
const ACTOR: Actor = { kind: 'cli', uid: 7, user: 'someone' };

type Add = (account: string | null, from: number, count: number) => Promise<void>;

const adderOf =
  (store: Store): Add =>
  (account, from, count) =>
    store.write((transaction) => {
      for (let at = from; at < from + count; at += 1) {
        addAudit(
          transaction,
          { actor: ACTOR, account, action: 'key.update', object: `o${at}` },
          at,
        );
      }
    });

/** Entries of one write: thousands at once would hold the lock of a shared store for seconds. */
const FILLED_AT_ONCE = 2_500;
const TIME_DIGITS = 15;

/**
 * Fills a list of an account with entries as `addAudit` leaves them behind the last one, of which
 * none makes room for another: ten thousand by `addAudit` take most of a test.
 */
const fillerOf =
  (store: Store) =>
  async (account: string, from: number, count: number): Promise<void> => {
    const list = `account:${account}`;
    for (let first = from; first < from + count; first += FILLED_AT_ONCE) {
      const end = Math.min(from + count, first + FILLED_AT_ONCE);
      await store.write(({ last, get, put }) => {
        const {
          at: lastAt,
          order: lastOrder = lastAt,
          id: lastId,
          ...same
        } = last(['audit', list]) as {
          readonly at: number;
          readonly order?: number;
          readonly id: string;
        };
        const { count: held } = get(['audit-count', list]) as { readonly count: number };
        let order = lastOrder;
        for (let at = first; at < end; at += 1) {
          order = Math.max(at, order + 1);
          const id = `${lastId}${at}`;
          put(['audit', list, String(order).padStart(TIME_DIGITS, '0'), id], {
            ...same,
            at,
            id,
            object: `o${at}`,
            ...(order === at ? {} : { order }),
          });
        }
        put(['audit-count', list], { v: 1, count: held + end - first });
      });
    }
  };

const setServiceClock = (store: Store, at: number): Promise<void> =>
  store.write((transaction) => transaction.put(CLOCK_KEY, { v: 1, at, wall: at }));

test('entries are kept for a time and a number, of each account by itself', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const add = adderOf(store);
  await add(null, NOW, 1);
  await add('alpha', NOW, 1);
  await fillerOf(store)('alpha', NOW + 1, AUDIT_ENTRIES_MAX - 3);
  await add('alpha', NOW + AUDIT_ENTRIES_MAX - 2, 5);
  const kept = listAudit(store, 0, NOW + AUDIT_ENTRIES_MAX);
  assert.equal(kept.filter(({ account }) => account === null).length, 1);
  const alphas = kept.filter(({ account }) => account === 'alpha');
  assert.equal(alphas.length, AUDIT_ENTRIES_MAX);
  assert.equal(alphas[0]?.object, `o${NOW + 3}`);
  assert.deepEqual(
    listAudit(store, NOW + AUDIT_ENTRIES_MAX + 2, NOW + AUDIT_ENTRIES_MAX + 2).map(
      ({ object }) => object,
    ),
    [`o${NOW + AUDIT_ENTRIES_MAX + 2}`],
  );
  assert.deepEqual(listAudit(store, 0, NOW + 2 * AUDIT_MS_MAX), []);
  await add(null, NOW + AUDIT_MS_MAX, 1);
  assert.equal(store.list(['audit', 'operator']).length, 2, 'by the clock of the machine alone');
  await setServiceClock(store, NOW + AUDIT_MS_MAX);
  await add(null, NOW + AUDIT_MS_MAX + 1, 1);
  assert.deepEqual(
    listAudit(store, 0, NOW)
      .filter(({ account }) => account === null)
      .map(({ at }) => at - NOW),
    [AUDIT_MS_MAX, AUDIT_MS_MAX + 1],
  );
  assert.equal(store.list(['audit', 'operator']).length, 2);
  // Those beyond the number go some at a time, and are not told meanwhile.
  for (let added = 0; added < 3; added += 1) {
    await add('alpha', NOW + AUDIT_ENTRIES_MAX + 3 + 40 * added, 40);
    const held = store.keys(['audit', 'account:alpha']).length;
    assert.ok(held >= AUDIT_ENTRIES_MAX && held <= AUDIT_ENTRIES_MAX + 64, String(held));
    assert.deepEqual(
      store
        .list(['audit-count', 'account:alpha'])
        .map((record) => (record as { count: number }).count),
      [held],
    );
  }
  const newest = listAudit(store, 0, NOW).filter(({ account }) => account === 'alpha');
  assert.deepEqual([newest.length, newest[0]?.object], [AUDIT_ENTRIES_MAX, `o${NOW + 123}`]);
});

test('a clock set two years ahead and back takes no entry that is new', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const [add, fill] = [adderOf(store), fillerOf(store)];
  const ahead = NOW + 2 * 365 * 86_400_000;
  const told = (): readonly string[] => listAudit(store, 0, NOW).map(({ object }) => object);
  await setServiceClock(store, NOW);
  await add('alpha', NOW, 3);
  await add('alpha', ahead, 1);
  await add('alpha', NOW + 10, 2);
  assert.deepEqual(
    told(),
    [0, 1, 2, 10, 11, ahead - NOW].map((after) => `o${NOW + after}`),
    'nothing is gone',
  );
  await fill('alpha', ahead, AUDIT_ENTRIES_MAX - 10);
  await add('alpha', ahead, 4);
  await add('alpha', NOW + 20, 2);
  const full = told();
  assert.equal(full.length, AUDIT_ENTRIES_MAX);
  assert.deepEqual(
    full.slice(0, 5),
    [2, 10, 11, 20, 21].map((after) => `o${NOW + after}`),
    'those that were added first made room',
  );
  // Later than all: the clock is right again, and those of the wrong one go as any other.
  await add('beta', ahead, 5);
  await add('beta', NOW + 30, 1);
  await fill('beta', NOW + 31, AUDIT_ENTRIES_MAX - 8);
  await add('beta', NOW + 23 + AUDIT_ENTRIES_MAX, 7);
  const betas = listAudit(store, 0, NOW).filter(({ account }) => account === 'beta');
  assert.deepEqual([betas[0]?.object, betas.length], [`o${NOW + 30}`, AUDIT_ENTRIES_MAX]);
});

test('beside an earlier version, which counts and nothing else, no entry is overwritten or kept', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const add = adderOf(store);
  const countAlone = (count: number): Promise<void> =>
    store.write((transaction) => transaction.put(['audit-count', 'operator'], { v: 1, count }));
  await setServiceClock(store, NOW + AUDIT_MS_MAX + 5);
  await add(null, NOW, 3);
  await countAlone(3);
  await add(null, NOW, 1);
  const told = (store.list(['audit', 'operator']) as { object: string }[]).map(
    ({ object }) => object,
  );
  assert.deepEqual(
    told,
    [0, 1, 2, 0].map((after) => `o${NOW + after}`),
    'behind the last one',
  );
  await countAlone(4);
  await add(null, NOW + AUDIT_MS_MAX + 2, 1);
  assert.deepEqual(store.list(['audit-count', 'operator']), [
    { v: 1, count: 1, oldest: NOW + AUDIT_MS_MAX + 2, last: NOW + AUDIT_MS_MAX + 2 },
  ]);
});
