/** Secrets at rest: what is given to credentials/set is in no file, log line or other answer. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backupStore } from '../../src/store/backup.js';
import { DISTINCTIVE } from '../support/kek-dir.js';
import { newMerchantDir, removeDirs, startMerchants } from '../support/merchant-service.js';
import { BODIES } from '../support/relay-service.js';
import { startSimulator } from '../support/simulated-provider.js';

const API_KEY = `api-${DISTINCTIVE}`;
const CONNECTION_ID = '5f1c1a52-9d0e-4c55-8a5e-c0ffee0ddba1';

/** Every file below a folder with its bytes. */
function files(dir: string): readonly (readonly [name: string, bytes: Buffer])[] {
  return readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(dir, name)).isFile())
    .map((name) => [name, readFileSync(join(dir, name))] as const);
}

/** Forms a secret could be found in. */
function forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
}

test('the store, the logs and other answers hold no secret in any plain form', async () => {
  const varDir = await newMerchantDir(null);
  const service = await startMerchants(varDir);
  const made = await service.post('/merchant/create', { merchantName: 'a', contactEmail: '' });
  const merchantId = String(made.body['merchantId']);
  const body = { merchantId, apiKey: API_KEY, connectionId: CONNECTION_ID };
  const answers = [made];
  const idempotencyKey = 'a-key-sent-once';
  for (let time = 0; time < 2; time += 1) {
    answers.push(await service.post('/merchant/credentials/set', body, { idempotencyKey }));
  }
  assert.equal(answers.at(-1)?.status, 200, answers.at(-1)?.text);
  // Refusals that have the secret in hand.
  answers.push(
    await service.post('/merchant/credentials/set', { ...body, extra: 1 }),
    await service.post('/merchant/credentials/set', { ...body, merchantId: API_KEY }),
    await service.post('/merchant/credentials/set', `{"apiKey":"${API_KEY}"`),
    await service.post('/merchant/credentials/set', { ...body, apiKey: 7 }),
    await service.post('/merchant/get', { merchantId }),
    await service.list(),
  );
  const read = await service.post('/merchant/credentials/get', { merchantId });
  assert.equal(read.body['apiKey'], API_KEY, 'the secret is stored at all');
  const logged = service.logged();
  await service.stop();
  for (const form of forms(API_KEY)) {
    for (const [name, bytes] of files(varDir)) {
      assert.equal(bytes.includes(form), false, `${name} holds the secret as ${form}`);
    }
    assert.equal(logged.includes(form), false, 'the log holds it');
    for (const { status, text } of answers) {
      // The refusal of an id repeats the id, which here is the caller's own mistake.
      if (status === 400 || text.includes('body.merchantId')) continue;
      assert.equal(text.includes(form), false, text);
    }
  }
  const stored = files(join(varDir, 'store')).find(([name]) => name === 'data.mdb')!;
  assert.equal(stored[1].includes(merchantId), true, 'the file that was searched is the store');
  removeDirs(varDir);
});

test('waiting events and kept answers hold no connection, and a backup neither', async (t) => {
  const simulator = await startSimulator(t, { now: () => Date.UTC(2026, 0, 2) });
  const varDir = await newMerchantDir(null);
  const service = await startMerchants(
    varDir,
    {},
    {
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_URL: simulator.url,
      // Nothing listens there: the event waits.
      SITUS_WEBHOOK_URL: 'http://127.0.0.1:1/',
      SITUS_WEBHOOK_SECRET: 'a'.repeat(24),
    },
  );
  const made = await service.post('/merchant/create', { merchantName: 'a' });
  const merchantId = String(made.body['merchantId']);
  const apiKey = 'simulated-key';
  const set = await service.post('/merchant/credentials/set', {
    merchantId,
    apiKey,
    connectionId: CONNECTION_ID,
  });
  assert.equal(set.status, 200, set.text);
  const order = { merchantId, ...BODIES['order/create'] };
  const idempotencyKey = 'an-order-sent-twice';
  const sent = await service.post('/merchant/order/create', order, { idempotencyKey });
  assert.equal(sent.body['connectionId'], CONNECTION_ID, 'the answer names the connection');
  const again = await service.post('/merchant/order/create', order, { idempotencyKey });
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.text, sent.text);
  assert.equal(again.headers.get('location'), sent.headers.get('location'));
  const logged = service.logged();
  await service.stop();
  await backupStore(varDir, join(varDir, 'a-backup.mdb'));
  for (const secret of [CONNECTION_ID, apiKey]) {
    for (const form of forms(secret)) {
      for (const [name, bytes] of files(varDir)) {
        assert.equal(bytes.includes(form), false, `${name} holds ${secret} as ${form}`);
      }
      assert.equal(logged.includes(form), false, 'the log holds it');
    }
  }
  removeDirs(varDir);
});
