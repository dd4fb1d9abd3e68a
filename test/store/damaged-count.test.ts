/** Counts of which a bit has turned: counted anew from what they count, and nobody locked out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAudit } from '../../src/store/audit.js';
import { setEndpoint } from '../../src/store/endpoint.js';
import { IdempotencyBook } from '../../src/store/idempotency.js';
import { countInvitation } from '../../src/store/invited.js';
import { createMerchant, type MerchantRecord, readyMerchant } from '../../src/store/merchants.js';
import { countNexus } from '../../src/store/nexus-count.js';
import { deleteNexus, putNexus, type NexusRecord } from '../../src/store/nexus.js';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { addEvent, addInvitation, bury, listOutbox, settle } from '../../src/store/outbox.js';
import { Store, type StoreTransaction } from '../../src/store/store.js';
import { EVENT_VAULT } from '../support/event-vault.js';
import { newVarDir } from '../support/http-var-dir.js';
import { locationOf, turnAt } from '../support/filled-store.js';

const NOW = 1_800_000_000_000;
const ACCOUNT = 'alpha';
const MERCHANT = 'm-1';
const DAY = '2027-01-15';

/** Every count there is, after `fill`. */
const COUNTS: readonly (readonly string[])[] = [
  ['share', 'merchants', ACCOUNT],
  ['share', 'kept', ACCOUNT],
  ['nexus-count', ACCOUNT, MERCHANT],
  ['audit-block-count', 'operator'],
  ['audit-block-count', `account:${ACCOUNT}`],
  ['count', 'outbox', 'event'],
  ['count', 'outbox', 'event', ACCOUNT],
  ['count', 'outbox', 'mail'],
  ['count', 'outbox', 'mail', ACCOUNT],
];
const INVITED = ['invited', DAY, 'account', ACCOUNT];

function make(transaction: StoreTransaction, merchantId: string): MerchantRecord {
  const made = createMerchant(
    transaction,
    readyMerchant({
      account: ACCOUNT,
      merchantId,
      name: 'Shop',
      contacts: {},
      type: 'self-managed',
      now: NOW,
    }),
  );
  return made === 'reference-taken' ? assert.fail(made) : made;
}

function location(locationId: string): NexusRecord {
  return locationOf({ account: ACCOUNT, merchantId: MERCHANT }, locationId, NOW);
}

/** Changes every count, up and down. */
async function change(store: Store, round: string): Promise<void> {
  await store.write((transaction) => {
    countNexus(transaction, ACCOUNT, MERCHANT, 2);
    for (const each of ['a', 'b']) putNexus(transaction, location(round + each));
    deleteNexus(transaction, location(`${round}a`), NOW, NOW);
    // A minute later each begins a block, and puts the one before to those that are counted.
    for (const at of round === 'first' ? [NOW - 60_000, NOW] : [NOW + 60_000]) {
      for (const account of [null, ACCOUNT]) {
        const actor = { kind: 'server' } as const;
        addAudit(transaction, { actor, account, action: 'nexus.create', object: MERCHANT }, at);
      }
    }
    for (let at = 0; at < 3; at += 1) {
      addEvent(transaction, EVENT_VAULT, { account: ACCOUNT, type: 'a.b', data: {}, now: NOW });
    }
    addInvitation(transaction, {
      account: ACCOUNT,
      merchantId: MERCHANT,
      merchantName: 'Shop',
      email: 'a@b.example',
      now: NOW,
    });
    countInvitation(transaction, ACCOUNT, `${round}@b.example`, NOW);
  });
  const [sent, failed] = listOutbox(store, 'waiting', 'event');
  await store.write((transaction) => {
    settle(transaction, sent ?? assert.fail());
    bury(transaction, failed ?? assert.fail(), { status: 410, error: 'gone' }, NOW);
  });
  const book = new IdempotencyBook(store, { vault: EVENT_VAULT, now: () => NOW });
  const claimed = book.claim({ account: ACCOUNT, key: round, path: '/x', body: Buffer.alloc(0) });
  if (claimed.kind !== 'fresh') throw new Error('not fresh');
  const answer = { status: 201, fields: {}, body: 'done' };
  await store.write((transaction) => claimed.claim.keep(transaction, answer));
  claimed.claim.end();
  await book.close();
}

/** What is counted after changes, with bits of the named counts turned between them. */
async function countsAfter(
  varDir: string,
  turned: readonly (readonly string[])[],
): Promise<{ readonly counts: readonly unknown[]; readonly told: readonly string[] }> {
  const told: string[] = [];
  const open = (): Promise<Store> =>
    Store.open(varDir, { failed: (error) => told.push(String(error)) });
  let store = await open();
  await setEndpoint(store, 'https://shop.example/hooks');
  await store.write((transaction) => make(transaction, MERCHANT));
  await change(store, 'first');
  await store.close();
  for (const key of turned) await turnAt(varDir, key);
  store = await open();
  assert.deepEqual(outboxCounts(store).events, { waiting: 1, dead: 1 });
  await change(store, 'second');
  const counts = [...COUNTS, INVITED].map((key) => store.get(key));
  for (const key of turned) assert.notEqual(store.get(['damaged', ...key]), undefined, String(key));
  await store.close();
  return { counts, told };
}

test('each count comes to what it would be without damage, and the log tells', async (context) => {
  const sound = await countsAfter(newVarDir(context), []);
  assert.deepEqual(sound.told, []);
  for (const key of COUNTS) {
    const { counts, told } = await countsAfter(newVarDir(context), [key]);
    assert.deepEqual(counts, sound.counts, String(key));
    assert.deepEqual(told, [
      `Error: the record ${key.join('/')} in the store is damaged: it is put ` +
        'aside, and counted anew from the records that are there',
    ]);
  }
  const all = await countsAfter(newVarDir(context), COUNTS);
  assert.deepEqual(all.counts, sound.counts);
  assert.equal(all.told.length, COUNTS.length);
});

test('a damaged count of invitations begins anew', async (t) => {
  const { counts, told } = await countsAfter(newVarDir(t), [INVITED]);
  assert.deepEqual(counts.at(-1), { v: 1, day: DAY, whose: 'account', id: ACCOUNT, count: 1 });
  assert.equal(
    told.at(-1),
    `Error: the record ${INVITED.join('/')} in the store is damaged: it is ` + 'put aside',
  );
});
