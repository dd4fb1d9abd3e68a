import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { merchantFinder } from '../../src/store/watched.js';
import {
  createMerchant,
  deleteMerchant,
  type MerchantRecord,
  updateMerchant,
  readyMerchant,
} from '../../src/store/merchants.js';
import { Store } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

const NOW = 1_700_000_000_000;

async function create(store: Store, account: string): Promise<MerchantRecord> {
  const made = await store.write((transaction) =>
    createMerchant(
      transaction,
      readyMerchant({
        merchantId: randomUUID(),
        account,
        name: 'Shop',
        contacts: {},
        type: 'provider',
        now: NOW,
      }),
    ),
  );
  assert.ok(typeof made === 'object');
  return made;
}

test('a remembered merchant is that of its last change', async (context) => {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  const find = merchantFinder(store);
  const merchant = await create(store, 'a');
  const { merchantId } = merchant;
  assert.deepEqual(find('a', merchantId), merchant);
  assert.equal(find('a', merchantId), find('a', merchantId), 'from memory');
  // Nobody else is told of this change.
  await store.write(
    (transaction) => updateMerchant(transaction, merchant, { type: 'self-managed', now: NOW + 1 }),
    { quiet: true },
  );
  assert.equal(find('a', merchantId)?.type, 'self-managed');
  await store.write((transaction) => deleteMerchant(transaction, merchant, NOW + 2, NOW + 2));
  assert.equal(find('a', merchantId), null);
});

test('a change by another handle is seen as soon as it is looked for', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  const other = await Store.open(varDir);
  context.after(() => Promise.all([store.close(), other.close()]));
  const find = merchantFinder(store);
  const merchant = await create(store, 'a');
  assert.notEqual(find('a', merchant.merchantId), null);
  await other.write((transaction) => deleteMerchant(transaction, merchant, NOW, NOW), {
    quiet: true,
  });
  store.refresh();
  assert.equal(find('a', merchant.merchantId), null);
});

test('merchants of other accounts are not found, however alike their names', async (context) => {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  const find = merchantFinder(store);
  const { merchantId } = await create(store, 'a1');
  assert.notEqual(find('a1', merchantId), null);
  assert.equal(find('a', `1${merchantId}`), null);
  assert.equal(find('a', merchantId), null);
  assert.equal(find('a1', randomUUID()), null);
});
