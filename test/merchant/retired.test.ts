/** A machine's clock that is set far ahead removes nothing of what was deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RETIRED_MS_MAX } from '../../src/store/retired.js';
import { serveMerchants } from '../support/merchant-routes.js';
import { ask, newMerchantDir } from '../support/merchant-service.js';

const NOW = 1_800_000_000_000;
const YEARS = 10 * 365 * 86_400_000;

test("deleted merchants are kept by the service's own clock", async (context) => {
  let [wall, age] = [NOW, NOW];
  const { store, merchants, base } = await serveMerchants(context, await newMerchantDir(null), {
    now: () => wall,
    age: () => age,
  });

  const deleteOne = async (): Promise<void> => {
    const { body } = await ask(base, 'POST', '/merchant/create', { merchantName: 'Shop' });
    const { merchantId } = body;
    assert.equal((await ask(base, 'POST', '/merchant/delete', { merchantId })).status, 200);
  };
  await deleteOne();
  wall += YEARS;
  assert.equal(await merchants.sweep(0), 0, 'deleted before the clock was set ahead');
  await deleteOne();
  wall -= 2 * YEARS;
  age += RETIRED_MS_MAX - 1;
  assert.equal(await merchants.sweep(0), 0);
  age += 1;
  assert.equal(await merchants.sweep(), 0, 'there is room: what was deleted is retained');
  assert.equal(await merchants.sweep(0), 2, 'the one deleted while it was ahead is among them');
  assert.deepEqual(store.list(['merchant']), []);
});
