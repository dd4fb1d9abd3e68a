/** How many invitations go out in a day, to whom and for whom. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LimitReached } from '../../src/store/transaction.js';
import {
  countInvitation,
  INVITATIONS_ACCOUNT_DAY_MAX,
  INVITATIONS_RECIPIENT_DAY_MAX,
  INVITED_PREFIX,
} from '../../src/store/invited.js';
import { CLOCK_KEY } from '../../src/store/service-clock.js';
import { newStore } from '../support/filled-store.js';

const NOW = 1_800_000_000_000;

test('invitations are counted by recipient and by account, and a day begins anew', async (t) => {
  const store = await newStore(t);
  const invite = (account: string, email: string, now = NOW): Promise<void> =>
    store.write((transaction) => countInvitation(transaction, account, email, now));
  for (let index = 0; index < INVITATIONS_RECIPIENT_DAY_MAX; index += 1) {
    await invite(`account ${index}`, index === 0 ? 'Someone@Example.com' : 'someone@example.com');
  }
  await assert.rejects(
    invite('alpha', 'someone@example.com'),
    (error) => error instanceof LimitReached && error.limit === INVITATIONS_RECIPIENT_DAY_MAX,
  );
  await store.write((transaction) => {
    for (let index = 0; index < INVITATIONS_ACCOUNT_DAY_MAX; index += 1) {
      countInvitation(transaction, 'alpha', `other-${index}@example.com`, NOW);
    }
  });
  await assert.rejects(
    invite('alpha', 'new@example.com'),
    (error) => error instanceof LimitReached && error.limit === INVITATIONS_ACCOUNT_DAY_MAX,
  );
  await invite('beta', 'new@example.com');
  const daysOf = (): ReadonlySet<string> =>
    new Set(store.list([INVITED_PREFIX]).map((record) => (record as { day: string }).day));
  const setClock = (at: number): Promise<void> =>
    store.write(({ put }) => put(CLOCK_KEY, { v: 1, at, wall: at }));
  const tomorrow = NOW + 86_400_000;
  await setClock(NOW);
  await invite('ahead', 'someone@example.com', NOW + 365 * 86_400_000);
  assert.equal(daysOf().size, 2, "nothing goes because the machine's clock is a year ahead");
  await assert.rejects(invite('alpha', 'someone@example.com'), LimitReached);
  await store.write(({ remove }) => {
    for (const key of store.keys([INVITED_PREFIX])) if (key[1]?.startsWith('2028')) remove(key);
  });
  await setClock(tomorrow);
  for (let index = 0; index < 100; index += 1) {
    await invite(`tomorrow ${index}`, `each-${index}@example.com`, tomorrow);
  }
  await invite('alpha', 'someone@example.com', tomorrow);
  assert.deepEqual(daysOf(), new Set([new Date(tomorrow).toISOString().slice(0, 10)]));
});
