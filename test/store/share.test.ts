/** Shares of the store: what one account may have, and that no other has less for it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { forgetCredentials, setCredentials } from '../../src/store/credentials.js';
import { IdempotencyBook, KEPT_MS_MAX, type Claim } from '../../src/store/idempotency.js';
import { LimitReached } from '../../src/store/transaction.js';
import { merchantKey } from '../../src/store/merchant-format.js';
import {
  createMerchant,
  deleteMerchant,
  findMerchant,
  listMerchants,
  pageOfMerchants,
  updateMerchant,
  type MerchantRecord,
  readyMerchant,
} from '../../src/store/merchants.js';
import { countNexus, NEXUS_LOCATIONS_MAX } from '../../src/store/nexus-count.js';
import { deleteNexus, putNexus, type NexusRecord } from '../../src/store/nexus.js';
import { retire, RETIRED_MS_MAX, sweepRetired } from '../../src/store/retired.js';
import { COUNTED_KEY, countShares } from '../../src/store/share-count.js';
import { recordBytes, setShare, shareBytes, SHARE_BYTES_MAX } from '../../src/store/share.js';
import type { Store } from '../../src/store/store.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { locationOf, newStore } from '../support/filled-store.js';

const NOW = 1_800_000_000_000;

async function make(store: Store, account: string, name = 'Shop'): Promise<MerchantRecord> {
  const merchant = await store.write((transaction) =>
    createMerchant(
      transaction,
      readyMerchant({
        account,
        merchantId: randomUUID(),
        name,
        contacts: {},
        type: 'self-managed',
        now: NOW,
      }),
    ),
  );
  if (merchant === 'reference-taken') throw new Error('taken');
  return merchant;
}

function location(merchant: MerchantRecord): NexusRecord {
  return locationOf(merchant, randomUUID(), NOW);
}

const merchants = (store: Store, account: string): number =>
  shareBytes(store, 'merchants', account);

test('an account whose merchants have used up their share is refused, another is not', async (t) => {
  const store = await newStore(t);
  const kept = await make(store, 'alpha');
  await store.write((transaction) =>
    setShare(transaction, 'merchants', 'alpha', SHARE_BYTES_MAX.merchants),
  );
  await assert.rejects(
    make(store, 'alpha'),
    (error) => error instanceof LimitReached && error.limit === SHARE_BYTES_MAX.merchants,
  );
  assert.equal((await listMerchants(store, 'alpha'))?.length, 1);
  await assert.rejects(
    store.write((transaction) => putNexus(transaction, location(kept))),
    LimitReached,
  );
  await assert.rejects(
    store.write((transaction) =>
      updateMerchant(transaction, kept, {
        now: NOW,
        block: { name: 'A far longer name than before', contacts: {} },
      }),
    ),
    LimitReached,
  );
  await make(store, 'beta');
  // Deleting is never refused.
  await store.write((transaction) => deleteMerchant(transaction, kept, NOW, NOW));
  assert.equal(findMerchant(store, 'alpha', kept.merchantId), null);
});

test('what is deleted counts until it goes, with the locations of a merchant', async (t) => {
  const store = await newStore(t);
  const merchant = await make(store, 'alpha');
  const [first, second] = [location(merchant), location(merchant)];
  await store.write((transaction) => {
    for (const each of [first, second]) putNexus(transaction, each);
    countNexus(transaction, 'alpha', merchant.merchantId, 2);
  });
  const before = merchants(store, 'alpha');
  await store.write((transaction) => deleteNexus(transaction, first, NOW, NOW));
  await store.write((transaction) => deleteMerchant(transaction, merchant, NOW + 1, NOW + 1));
  assert.ok(merchants(store, 'alpha') > before);
  assert.equal(await sweepRetired(store, NOW + RETIRED_MS_MAX - 1, 0), 0);
  const bytes = merchants(store, 'alpha');
  assert.equal(await sweepRetired(store, NOW + RETIRED_MS_MAX, bytes), 0, 'there is room');
  assert.equal(await sweepRetired(store, NOW + 10 * RETIRED_MS_MAX), 0, 'half a share is room');
  assert.equal(await sweepRetired(store, NOW + RETIRED_MS_MAX, bytes - 1), 1);
  assert.equal(await sweepRetired(store, NOW + RETIRED_MS_MAX + 1, 0), 1);
  assert.equal(merchants(store, 'alpha'), 0);
  for (const prefix of ['merchant', 'nexus', 'nexus-count', 'retired']) {
    assert.deepEqual(store.list([prefix]), [], prefix);
  }
});

test('what was there before shares is counted once, and what was deleted expires', async (t) => {
  const store = await newStore(t);
  const live = await make(store, 'alpha');
  const gone = await make(store, 'beta');
  const place = location(live);
  await store.write((transaction) => {
    putNexus(transaction, place);
    deleteMerchant(transaction, gone, NOW, NOW);
  });
  // As an earlier version left it.
  await store.write((transaction) => {
    for (const { key } of store.scan(null, 1_000)) {
      if (['share', 'retired', 'nexus-count'].includes(key[0] ?? '')) transaction.remove(key);
    }
    transaction.remove(COUNTED_KEY);
  });
  assert.equal(merchants(store, 'alpha'), 0);
  await countShares(store);
  assert.equal(merchants(store, 'alpha'), recordBytes(live) + recordBytes(place));
  assert.ok(merchants(store, 'beta') > 0);
  assert.deepEqual(store.list(['nexus-count', 'alpha', live.merchantId]), [{ v: 1, count: 1 }]);
  await sweepRetired(store, NOW + RETIRED_MS_MAX, 0);
  assert.equal(merchants(store, 'beta'), 0);
  await store.write((transaction) => setShare(transaction, 'merchants', 'alpha', 5));
  await countShares(store);
  assert.equal(merchants(store, 'alpha'), 5);
});

test('credentials of earlier stores count, where they were left out too', async (t) => {
  const store = await newStore(t);
  const merchant = await make(store, 'alpha');
  await make(store, 'beta');
  const gone = await make(store, 'gamma');
  await store.write((transaction) => {
    const credentials = { apiKey: 'a key', connectionId: 'a connection' };
    setCredentials(transaction, EVENT_VAULT, merchant, credentials, NOW);
    deleteMerchant(transaction, gone, NOW, NOW + 5);
  });
  const right = ['alpha', 'beta', 'gamma'].map((account) => merchants(store, account));
  const retired = store.list(['retired']);
  assert.ok((right[0] ?? 0) > recordBytes(merchant) + 200);
  for (const marker of [undefined, { v: 1 }]) {
    await store.write((transaction) => {
      for (const key of store.keys(['share'])) transaction.remove(key);
      if (marker === undefined) transaction.remove(COUNTED_KEY);
      else {
        for (const key of store.keys(['retired'])) transaction.remove(key);
        retire(transaction, 'gamma', merchantKey('gamma', gone.merchantId), NOW + 5);
        transaction.put(COUNTED_KEY, marker);
      }
    });
    await countShares(store);
    assert.deepEqual(
      ['alpha', 'beta', 'gamma'].map((account) => merchants(store, account)),
      right,
    );
  }
  assert.deepEqual(store.list(['retired']), retired, 'what was noted is not noted again');
  await store.write((transaction) => {
    forgetCredentials(transaction, 'alpha', merchant.merchantId);
    setShare(transaction, 'merchants', 'beta', 5);
  });
  assert.equal(merchants(store, 'alpha'), recordBytes(merchant));
  await countShares(store);
  assert.equal(merchants(store, 'beta'), 5, 'once');
});

test('a merchant has a number of locations', async (t) => {
  const store = await newStore(t);
  await store.write((transaction) => countNexus(transaction, 'a', 'm', NEXUS_LOCATIONS_MAX - 1));
  await assert.rejects(
    store.write((transaction) => countNexus(transaction, 'a', 'm', 2)),
    (error) => error instanceof LimitReached && error.limit === NEXUS_LOCATIONS_MAX,
  );
  await store.write((transaction) => countNexus(transaction, 'a', 'm', 1));
  await store.write((transaction) => countNexus(transaction, 'a', 'other', 2));
});

test('kept answers have a share, which their expiry gives back', async (t) => {
  const store = await newStore(t);
  const clock = { now: NOW };
  const book = new IdempotencyBook(store, { vault: EVENT_VAULT, now: () => clock.now });
  t.after(() => book.close());
  const claimOf = (account: string, key: string): Claim => {
    const claimed = book.claim({ account, key, path: '/x', body: Buffer.from(key) });
    assert.equal(claimed.kind, 'fresh');
    if (claimed.kind !== 'fresh') throw new Error('not fresh');
    return claimed.claim;
  };
  const keep = async (account: string, key: string, chars = 100_000): Promise<void> => {
    const claim = claimOf(account, key);
    const answer = { status: 200, fields: {}, body: 'x'.repeat(chars) };
    await store.write((transaction) => claim.keep(transaction, answer)).finally(() => claim.end());
  };
  await keep('alpha', 'first');
  const one = shareBytes(store, 'kept', 'alpha');
  assert.ok(one > 100_000 && one < 150_000, String(one));
  await store.write((transaction) =>
    setShare(transaction, 'kept', 'alpha', SHARE_BYTES_MAX.kept - one + 1),
  );
  await assert.rejects(
    keep('alpha', 'second'),
    (error) => error instanceof LimitReached && error.limit === SHARE_BYTES_MAX.kept,
  );
  // Nothing may be sent elsewhere whose answer has no room.
  await store.write((transaction) => setShare(transaction, 'kept', 'alpha', SHARE_BYTES_MAX.kept));
  await assert.rejects(claimOf('alpha', 'third').begin(), LimitReached);
  await keep('beta', 'second');
  assert.equal(
    book.claim({
      account: 'alpha',
      key: 'first',
      path: '/x',
      body: Buffer.from('first'),
    }).kind,
    'kept',
  );
  clock.now += KEPT_MS_MAX;
  await book.sweep();
  assert.equal(shareBytes(store, 'kept', 'alpha'), SHARE_BYTES_MAX.kept - one);
  assert.equal(shareBytes(store, 'kept', 'beta'), 0);
  await keep('alpha', 'fourth');
});

test('an answer from elsewhere counts once, and not at all when nothing was done', async (t) => {
  const store = await newStore(t);
  const book = new IdempotencyBook(store, { vault: EVENT_VAULT, now: () => NOW });
  t.after(() => book.close());
  for (const [key, answer] of [
    ['done', { status: 200, fields: {}, body: 'x'.repeat(50_000) }],
    ['not done', null],
  ] as const) {
    const claimed = book.claim({ account: key, key, path: '/x', body: Buffer.from(key) });
    if (claimed.kind !== 'fresh') throw new Error('not fresh');
    await claimed.claim.begin();
    assert.equal(shareBytes(store, 'kept', key), 2_048);
    await claimed.claim.settle(answer);
    claimed.claim.end();
  }
  const done = shareBytes(store, 'kept', 'done');
  assert.ok(done > 50_000 && done < 75_000, String(done));
  assert.equal(shareBytes(store, 'kept', 'not done'), 0);
});

test('pages of merchants are all of them once, and the list as a whole has a bound', async (t) => {
  const store = await newStore(t);
  const made: string[] = [];
  for (let index = 0; index < 25; index += 1) made.push((await make(store, 'a')).merchantId);
  await make(store, 'b');
  const [gone] = made;
  await store.write((transaction) => {
    const merchant = findMerchant(transaction, 'a', gone ?? '');
    if (merchant !== null) deleteMerchant(transaction, merchant, NOW, NOW);
  });
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof pageOfMerchants>> = await pageOfMerchants(store, 'a', {
      limit: 6,
      cursor,
    });
    assert.ok(page.merchants.length <= 6);
    seen.push(...page.merchants.map(({ merchantId }) => merchantId));
    cursor = page.next;
  }
  assert.deepEqual(seen, made.slice(1).sort());
  assert.equal((await listMerchants(store, 'a', 24))?.length, 24);
  assert.equal(await listMerchants(store, 'a', 23), null);
});
