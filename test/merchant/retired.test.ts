/** A machine's clock that is set far ahead removes nothing of what was deleted. */
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
import { RETIRED_MS_MAX } from '../../src/store/retired.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { openVault } from '../../src/store/vault.js';
import { ask, newMerchantDir, removeDirs } from '../support/merchant-service.js';

const NOW = 1_800_000_000_000;
const YEARS = 10 * 365 * 86_400_000;

test('deleted merchants are kept by the service\'s own clock', async (context) => {
  const varDir = await newMerchantDir(null);
  const store = await Store.open(varDir);
  const vault = await openVault(loadConfig({ SITUS_VAR: varDir }), store);
  const keys = new KeyCache(store);
  const gate = new Gate({
    find: (text) => keys.find(text), rates: createRateGate(), baseUrl: '',
  });
  const usage = new UsageBook(store);
  let [wall, age] = [NOW, NOW];
  const family = openMerchants({
    store, vault, log: SILENT, gate, usage, baseUrl: '',
    locator: { loaded: () => false, submit: () => undefined },
    now: () => wall, age: () => age, bodyWorkers: { submit: () => undefined },
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

  const deleteOne = async (): Promise<void> => {
    const { body } = await ask(base, 'POST', '/merchant/create', { merchantName: 'Shop' });
    const { merchantId } = body;
    assert.equal((await ask(base, 'POST', '/merchant/delete', { merchantId })).status, 200);
  };
  await deleteOne();
  wall += YEARS;
  assert.equal(await family.sweep(0), 0, 'deleted before the clock was set ahead');
  await deleteOne();
  wall -= 2 * YEARS;
  age += RETIRED_MS_MAX - 1;
  assert.equal(await family.sweep(0), 0);
  age += 1;
  assert.equal(await family.sweep(), 0, 'there is room: what was deleted is retained');
  assert.equal(await family.sweep(0), 2, 'the one deleted while it was ahead is among them');
  assert.deepEqual(store.list(['merchant']), []);
});
