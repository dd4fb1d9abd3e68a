/** The whole service with its store in PostgreSQL. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { copyStore } from '../../src/store/copy.js';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { CutProxy } from '../support/cut-proxy.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import {
  ask,
  ELMTON,
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { newSchema, type TestSchema } from '../support/postgres.js';
import { sentCart } from '../support/sent-carts.js';

const KEK = Buffer.alloc(32, 7).toString('base64');

/** Servers of machines with folders of their own, with one store. */
async function startOn(
  context: TestContext,
  schema: TestSchema,
  urls: readonly string[],
): Promise<readonly MerchantService[]> {
  const datasets = inventedCountry();
  const filled = await newMerchantDir(datasets);
  await copyStore(filled, urls[0]!);
  const services: MerchantService[] = [];
  schema.ends(async () => {
    await Promise.all(services.map((service) => service.stop()));
    removeDirs(filled);
  });
  for (const url of urls) {
    const varDir = join(newVarDir(context), 'node');
    mkdirSync(varDir);
    symlinkSync(join(datasets, 'datasets'), join(varDir, 'datasets'));
    services.push(await startMerchants(varDir, {}, { SITUS_STORE: url, SITUS_KEK: KEK }));
  }
  return services;
}

const lookup = (base: string): ReturnType<typeof ask> =>
  ask(
    base,
    'GET',
    `/request/v60?address=${encodeURIComponent('120 Main St, Elmton, QA 91010')}`,
    null,
  );

test('two servers answer lookups, carts and merchants from one database', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const [one, other] = await startOn(context, schema, [schema.url, schema.url]);
  const rates = await Promise.all([one!, other!].map(({ base }) => lookup(base)));
  assert.equal(rates[0]!.status, 200, rates[0]!.text);
  assert.equal(rates[0]!.text, rates[1]!.text);
  const acme = { merchantName: 'Acme', merchantType: 'self-managed' };
  const made = await one!.post('/merchant/create', acme, { idempotencyKey: 'k' });
  assert.equal(made.status, 201, made.text);
  const merchantId = String(made.body['merchantId']);
  await eventually(async () => (await other!.list()).text.includes(merchantId));
  const again = await other!.post('/merchant/create', acme, {
    idempotencyKey: 'k',
  });
  assert.equal(again.body['merchantId'], merchantId);
  const cart = (service: MerchantService): ReturnType<typeof ask> =>
    service.post('/merchant/cart/calculate', {
      merchantId,
      items: [sentCart({ origin: ELMTON, destination: ELMTON })],
    });
  const carts = [await cart(one!), await cart(other!)];
  assert.equal(carts[0]!.status, 200, carts[0]!.text);
  assert.equal(carts[1]!.status, 200);
  // A job is known to both; its files are where it was made.
  const job = await ask(
    one!.base,
    'POST',
    '/bulk/jobs',
    'address\n"120 Main St, Elmton, QA 91010"\n',
    {
      headers: { 'Content-Type': 'text/csv' },
    },
  );
  assert.equal(job.status, 202, job.text);
  const path = `/bulk/jobs/${String(job.body['id'])}`;
  await eventually(
    async () => (await ask(other!.base, 'GET', path, null)).body['state'] === 'done',
  );
  const result = ({ base }: MerchantService): Promise<Response> =>
    fetch(`${base}${path}/result`, { headers: { 'X-API-KEY': KEYS.alpha } });
  const [there, away] = [await result(one!), await result(other!)];
  assert.equal(there.status, 200);
  assert.match(await there.text(), /Main/);
  assert.equal(away.status, 503);
  assert.match(await away.text(), /lies with another server/);
});

test('a server without its database answers, tells, and goes on', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const proxy = await CutProxy.open(context, schema.schema);
  const [service] = await startOn(context, schema, [proxy.url]);
  const { base } = service!;
  proxy.cut = true;
  proxy.close();
  assert.equal((await lookup(base)).status, 200);
  const refused = await service!.post('/merchant/create', { merchantName: 'Acme' });
  assert.equal(refused.status, 503);
  assert.match(refused.text, /nothing was done/);
  const health = async (): Promise<unknown> => {
    const { components } = (await ask(base, 'GET', '/system/health', null)).body;
    return (components as Record<string, unknown>)['store'];
  };
  await eventually(async () => (await health()) === 'connection_error');
  // Later, when what it knows is too old, it asks to be sent nothing, and answers all the same.
  const ready = async (): Promise<number> => (await ask(base, 'GET', '/system/ready', null)).status;
  assert.equal(await ready(), 200);
  await eventually(async () => (await ready()) === 503);
  assert.equal((await lookup(base)).status, 200);
  proxy.cut = false;
  await eventually(async () => (await ready()) === 200);
  await eventually(async () => (await health()) === 'ok');
  assert.equal((await service!.post('/merchant/create', { merchantName: 'Acme' })).status, 201);
  assert.ok(!service!.logged().includes(KEYS.alpha));
});

test('what others made while a server was cut off is not told to be missing', async (context) => {
  const schema = await newSchema(context);
  if (schema === null) return;
  const proxy = await CutProxy.open(context, schema.schema);
  const [one, cut] = await startOn(context, schema, [schema.url, proxy.url]);
  proxy.cut = true;
  proxy.close();
  const made = await one!.post('/merchant/create', {
    merchantName: 'Acme',
    merchantType: 'self-managed',
  });
  assert.equal(made.status, 201, made.text);
  const merchantId = String(made.body['merchantId']);
  const admin = await Store.open(newVarDir(context), schema);
  const { text: key } = await createKey(admin, { plan: 'pro', account: 'alpha' });
  await admin.close();
  const items = [sentCart({ origin: ELMTON, destination: ELMTON })];
  const asked = (): Promise<readonly number[]> =>
    Promise.all(
      [
        cut!.post('/merchant/get', { merchantId }),
        cut!.post('/merchant/credentials/get', { merchantId }),
        cut!.post('/merchant/nexus/list', { merchantId }),
        cut!.post('/merchant/cart/calculate', { merchantId, items }),
        ask(cut!.base, 'GET', '/bulk/jobs/job_0000000000000000', null),
        ask(cut!.base, 'POST', '/merchant/get', { merchantId }, { key }),
        ask(cut!.base, 'GET', '/request/v60?postalcode=91010', null, { key }),
      ].map(async (answer) => (await answer).status),
    );
  // More than a hundred requests with a key that it does not know yet would be refused for a minute.
  const seldom = (condition: () => Promise<boolean>): Promise<void> =>
    eventually(condition, undefined, 100);
  await seldom(async () => (await asked()).every((status) => status === 503));
  const refused = await ask(cut!.base, 'POST', '/merchant/get', { merchantId }, { key });
  assert.match(refused.text, /does not reach its database/);
  assert.equal(refused.headers.get('retry-after'), null, 'no answer has it');
  // Without a key there is nothing to be known; what is known is answered.
  assert.equal((await lookup(cut!.base)).status, 200);
  proxy.cut = false;
  await seldom(async () => String(await asked()) === '200,404,200,200,404,200,200');
});
