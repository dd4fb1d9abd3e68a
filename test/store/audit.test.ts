/** Who did what: written with the change or not at all, bounded, and without a secret. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  addAudit, AUDIT_ACTIONS, AUDIT_ENTRIES_MAX, AUDIT_MS_MAX, listAudit, type Actor,
} from '../../src/store/audit.js';
import { createKey, updateKey } from '../../src/store/keys.js';
import { CLOCK_KEY } from '../../src/store/service-clock.js';
import { Store } from '../../src/store/store.js';
import { activateRelease, currentRelease } from '../../src/dataset/release.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { newVarDir } from '../support/http-var-dir.js';
import {
  ask, ELMTON, inventedCountry, KEYS, newMerchantDir, removeDirs, startMerchants,
} from '../support/merchant-service.js';
import { tinyContent } from '../support/tiny-release.js';
import { CommandProcess } from '../support/command-process.js';

const NOW = 1_800_000_000_000;
const ACTOR: Actor = { kind: 'cli', uid: 7, user: 'someone' };

const commands = new CommandProcess();
after(() => commands.end());

/** What a command prints beside a server of this process. */
async function situsBeside(varDir: string, words: readonly string[]): Promise<string> {
  const { code, out, err } = await commands.run(words, { SITUS_VAR: varDir });
  assert.equal(code, 0, err);
  return out;
}

type Add = (account: string | null, from: number, count: number) => Promise<void>;

const adderOf = (store: Store): Add => (account, from, count) => store.write((transaction) => {
  for (let at = from; at < from + count; at += 1) {
    addAudit(transaction, { actor: ACTOR, account, action: 'key.update', object: `o${at}` }, at);
  }
});

/** Entries of one write: thousands at once would hold the lock of a shared store for seconds. */
const FILLED_AT_ONCE = 2_500;
const TIME_DIGITS = 15;

/**
 * Fills a list of an account with entries as `addAudit` leaves them behind the last one, of which
 * none makes room for another: ten thousand by `addAudit` take most of a test.
 */
const fillerOf = (store: Store) => async (account: string, from: number, count: number): Promise<void> => {
  const list = `account:${account}`;
  for (let first = from; first < from + count; first += FILLED_AT_ONCE) {
    const end = Math.min(from + count, first + FILLED_AT_ONCE);
    await store.write(({ last, get, put }) => {
      const { at: lastAt, order: lastOrder = lastAt, id: lastId, ...same } = last(['audit', list]) as
        { readonly at: number; readonly order?: number; readonly id: string };
      const { count: held } = get(['audit-count', list]) as { readonly count: number };
      let order = lastOrder;
      for (let at = first; at < end; at += 1) {
        order = Math.max(at, order + 1);
        const id = `${lastId}${at}`;
        put(['audit', list, String(order).padStart(TIME_DIGITS, '0'), id],
          { ...same, at, id, object: `o${at}`, ...(order === at ? {} : { order }) });
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
  assert.deepEqual(listAudit(store, NOW + AUDIT_ENTRIES_MAX + 2, NOW + AUDIT_ENTRIES_MAX + 2)
    .map(({ object }) => object), [`o${NOW + AUDIT_ENTRIES_MAX + 2}`]);
  assert.deepEqual(listAudit(store, 0, NOW + 2 * AUDIT_MS_MAX), []);
  await add(null, NOW + AUDIT_MS_MAX, 1);
  assert.equal(store.list(['audit', 'operator']).length, 2, 'by the clock of the machine alone');
  await setServiceClock(store, NOW + AUDIT_MS_MAX);
  await add(null, NOW + AUDIT_MS_MAX + 1, 1);
  assert.deepEqual(listAudit(store, 0, NOW).filter(({ account }) => account === null)
    .map(({ at }) => at - NOW), [AUDIT_MS_MAX, AUDIT_MS_MAX + 1]);
  assert.equal(store.list(['audit', 'operator']).length, 2);
  // Those beyond the number go some at a time, and are not told meanwhile.
  for (let added = 0; added < 3; added += 1) {
    await add('alpha', NOW + AUDIT_ENTRIES_MAX + 3 + 40 * added, 40);
    const held = store.keys(['audit', 'account:alpha']).length;
    assert.ok(held >= AUDIT_ENTRIES_MAX && held <= AUDIT_ENTRIES_MAX + 64, String(held));
    assert.deepEqual(store.list(['audit-count', 'account:alpha']).map((record) =>
      (record as { count: number }).count), [held]);
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
  assert.deepEqual(told(),
    [0, 1, 2, 10, 11, ahead - NOW].map((after) => `o${NOW + after}`), 'nothing is gone');
  await fill('alpha', ahead, AUDIT_ENTRIES_MAX - 10);
  await add('alpha', ahead, 4);
  await add('alpha', NOW + 20, 2);
  const full = told();
  assert.equal(full.length, AUDIT_ENTRIES_MAX);
  assert.deepEqual(full.slice(0, 5), [2, 10, 11, 20, 21].map((after) => `o${NOW + after}`),
    'those that were added first made room');
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
  const told = (store.list(['audit', 'operator']) as { object: string }[])
    .map(({ object }) => object);
  assert.deepEqual(told, [0, 1, 2, 0].map((after) => `o${NOW + after}`), 'behind the last one');
  await countAlone(4);
  await add(null, NOW + AUDIT_MS_MAX + 2, 1);
  assert.deepEqual(store.list(['audit-count', 'operator']),
    [{ v: 1, count: 1, oldest: NOW + AUDIT_MS_MAX + 2, last: NOW + AUDIT_MS_MAX + 2 }]);
});

test('a key that is made or changed is written down, one that is not is not', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const text = 'a-key-that-is-a-secret';
  const { record } = await createKey(store, { plan: 'pro', text }, NOW, ACTOR);
  await assert.rejects(createKey(store, { plan: 'pro', text }, NOW, ACTOR));
  await updateKey(store, text, { rate: 5 }, ACTOR);
  await updateKey(store, text, { active: false }, ACTOR);
  const listed = listAudit(store, 0, Date.now());
  assert.deepEqual(new Set(listed.map(({ action }) => action)),
    new Set(['key.create', 'key.update', 'key.disable']));
  for (const { object, actor } of listed) {
    assert.equal(object, record.id.slice(0, 12));
    assert.deepEqual(actor, ACTOR);
  }
  assert.ok(!JSON.stringify(listed).includes(text));
});

test('what callers and commands do is listed by situs audit, without a secret', async () => {
  const varDir = await newMerchantDir(null);
  const service = await startMerchants(varDir);
  const { base } = service;
  const { body } = await ask(base, 'POST', '/merchant/create', { merchantName: 'Shop' });
  const merchantId = String(body['merchantId']);
  const secrets = { apiKey: 'the-secret-of-the-provider', connectionId: 'the-connection' };
  for (const [path, more] of [
    ['/merchant/credentials/set', secrets], ['/merchant/credentials/get', {}],
    ['/merchant/get', {}], ['/merchant/credentials/delete', {}],
    ['/merchant/delete', {}],
  ] as const) {
    assert.equal((await ask(base, 'POST', path, { merchantId, ...more })).status, 200, path);
  }
  assert.equal((await ask(base, 'POST', '/merchant/delete', { merchantId })).status, 403);
  assert.equal((await ask(base, 'POST', '/merchant/credentials/get', { merchantId })).status, 403);
  const made = JSON.parse(await situsBeside(varDir, ['key', 'create', '--plan', 'pro', '--json'])) as
    { readonly id: string; readonly key: string };
  const text = await situsBeside(varDir, ['audit', 'list', '--json']);
  const listed = JSON.parse(text) as {
    action: string; object: string; account: string | null; at: string;
    actor: { kind: string; prefix?: string; uid?: number };
  }[];
  const mine = listed.filter(({ account }) => account === 'alpha');
  assert.deepEqual(mine.map(({ action }) => action), [
    'merchant.create', 'credentials.set', 'credentials.get', 'credentials.delete',
    'merchant.delete',
  ]);
  for (const { object, actor } of mine) {
    assert.equal(object, merchantId);
    assert.deepEqual([actor.kind, KEYS.alpha.startsWith(actor.prefix ?? '-')], ['key', true]);
  }
  const key = listed.find(({ object }) => object === made.id.slice(0, 12));
  assert.deepEqual([key?.action, key?.actor.kind, key?.actor.uid], [
    'key.create', 'cli', process.getuid?.(),
  ]);
  for (const secret of [made.key, KEYS.alpha, ...Object.values(secrets)]) {
    assert.ok(!text.includes(secret), 'no secret');
  }
  const plain = await situsBeside(varDir, ['audit', 'list', '--since', '2026-01-01']);
  assert.match(plain, /key a-key.*alpha {2}merchant\.create {2}/);
  assert.equal(await situsBeside(varDir, ['audit', 'list', '--since', '2999-01-01']), '');
  await service.stop();
  removeDirs(varDir);
});

interface Listed {
  readonly account: string | null;
  readonly action: string;
  readonly object: string;
  readonly actor: { readonly kind: string };
}

async function listedBeside(varDir: string): Promise<readonly Listed[]> {
  return JSON.parse(await situsBeside(varDir, ['audit', 'list', '--json'])) as readonly Listed[];
}

test('changes of nexus are written down with the location they are of', async () => {
  const varDir = await newMerchantDir(inventedCountry());
  const service = await startMerchants(varDir);
  const made = await service.post('/merchant/create',
    { merchantName: 'Shop', merchantType: 'self-managed' });
  const merchantId = String(made.body['merchantId']);
  const { body } = await service.post('/merchant/nexus/create',
    { merchantId, locations: [ELMTON, ELMTON] });
  const [{ locationId }] = body['locations'] as [{ locationId: string }];
  const update = { merchantId, locationId, location: ELMTON };
  for (const [path, sent, status] of [
    ['update', update, 200], ['list', { merchantId }, 200],
    ['delete', { merchantId, locationId }, 200], ['delete', { merchantId, locationId }, 404],
    ['update', update, 404],
  ] as const) {
    assert.equal((await service.post(`/merchant/nexus/${path}`, sent)).status, status, path);
  }
  const listed = (await listedBeside(varDir)).filter(({ account }) => account === 'alpha');
  assert.deepEqual(listed.map(({ action, object }) => [action, object]), [
    ['merchant.create', merchantId], ['nexus.create', merchantId],
    ['nexus.update', `${merchantId}/${locationId}`],
    ['nexus.delete', `${merchantId}/${locationId}`],
  ]);
  await service.stop();
  removeDirs(varDir);
});

test('a rotation of the keys is written down with the new key, of what it wraps nothing', async (t) => {
  const varDir = newVarDir(t);
  await situsBeside(varDir, ['key', 'create', '--plan', 'pro']);
  await situsBeside(varDir, ['secrets', 'rotate', '--status']);
  assert.equal((await listedBeside(varDir)).length, 1, 'looking is no rotation');
  const text = await situsBeside(varDir, ['secrets', 'rotate']);
  const [last] = (await listedBeside(varDir)).slice(-1);
  assert.deepEqual([last?.action, last?.account, last?.actor.kind],
    ['secrets.rotate', null, 'cli']);
  assert.match(text, new RegExp(`wrapped with ${last?.object ?? '-'}`));
});

test('the actions that are documented are those that there are', () => {
  const page = readFileSync(join(packageRoot(), 'docs', 'operating.md'), 'utf8');
  const section = page.split('\n## Audit log\n')[1]?.split('\n## ')[0] ?? '';
  const told = [...section.matchAll(/`([a-z]+\.[a-z]+)`/g)].map(([, action]) => action);
  assert.deepEqual(told, [...AUDIT_ACTIONS]);
});

test('releases that are activated and gone back to are written down, with who did it', async (t) => {
  const varDir = newVarDir(t);
  await situsBeside(varDir, ['key', 'create', '--plan', 'pro']);
  const one = await writeRelease(varDir, tinyContent(50), () => undefined);
  const other = await writeRelease(varDir, tinyContent(60), () => undefined);
  activateRelease(varDir, one);
  await situsBeside(varDir, ['dataset', 'activate', other]);
  await situsBeside(varDir, ['dataset', 'rollback']);
  assert.equal(currentRelease(varDir), one);
  assert.deepEqual((await listedBeside(varDir)).slice(-2)
    .map(({ action, object, actor: { kind } }) => [action, object, kind]), [
    ['release.activate', other, 'cli'], ['release.rollback', one, 'cli'],
  ]);
});
