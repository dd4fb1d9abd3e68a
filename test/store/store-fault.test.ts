/** A store that cannot be written: callers are told, reading goes on, nothing is damaged. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreFault } from '../../src/store/fault.js';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { CLI } from '../support/built-dataset.js';
import { newVarDir } from '../support/http-var-dir.js';
import { KEYS, startMerchants } from '../support/merchant-service.js';
import { fill, release, smallDisk } from '../support/small-disk.js';

const VALUE = { v: 1, text: 'x'.repeat(2_000) };

async function put(store: Store, id: string): Promise<void> {
  await store.write((transaction) => transaction.put(['thing', id], VALUE));
}

/** Writes until it fails; returns what was stored and the error. */
async function putUntilFault(store: Store, prefix: string): Promise<readonly [string[], unknown]> {
  const stored: string[] = [];
  for (let index = 0; index < 10_000; index += 1) {
    try {
      await put(store, `${prefix}${index}`);
    } catch (error) {
      return [stored, error];
    }
    stored.push(`${prefix}${index}`);
  }
  throw new Error('it never filled up');
}

test('a store at its largest size takes nothing new, and changes and deletes go on', async (context) => {
  const store = await Store.open(newVarDir(context), { bytesMax: 400_000 });
  context.after(() => store.close());
  const [stored, error] = await putUntilFault(store, 'a');
  assert.ok(error instanceof StoreFault && error.kind === 'full');
  assert.ok(stored.length > 50);
  await put(store, 'a0');
  await store.write((transaction) => {
    for (const id of stored.slice(0, 40)) transaction.remove(['thing', id]);
  });
  await put(store, 'new');
  assert.equal(store.list(['thing']).length, stored.length - 40 + 1);
});

test('a full disk refuses writes alone and is left when there is room', async (context) => {
  const dir = smallDisk(context, 3_000_000);
  if (dir === null) return;
  let store = await Store.open(dir);
  await put(store, 'first');
  fill(dir);
  const [stored, error] = await putUntilFault(store, 'a');
  assert.ok(error instanceof StoreFault && error.kind === 'unwritable', String(error));
  // Many at once, as clients would: each is told, none is lost by the way.
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, index) => put(store, `b${index}`)),
  );
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
  for (const id of ['first', ...stored]) assert.deepEqual(store.get(['thing', id]), VALUE);
  assert.equal(store.list(['thing']).length, stored.length + 1);
  release(dir);
  await put(store, 'last');
  await store.close();
  store = await Store.open(dir);
  assert.equal(store.list(['thing']).length, stored.length + 2);
  await store.close();
});

test('the service answers 503 to writes and everything to readers while its disk is full', async (context) => {
  const dir = smallDisk(context, 3_000_000);
  if (dir === null) return;
  const store = await Store.open(dir);
  await createKey(store, { text: KEYS.alpha, plan: 'enterprise', rate: 1_000_000 });
  await store.close();
  const service = await startMerchants(dir);
  context.after(() => service.stop());
  const create = (name: string): ReturnType<typeof service.post> =>
    service.post('/merchant/create', { merchantName: name }, { idempotencyKey: name });
  const names: string[] = [];
  fill(dir);
  let refused = await create('m0');
  for (let index = 1; refused.status === 201 && index < 5_000; index += 1) {
    names.push(`m${index - 1}`);
    refused = await create(`m${index}`);
  }
  assert.equal(refused.status, 503, refused.text);
  assert.equal(refused.headers.get('content-type'), 'application/problem+json');
  const listed = await service.list();
  assert.equal(listed.status, 200);
  assert.equal((JSON.parse(listed.text) as unknown[]).length, names.length);
  release(dir);
  // The refused one may be sent again under its key, and the first ones have their answers.
  const again = await create(`m${names.length}`);
  assert.equal(again.status, 201, again.text);
  assert.equal(again.headers.get('idempotency-replayed'), null);
});

test('commands say that the disk is full or read-only, and leave nothing half-made', (context) => {
  const dir = smallDisk(context, 3_000_000);
  if (dir === null) return;
  const told = (varDir: string, ...args: string[]): readonly [number | null, string] => {
    const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
      env: { ...process.env, SITUS_VAR: varDir },
      encoding: 'utf8',
    });
    return [
      status,
      stderr
        .split('\n')
        .filter((line) => line.startsWith('situs: '))
        .join('\n'),
    ];
  };
  const [old, fresh] = [join(dir, 'old'), join(dir, 'fresh')];
  assert.equal(told(old, 'key', 'create', '--plan', 'pro')[0], 0);
  fill(dir);
  const full = 'situs: the store cannot be written: its disk is full or failed';
  assert.deepEqual(told(fresh, 'key', 'create', '--plan', 'pro'), [1, full], 'no store to be made');
  assert.deepEqual(told(old, 'key', 'create', '--plan', 'pro'), [1, full]);
  assert.equal(told(old, 'secrets', 'rotate')[0], 1);
  assert.deepEqual(readdirSync(old), ['store']);
  release(dir);
  for (const varDir of [old, fresh]) {
    assert.deepEqual(told(varDir, 'key', 'create', '--plan', 'pro'), [0, '']);
  }
  execFileSync('mount', ['-o', 'remount,ro', dir]);
  const [code, why] = told(old, 'key', 'list');
  assert.equal(code, 1);
  assert.ok(why.startsWith(`situs: the store in ${join(old, 'store')} cannot be opened: `), why);
});
