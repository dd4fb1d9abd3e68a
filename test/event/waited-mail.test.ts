/** Invitations that waited while their merchants changed. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { INVITATIONS_RECIPIENT_DAY_MAX } from '../../src/store/invited.js';
import { deleteCredentials, setCredentials } from '../../src/store/credentials.js';
import { merchantKey } from '../../src/store/merchant-format.js';
import {
  deleteMerchant,
  findMerchant,
  type MerchantRecord,
  updateMerchant,
} from '../../src/store/merchants.js';
import { outboxCountOf, outboxCounts } from '../../src/store/outbox-count.js';
import { listOutbox, replayDead } from '../../src/store/outbox.js';
import type { StoreTransaction } from '../../src/store/store.js';
import { openOutbox, type Outbox } from '../support/event-outbox.js';
import { smtpError, startMailServer, toMailServer } from '../support/event-receivers.js';

const DAY_MS = 86_400_000;
const NONE = { waiting: 0, dead: 0 };
const CREDENTIALS = { apiKey: 'k-1', connectionId: 'c-1' };

interface Mailing extends Outbox {
  /** Addresses that mails came for, in their order. */
  readonly to: readonly string[];
  /** Texts of these mails. */
  readonly texts: readonly string[];
  /** Codes that the mail server refuses the next receivers with. */
  readonly refusals: number[];
}

async function openMailing(context: TestContext): Promise<Mailing> {
  const [refusals, to, texts]: [number[], string[], string[]] = [[], [], []];
  const server = await startMailServer(context, {
    onRcptTo: (_address, _session, done) => {
      const code = refusals.shift();
      done(code === undefined ? null : smtpError(code));
    },
  });
  const outbox = await openOutbox(context, toMailServer(`smtp://127.0.0.1:${server.port}`));
  const { pass } = outbox;
  return Object.assign(outbox, {
    to,
    texts,
    refusals,
    pass: async (ms: number) => {
      await pass(ms);
      to.splice(0, Infinity, ...server.got.flatMap((mail) => mail.to));
      texts.splice(0, Infinity, ...server.got.map(({ text }) => text));
    },
  });
}

async function change(
  { store }: Outbox,
  action: (transaction: StoreTransaction, merchant: MerchantRecord) => unknown,
  merchantId = 'm-1',
): Promise<void> {
  await store.write((transaction) => {
    const merchant = findMerchant(transaction, 'shop', merchantId);
    assert.ok(merchant);
    action(transaction, merchant);
  });
}

function readdressed(email: string | undefined, now: number) {
  return (transaction: StoreTransaction, merchant: MerchantRecord): void => {
    const contacts = { first: 'Joan', ...(email === undefined ? {} : { email }) };
    updateMerchant(transaction, merchant, { block: { name: 'Acme & Sons', contacts }, now });
  };
}

function counts({ store }: Outbox): readonly object[] {
  return [outboxCounts(store).mails, outboxCountOf(store, 'mail', 'shop')];
}

test('a merchant that is invited no longer gets no mail, and none waits', async (context) => {
  const outbox = await openMailing(context);
  const { now, vault } = outbox;
  const changes: Readonly<
    Record<string, (transaction: StoreTransaction, merchant: MerchantRecord) => unknown>
  > = {
    deleted: (transaction, merchant) => deleteMerchant(transaction, merchant, now, 0),
    gone: (transaction, { account, merchantId }) =>
      transaction.remove(merchantKey(account, merchantId)),
    'self-managed': (transaction, merchant) =>
      updateMerchant(transaction, merchant, { type: 'self-managed', now }),
    connected: (transaction, merchant) =>
      setCredentials(transaction, vault, merchant, CREDENTIALS, now),
    disconnected: (transaction, merchant) => {
      setCredentials(transaction, vault, merchant, { ...CREDENTIALS, connectionId: 'c-2' }, now);
      const connected = findMerchant(transaction, 'shop', merchant.merchantId);
      assert.ok(connected && deleteCredentials(transaction, connected, now));
    },
  };
  for (const [merchantId, action] of Object.entries(changes)) {
    await outbox.addInvitation({ merchantId });
    await change(outbox, action, merchantId);
  }
  await outbox.addInvitation({ email: 'still@acme.example' });
  assert.equal(outboxCounts(outbox.store).mails.waiting, 6);
  await outbox.pass(0);
  assert.deepEqual(outbox.to, ['still@acme.example']);
  assert.deepEqual(counts(outbox), [NONE, NONE]);
  assert.equal(outbox.lines.filter((line) => line.includes('no longer to be sent')).length, 5);
});

test('a merchant that is switched and back gets the mail of its last switch, or none', async (context) => {
  const outbox = await openMailing(context);
  const { now } = outbox;
  for (const merchantId of ['declined', 'invited', 'renamed']) {
    await outbox.addInvitation({ merchantId });
    const invitation = merchantId === 'declined' ? undefined : `mail_of_${merchantId}`;
    for (const step of [
      { type: 'self-managed', now },
      { type: 'provider', invitation, now },
    ] as const) {
      await change(
        outbox,
        (transaction, merchant) => updateMerchant(transaction, merchant, step),
        merchantId,
      );
    }
    if (invitation !== undefined) await outbox.addInvitation({ merchantId, id: invitation });
  }
  await change(outbox, readdressed('joan@acme.example', now), 'renamed');
  await outbox.pass(0);
  assert.deepEqual([...outbox.to].sort(), ['jane@acme.example', 'joan@acme.example']);
  assert.deepEqual(counts(outbox), [NONE, NONE]);
});

test('a mail that failed before is dropped too, and so is a dead one', async (context) => {
  const outbox = await openMailing(context);
  outbox.refusals.push(451, 550);
  await outbox.addInvitation();
  await outbox.pass(0);
  await outbox.addInvitation({ merchantId: 'm-2' });
  await outbox.pass(0);
  assert.deepEqual(counts(outbox)[0], { waiting: 1, dead: 1 });
  for (const merchantId of ['m-1', 'm-2']) {
    await change(
      outbox,
      (transaction, merchant) => deleteMerchant(transaction, merchant, outbox.now, 0),
      merchantId,
    );
  }
  await replayDead(outbox.store, outbox.now);
  await outbox.pass(5_000);
  assert.deepEqual(outbox.to, []);
  assert.deepEqual(counts(outbox), [NONE, NONE]);
});

test('a mail goes to the address that the merchant has by then, under its names', async (context) => {
  const outbox = await openMailing(context);
  await outbox.addInvitation();
  await change(outbox, readdressed('joan@acme.example', outbox.now));
  outbox.refusals.push(451, 451);
  await outbox.pass(0);
  const [waiting] = listOutbox(outbox.store, 'waiting', 'mail');
  assert.deepEqual([waiting?.email, waiting?.attempts], ['joan@acme.example', 1]);
  await outbox.pass(5_000);
  await outbox.pass(300_000);
  assert.deepEqual(outbox.to, ['joan@acme.example']);
  assert.match(outbox.texts[0] ?? '', /Acme & Sons was registered/);
  assert.match(outbox.texts[0] ?? '', /Hello Joan,/);
  assert.deepEqual(counts(outbox), [NONE, NONE]);
});

test('a merchant whose address was taken away is given up', async (context) => {
  const outbox = await openMailing(context);
  await outbox.addInvitation();
  await change(outbox, readdressed(undefined, outbox.now));
  await outbox.pass(0);
  const [dead] = listOutbox(outbox.store, 'dead', 'mail');
  assert.equal(dead?.error, 'the merchant has no address any more');
  await change(outbox, readdressed('joan@acme.example', outbox.now));
  await replayDead(outbox.store, outbox.now);
  await outbox.pass(0);
  assert.deepEqual(outbox.to, ['joan@acme.example']);
});

test('mails that waited bring no address more of them than a day may have', async (context) => {
  const outbox = await openMailing(context);
  // Noon: all attempts of this test but the last are of one day.
  outbox.now = Math.ceil(outbox.now / DAY_MS) * DAY_MS + DAY_MS / 2;
  for (let index = 0; index <= INVITATIONS_RECIPIENT_DAY_MAX; index += 1) {
    const merchantId = `m-${index}`;
    await outbox.addInvitation({ merchantId, email: `m-${index}@acme.example` });
    await change(outbox, readdressed('one@acme.example', outbox.now), merchantId);
  }
  await outbox.pass(0);
  await outbox.pass(5_000);
  assert.equal(outbox.to.length, INVITATIONS_RECIPIENT_DAY_MAX);
  const [waiting] = listOutbox(outbox.store, 'waiting', 'mail');
  assert.equal(waiting?.error, 'its address had all invitations of a day');
  await outbox.pass(DAY_MS);
  assert.equal(outbox.to.length, INVITATIONS_RECIPIENT_DAY_MAX + 1);
  assert.deepEqual(new Set(outbox.to), new Set(['one@acme.example']));
});

test('the mail of a merchant that cannot be read waits', async (context) => {
  const outbox = await openMailing(context);
  await outbox.addInvitation();
  const key = merchantKey('shop', 'm-1');
  const sound = outbox.store.get(key) as object;
  await outbox.store.write(({ put }) => put(key, { v: 1, merchantId: 'm-1' }));
  await outbox.pass(0);
  assert.deepEqual(counts(outbox)[0], { waiting: 1, dead: 0 });
  const [waiting] = listOutbox(outbox.store, 'waiting', 'mail');
  assert.equal(waiting?.error, 'its merchant cannot be read: it is damaged');
  await outbox.store.write(({ put }) => put(key, sound));
  await outbox.pass(5_000);
  assert.deepEqual(outbox.to, ['jane@acme.example']);
});
