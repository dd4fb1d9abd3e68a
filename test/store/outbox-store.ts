/** A store with an endpoint, and events for its outbox. */
import type { TestContext } from 'node:test';
import { setEndpoint } from '../../src/store/endpoint.js';
import { addEvent } from '../../src/store/outbox.js';
import { Store, type StoreTransaction } from '../../src/store/store.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { newVarDir } from '../support/http-var-dir.js';

export async function openStore(context: TestContext): Promise<Store> {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  await setEndpoint(store, 'https://shop.example/hooks');
  return store;
}

export function event(
  transaction: StoreTransaction,
  now: number,
  data: object = {},
  account = 'shop',
): void {
  addEvent(transaction, EVENT_VAULT, { account, type: 'a.b', data, now });
}
