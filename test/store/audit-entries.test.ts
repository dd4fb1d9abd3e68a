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

/** Entries beyond those that are kept, in blocks that are not full, before the oldest go. */
const WAITING_MAX = 256 + 2 * 64;

type Add = (account: string | null, from: number, count: number) => Promise<void>;

/** Entries of one write: thousands at once would hold the lock of a shared store for seconds. */
const ADDED_AT_ONCE = 2_500;

const adderOf =
  (store: Store): Add =>
  async (account, from, count) => {
    for (let first = from; first < from + count; first += ADDED_AT_ONCE) {
      await store.write((transaction) => {
        for (let at = first; at < Math.min(from + count, first + ADDED_AT_ONCE); at += 1) {
          const object = `o${at}`;
          addAudit(transaction, { actor: ACTOR, account, action: 'key.update', object }, at);
        }
      });
    }
  };

/** Entries that the store has of a list, kept or not. */
function heldOf(store: Store, list: string): number {
  return ['audit-block', 'new-audit']
    .flatMap((prefix) => store.list([prefix, list]))
    .reduce((sum: number, block) => sum + (block as { count: number }).count, 0);
}

const setServiceClock = (store: Store, at: number): Promise<void> =>
  store.write((transaction) => transaction.put(CLOCK_KEY, { v: 1, at, wall: at }));

test('entries are kept for a time and a number, of each account by itself', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const add = adderOf(store);
  await add(null, NOW, 1);
  await add('alpha', NOW, 1);
  await add('alpha', NOW + 1, AUDIT_ENTRIES_MAX - 3);
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
  assert.equal(heldOf(store, 'operator'), 2, 'by the clock of the machine alone');
  await setServiceClock(store, NOW + AUDIT_MS_MAX);
  // A minute later: until then a block takes entries, and what is too old goes with the next one.
  await add(null, NOW + AUDIT_MS_MAX + 60_000, 1);
  assert.deepEqual(
    listAudit(store, 0, NOW)
      .filter(({ account }) => account === null)
      .map(({ at }) => at - NOW),
    [AUDIT_MS_MAX, AUDIT_MS_MAX + 60_000],
  );
  assert.equal(heldOf(store, 'operator'), 2);
  // Those beyond the number go some at a time, and are not told meanwhile.
  const held: number[] = [];
  for (let added = 1; added <= 12; added += 1) {
    await add('alpha', NOW + AUDIT_ENTRIES_MAX + 3 + 40 * (added - 1), 40);
    held.push(heldOf(store, 'account:alpha'));
    const counted = ['audit-block-count', 'new-audit']
      .map((prefix) => store.get([prefix, 'account:alpha']) as { count: number })
      .reduce((sum, { count }) => sum + count, 0);
    assert.equal(counted, held.at(-1));
    const newest = listAudit(store, 0, NOW).filter(({ account }) => account === 'alpha');
    assert.deepEqual(
      [newest.length, newest[0]?.object],
      [AUDIT_ENTRIES_MAX, `o${NOW + 3 + 40 * added}`],
    );
  }
  assert.ok(Math.min(...held) >= AUDIT_ENTRIES_MAX, String(held));
  assert.ok(Math.max(...held) <= AUDIT_ENTRIES_MAX + WAITING_MAX, String(held));
  assert.ok(
    held.some((count, at) => count < (held[at - 1] ?? 0)),
    String(held),
  );
});

test('a clock set two years ahead and back takes no entry that is new', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const add = adderOf(store);
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
  await add('alpha', ahead, AUDIT_ENTRIES_MAX - 10);
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
  await add('beta', NOW + 31, AUDIT_ENTRIES_MAX - 8);
  await add('beta', NOW + 23 + AUDIT_ENTRIES_MAX, 7);
  const betas = listAudit(store, 0, NOW).filter(({ account }) => account === 'beta');
  assert.deepEqual([betas[0]?.object, betas.length], [`o${NOW + 30}`, AUDIT_ENTRIES_MAX]);
});
