/** A store that takes nothing more: writes are 503 and leave nothing behind, reading goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config.js';
import { openMerchants } from '../../src/api/merchant/routes.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { Router } from '../../src/http/router.js';
import { createServer } from '../../src/http/uws.js';
import { SILENT } from '../../src/log.js';
import { KeyCache } from '../../src/store/key-cache.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { openVault } from '../../src/store/vault.js';
import { ask, newMerchantDir, removeDirs } from '../support/merchant-service.js';

const STORE_BYTES = 300_000;
const CREATES_MAX = 1_000;

test('a full store refuses what is new, keeps what it has, and lets go', async (context) => {
  const varDir = await newMerchantDir(null);
  const store = await Store.open(varDir, { bytesMax: STORE_BYTES });
  const vault = await openVault(loadConfig({ SITUS_VAR: varDir }), store);
  const keys = new KeyCache(store);
  const gate = new Gate({
    find: (text) => keys.find(text), rates: createRateGate(), baseUrl: '',
  });
  const usage = new UsageBook(store);
  const locator = { loaded: () => false, submit: () => undefined };
  const family = openMerchants({
    store, vault, log: SILENT, gate, usage, locator, bodyWorkers: locator, age: Date.now, baseUrl: '',
  });
  const server = await createServer();
  new Router(family.routes, SILENT, gate.fieldsOf).attach(server);
  const base = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  context.after(async () => {
    server.close();
    await family.close();
    await usage.close();
    await store.close();
    removeDirs(varDir);
  });

  const long = '\u{1f9fe}'.repeat(255);
  const made: string[] = [];
  let status = 201;
  while (status === 201 && made.length < CREATES_MAX) {
    const referenceId = `reference ${made.length}`;
    const body = { merchantName: long, contactFirst: long, contactLast: long, referenceId };
    const answer = await ask(base, 'POST', '/merchant/create', body);
    status = answer.status;
    if (status === 201) made.push(String(answer.body['merchantId']));
    else assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  }
  assert.equal(status, 503);
  const list = async (): Promise<readonly unknown[]> =>
    JSON.parse((await ask(base, 'GET', '/merchant/list', null)).text) as unknown[];
  assert.equal((await list()).length, made.length);
  const gone = await ask(base, 'POST', '/merchant/delete', { merchantId: made[0] });
  assert.equal(gone.status, 200);
  assert.equal((await list()).length, made.length - 1);
});
