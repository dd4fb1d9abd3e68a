/** What was acknowledged is there after a restart, secrets included. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ELMTON,
  inventedCountry,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';

const MERCHANTS = 40;

/** Everything the account can read of its merchants. */
async function everything(service: MerchantService): Promise<readonly string[]> {
  const list = await service.list();
  const texts = [list.text];
  for (const { merchantId } of JSON.parse(list.text) as { merchantId: string }[]) {
    for (const path of ['get', 'credentials/get', 'nexus/list']) {
      const { status, text } = await service.post(`/merchant/${path}`, { merchantId });
      texts.push(`${path} ${status} ${text}`);
    }
  }
  return texts;
}

async function fill(service: MerchantService): Promise<void> {
  await Promise.all(
    Array.from({ length: MERCHANTS }, async (_, index) => {
      const merchantType = index % 2 === 0 ? 'provider' : 'self-managed';
      const made = await service.post('/merchant/create', {
        merchantName: `Merchant ${index}`,
        merchantType,
        referenceId: `reference ${index}`,
      });
      const merchantId = made.body['merchantId'];
      const next =
        merchantType === 'provider'
          ? await service.post('/merchant/credentials/set', {
              merchantId,
              apiKey: `sk-${index}`,
              connectionId: `connection-${index}`,
            })
          : await service.post('/merchant/nexus/create', {
              merchantId,
              locations: [ELMTON, ELMTON],
            });
      assert.equal(next.status, 200, next.text);
      if (index % 10 === 0) await service.post('/merchant/credentials/delete', { merchantId });
      if (index % 10 === 1) await service.post('/merchant/delete', { merchantId });
    }),
  );
}

test('merchants, credentials and locations outlive a restart, and so do their rules', async () => {
  const varDir = await newMerchantDir(inventedCountry());
  let service = await startMerchants(varDir);
  await fill(service);
  const before = await everything(service);
  assert.equal(before.length, 1 + 3 * (MERCHANTS - MERCHANTS / 10));
  await service.stop();
  service = await startMerchants(varDir);
  assert.deepEqual(await everything(service), before);
  const taken = await service.post('/merchant/create', {
    merchantName: 'Late',
    referenceId: 'reference 2',
  });
  assert.equal(taken.status, 409);
  const late = await service.post('/merchant/create', { merchantName: 'Late' });
  const set = (connectionId: string): Promise<{ readonly status: number }> =>
    service.post('/merchant/credentials/set', {
      merchantId: late.body['merchantId'],
      apiKey: 'sk',
      connectionId,
    });
  assert.equal((await set('connection-2')).status, 409);
  // The one of a merchant whose credentials were deleted is free.
  assert.equal((await set('connection-10')).status, 200);
  await service.stop();
  removeDirs(varDir);
});
