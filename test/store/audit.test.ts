/** Who did what: written with the change or not at all, and without a secret. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AUDIT_ACTIONS, listAudit, type Actor } from '../../src/store/audit.js';
import { createKey, updateKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { activateRelease, currentRelease } from '../../src/dataset/release.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { newVarDir } from '../support/http-var-dir.js';
import {
  ask,
  ELMTON,
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
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

test('a key that is made or changed is written down, one that is not is not', async (t) => {
  const store = await Store.open(newVarDir(t));
  t.after(() => store.close());
  const text = 'a-key-that-is-a-secret';
  const { record } = await createKey(store, { plan: 'pro', text }, NOW, ACTOR);
  await assert.rejects(createKey(store, { plan: 'pro', text }, NOW, ACTOR));
  await updateKey(store, text, { rate: 5 }, ACTOR);
  await updateKey(store, text, { active: false }, ACTOR);
  const listed = listAudit(store, 0, Date.now());
  assert.deepEqual(
    new Set(listed.map(({ action }) => action)),
    new Set(['key.create', 'key.update', 'key.disable']),
  );
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
    ['/merchant/credentials/set', secrets],
    ['/merchant/credentials/get', {}],
    ['/merchant/get', {}],
    ['/merchant/credentials/delete', {}],
    ['/merchant/delete', {}],
  ] as const) {
    assert.equal((await ask(base, 'POST', path, { merchantId, ...more })).status, 200, path);
  }
  assert.equal((await ask(base, 'POST', '/merchant/delete', { merchantId })).status, 403);
  assert.equal((await ask(base, 'POST', '/merchant/credentials/get', { merchantId })).status, 403);
  const made = JSON.parse(
    await situsBeside(varDir, ['key', 'create', '--plan', 'pro', '--json']),
  ) as { readonly id: string; readonly key: string };
  const text = await situsBeside(varDir, ['audit', 'list', '--json']);
  const listed = JSON.parse(text) as {
    action: string;
    object: string;
    account: string | null;
    at: string;
    actor: { kind: string; prefix?: string; uid?: number };
  }[];
  const mine = listed.filter(({ account }) => account === 'alpha');
  assert.deepEqual(
    mine.map(({ action }) => action),
    [
      'merchant.create',
      'credentials.set',
      'credentials.get',
      'credentials.delete',
      'merchant.delete',
    ],
  );
  for (const { object, actor } of mine) {
    assert.equal(object, merchantId);
    assert.deepEqual([actor.kind, KEYS.alpha.startsWith(actor.prefix ?? '-')], ['key', true]);
  }
  const key = listed.find(({ object }) => object === made.id.slice(0, 12));
  assert.deepEqual(
    [key?.action, key?.actor.kind, key?.actor.uid],
    ['key.create', 'cli', process.getuid?.()],
  );
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
  const made = await service.post('/merchant/create', {
    merchantName: 'Shop',
    merchantType: 'self-managed',
  });
  const merchantId = String(made.body['merchantId']);
  const { body } = await service.post('/merchant/nexus/create', {
    merchantId,
    locations: [ELMTON, ELMTON],
  });
  const [{ locationId }] = body['locations'] as [{ locationId: string }];
  const update = { merchantId, locationId, location: ELMTON };
  for (const [path, sent, status] of [
    ['update', update, 200],
    ['list', { merchantId }, 200],
    ['delete', { merchantId, locationId }, 200],
    ['delete', { merchantId, locationId }, 404],
    ['update', update, 404],
  ] as const) {
    assert.equal((await service.post(`/merchant/nexus/${path}`, sent)).status, status, path);
  }
  const listed = (await listedBeside(varDir)).filter(({ account }) => account === 'alpha');
  assert.deepEqual(
    listed.map(({ action, object }) => [action, object]),
    [
      ['merchant.create', merchantId],
      ['nexus.create', merchantId],
      ['nexus.update', `${merchantId}/${locationId}`],
      ['nexus.delete', `${merchantId}/${locationId}`],
    ],
  );
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
  assert.deepEqual(
    [last?.action, last?.account, last?.actor.kind],
    ['secrets.rotate', null, 'cli'],
  );
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
  assert.deepEqual(
    (await listedBeside(varDir))
      .slice(-2)
      .map(({ action, object, actor: { kind } }) => [action, object, kind]),
    [
      ['release.activate', other, 'cli'],
      ['release.rollback', one, 'cli'],
    ],
  );
});
