/** Records of which a bit has turned: never taken for true, and no reason to stop. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from 'lmdb';
import { jobsDirOf } from '../../src/bulk/job/space.js';
import { DamagedRecord } from '../../src/store/fault.js';
import { FORMAT_VERSION } from '../../src/store/format.js';
import { IdempotencyBook, KEPT_MS_MAX } from '../../src/store/idempotency.js';
import { KeyCache } from '../../src/store/watched.js';
import { bootstrapKey, createKey, keyId, listKeys } from '../../src/store/keys.js';
import { listJobs, storeJob } from '../../src/store/jobs.js';
import { packRecord, unpackRecord } from '../../src/store/record-bytes.js';
import { createMerchant, deleteMerchant, readyMerchant } from '../../src/store/merchants.js';
import { RETIRED_MS_MAX, sweepRetired } from '../../src/store/retired.js';
import { shareBytes } from '../../src/store/share.js';
import { type Store, storeDir } from '../../src/store/store.js';
import { listUsage, UsageBook } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-meter.js';
import { ECHO_WORKER } from '../support/http-stub-server.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { newVarDir } from '../support/http-var-dir.js';
import { KEYS, newMerchantDir, removeDirs, startMerchants } from '../support/merchant-service.js';
import { turnAt } from '../support/filled-store.js';
import { JOB, turn, withStore } from './turned.js';

const MONTH = monthAt(Date.now()).name;

test('whichever bit of a record turns, it is not read', () => {
  const key = ['merchant', 'alpha', 'm-1'];
  const bytes = packRecord(key, { v: 1, name: 'Acme', rate: 500, seal: new Uint8Array(5) });
  assert.deepEqual(unpackRecord(key, bytes), {
    v: 1,
    name: 'Acme',
    rate: 500,
    seal: Buffer.alloc(5),
  });
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const turned = Buffer.from(bytes);
    turned[bit >> 3] = turned[bit >> 3]! ^ (1 << (bit & 7));
    assert.throws(() => unpackRecord(key, turned), DamagedRecord, String(bit));
  }
  for (let length = 3; length < bytes.length; length += 1) {
    assert.throws(() => unpackRecord(key, bytes.subarray(0, length)), DamagedRecord);
  }
  assert.throws(() => unpackRecord(['merchant', 'alpha', 'm-2'], bytes), DamagedRecord);
});

test('a damaged record is refused alone, and told of once', async (context) => {
  const varDir = newVarDir(context);
  await withStore(varDir, (store) =>
    store.write(({ put }) => {
      put(['thing', 'a'], { v: 1, text: 'the first' });
      put(['thing', 'b'], { v: 1, text: 'the second' });
    }),
  );
  turn(varDir, 'the first');
  await withStore(varDir, async (store, told) => {
    assert.throws(() => store.get(['thing', 'a']), /the record thing\/a in the store is damaged/);
    assert.throws(() => store.scan(null, 100), DamagedRecord);
    assert.equal(store.getSound(['thing', 'a']), undefined);
    assert.deepEqual(store.list(['thing']), [{ v: 1, text: 'the second' }]);
    assert.equal(told.length, 1);
    await assert.rejects(
      store.write(({ get }) => get(['thing', 'a'])),
      DamagedRecord,
    );
    await store.write(({ put }) => put(['thing', 'a'], { v: 1, text: 'anew' }));
    assert.deepEqual(store.get(['thing', 'a']), { v: 1, text: 'anew' });
  });
});

test('a key whose record is damaged is refused, and no first key is made for it', async (context) => {
  const varDir = newVarDir(context);
  await withStore(varDir, (store) => createKey(store, { plan: 'starter', text: KEYS.alpha }));
  turn(varDir, 'starter');
  await withStore(varDir, async (store) => {
    assert.equal(new KeyCache(store).find(KEYS.alpha), null);
    assert.equal(await bootstrapKey(store, null, 10), null);
    assert.deepEqual(listKeys(store), []);
  });
});

test('damaged usage is put aside, and everyone goes on counting', async (context) => {
  const varDir = newVarDir(context);
  const put = (id: string, core: number) =>
    withStore(varDir, (store) =>
      store.write((to) =>
        to.put(['usage', MONTH, id], {
          v: 1,
          id,
          account: `account-of-${id}`,
          month: MONTH,
          core,
          geo: 0,
          merchant: 0,
        }),
      ),
    );
  await put('one', 7);
  await put('two', 9);
  turn(varDir, 'account-of-one');
  await withStore(varDir, async (store) => {
    const book = new UsageBook(store);
    for (const id of ['one', 'two']) {
      const key = { id, account: 'a', grants: 0, coreLimit: 0, geoLimit: 0, merchantLimit: 0 };
      book.settle(book.admit(key, false)!, true, false);
    }
    await book.close();
    assert.deepEqual(
      listUsage(store, MONTH).map(({ core }) => core),
      [1, 10],
    );
    assert.notEqual(store.get(['damaged', 'usage', MONTH, 'one']), undefined);
  });
});

for (const [what, at] of [
  ['answer', 0],
  ['share', 1],
] as const) {
  test(`a damaged ${what} of one account keeps no answer of others from expiring`, async (t) => {
    const varDir = newVarDir(t);
    let now = 1_800_000_000_000;
    const bookOf = (store: Store, told: string[]): IdempotencyBook =>
      new IdempotencyBook(store, {
        vault: EVENT_VAULT,
        now: () => now,
        failed: (error) => told.push(String(error)),
      });
    let kept: readonly string[] = [];
    await withStore(varDir, async (store, told) => {
      const book = bookOf(store, told);
      for (const account of ['alpha', 'beta']) {
        const claimed = book.claim({ account, key: 'k', path: '/x', body: Buffer.from('{}') });
        if (claimed.kind !== 'fresh') throw new Error('not fresh');
        const answer = { status: 201, fields: {}, body: 'done' };
        await store.write((transaction) => claimed.claim.keep(transaction, answer));
        claimed.claim.end();
      }
      kept = store.keys(['idempotency', 'alpha'])[0] ?? [];
      await book.close();
    });
    const turned = at === 0 ? kept : ['share', 'kept', 'alpha'];
    await turnAt(varDir, turned);
    now += KEPT_MS_MAX;
    await withStore(varDir, async (store, told) => {
      const book = bookOf(store, told);
      assert.equal(await book.sweep(), 2);
      assert.equal(await book.sweep(), 0);
      await book.close();
      assert.deepEqual([...store.keys(['idempotency']), ...store.keys(['idempotency-age'])], []);
      assert.equal(shareBytes(store, 'kept', 'alpha'), 0);
      assert.equal(shareBytes(store, 'kept', 'beta'), 0);
      assert.notEqual(store.get(['damaged', ...turned]), undefined);
      assert.equal(told.length, 1);
      assert.match(told[0] ?? '', /is damaged: it is put aside/);
    });
  });
}

test('damaged records of one account keep nothing deleted of others', async (t) => {
  const varDir = newVarDir(t);
  const now = 1_800_000_000_000;
  const ids = ['one', 'two', 'three', 'four'];
  await withStore(varDir, (store) =>
    store.write((transaction) => {
      for (const account of ids) {
        const made = createMerchant(
          transaction,
          readyMerchant({
            account,
            merchantId: account,
            name: 'Shop',
            contacts: {},
            type: 'self-managed',
            now,
          }),
        );
        if (made === 'reference-taken') throw new Error('taken');
        for (const location of ['a', 'b']) {
          transaction.put(['nexus', account, account, location], { v: 1 });
        }
        deleteMerchant(transaction, made, now, now);
      }
    }),
  );
  await turnAt(varDir, ['merchant', 'one', 'one']);
  await turnAt(varDir, ['nexus', 'one', 'one', 'a']);
  await turnAt(varDir, ['share', 'merchants', 'two']);
  await turnAt(varDir, ['retired', String(now).padStart(15, '0'), 'merchant', 'three', 'three']);
  await withStore(varDir, async (store) => {
    assert.equal(await sweepRetired(store, now + RETIRED_MS_MAX, 0), 4);
    assert.deepEqual([...store.keys(['merchant']), ...store.keys(['nexus'])], []);
    assert.deepEqual(store.keys(['damaged']), [
      ['damaged', 'merchant', 'one', 'one'],
      ['damaged', 'nexus', 'one', 'one', 'a'],
      ['damaged', 'share', 'merchants', 'two'],
    ]);
    assert.equal(shareBytes(store, 'merchants', 'four'), 0);
  });
});

test('a server goes on beside damaged records of every kind', async (context) => {
  const varDir = await newMerchantDir(null);
  context.after(() => removeDirs(varDir));
  let service = await startMerchants(varDir, { worker: ECHO_WORKER });
  const made = async (merchantName: string): Promise<string> =>
    String((await service.post('/merchant/create', { merchantName })).body['merchantId']);
  const [bad, good] = [await made('a-name-to-be-turned'), await made('a-sound-name')];
  await service.stop();
  await withStore(varDir, (store) => storeJob(store, JOB));
  const space = join(jobsDirOf(varDir), JOB.id);
  mkdirSync(space);
  turn(varDir, 'a-name-to-be-turned');
  turn(varDir, JOB.dataset);
  service = await startMerchants(varDir, { worker: ECHO_WORKER });
  context.after(() => service.stop());
  const get = (merchantId: string) => service.post('/merchant/get', { merchantId });
  assert.equal((await get(bad)).status, 500);
  assert.equal((await get(good)).status, 200);
  assert.equal((await service.list()).status, 500, 'not a list without one of them');
  assert.equal((await service.post('/merchant/create', { merchantName: 'C' })).status, 201);
  assert.match(service.logged(), /the record job\/alpha\/job_1 in the store is damaged/);
  assert.ok(existsSync(space), "the files of a job are not taken for nobody's");
});

test('a store of the first format is read, and its records are checked from then on', async (context) => {
  const varDir = newVarDir(context);
  await withStore(varDir, () => undefined);
  const root = open<unknown, string[]>({ path: storeDir(varDir), encoding: 'msgpack' });
  const at = Date.now();
  const key = {
    v: 1,
    id: keyId(KEYS.alpha),
    prefix: 'a-key',
    account: 'alpha',
    plan: 'pro',
    rate: 500,
    grants: 15,
    active: true,
    createdAt: at,
  };
  const answer = { status: 201, fields: { 'content-type': 'text/plain' }, body: 'done' };
  const intent = { account: 'alpha', key: 'k', path: '/x', body: Buffer.from('{}') };
  const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
  const fingerprint = EVENT_VAULT.index(`/x\n${sum('{}')}`, 'alpha');
  await root.transaction(() => {
    root.putSync(['meta', 'format'], 1);
    root.putSync(['meta', 'version'], 41);
    root.putSync(['key', key.id], key);
    root.putSync(['job', JOB.account, JOB.id], JOB);
    root.putSync(['idempotency', 'alpha', sum('k')], { v: 1, ...answer, fingerprint, at });
    root.putSync(['bytes', 'b'], { v: 1, bytes: Buffer.from('abc'), list: [{ a: 1 }, { a: 2 }] });
  });
  await root.close();
  await withStore(varDir, async (store, told) => {
    assert.deepEqual(store.get(['key', key.id]), key);
    assert.equal(new KeyCache(store).find(KEYS.alpha)?.plan, 'pro');
    assert.deepEqual(listJobs(store), [JOB]);
    assert.equal(store.get(['meta', 'version']), 41);
    assert.deepEqual(store.get(['bytes', 'b']), {
      v: 1,
      bytes: Buffer.from('abc'),
      list: [{ a: 1 }, { a: 2 }],
    });
    const book = new IdempotencyBook(store, { vault: EVENT_VAULT });
    assert.deepEqual(book.claim(intent), { kind: 'kept', answer });
    await book.close();
    await store.write(({ get, put }) => put(['key', key.id], get(['key', key.id]) as object));
    assert.deepEqual(told, []);
  });
  // What was written anew is checked.
  turn(varDir, 'pro');
  await withStore(varDir, (store) => {
    assert.throws(() => store.get(['key', key.id]), DamagedRecord);
    assert.deepEqual(listJobs(store), [JOB]);
  });
  // An earlier version is told by the number that it cannot read the store.
  const again = open<unknown, string[]>({ path: storeDir(varDir), encoding: 'msgpack' });
  assert.equal(again.get(['meta', 'format']), FORMAT_VERSION);
  await again.close();
});
