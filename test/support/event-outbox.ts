/** An outbox with a clock that stands still until it is moved. */
import type { TestContext } from 'node:test';
import { Delivery, type DeliverySettings } from '../../src/event/delivery.js';
import { parseSecrets, type Secret } from '../../src/event/event-signature.js';
import { createLog } from '../../src/log.js';
import type { Invitation } from '../../src/store/outbox-record.js';
import { addEvent, addInvitation } from '../../src/store/outbox.js';
import { createMerchant, findMerchant, readyMerchant } from '../../src/store/merchants.js';
import { Store, type StoreTransaction } from '../../src/store/store.js';
import { openVault, type Vault } from '../../src/store/vault.js';
import { newVarDir } from './http-var-dir.js';
import { fileConfig } from './kek-dir.js';

export const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
export const OLD_SECRET = 'whsec_b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xkLW9sZCE=';

/** The secrets of a setting. @throws Error when they are not well formed. */
export function secretsOf(text: string): readonly Secret[] {
  const result = parseSecrets(text);
  if (result.kind === 'refused') throw new Error(result.why);
  return result.secrets;
}

export interface Outbox {
  readonly varDir: string;
  readonly store: Store;
  readonly vault: Vault;
  readonly delivery: Delivery;
  /** Lines of the log. */
  readonly lines: string[];
  /** Milliseconds since 1970. */
  now: number;
  /** What the jitter is drawn from. */
  random: number;
  /** Lets so much time pass, and waits for all attempts that start. */
  pass(ms: number): Promise<void>;
  addEvent(connectionId?: string): Promise<void>;
  /** Of a merchant that is made too, where there is none. */
  addInvitation(changes?: Partial<Invitation>): Promise<void>;
}

/** Settings with an endpoint alone. */
export function toEndpoint(
  url: string,
  { secret = SECRET, attemptMs = 5_000 } = {},
): DeliverySettings {
  const guard = { allowPrivate: true };
  return { webhook: { url, secrets: secretsOf(secret), guard, attemptMs }, mail: null };
}

/** Who is invited unless told. */
const INVITED = {
  account: 'shop',
  merchantId: 'm-1',
  merchantName: 'Acme Outfitters',
  contactFirst: 'Jane',
  contactLast: 'Doe',
  email: 'jane@acme.example',
};

/** Makes the merchant of an invitation, unless there is one of that id. */
function createInvited(transaction: StoreTransaction, invitation: Invitation): void {
  const { account, merchantId, merchantName: name, contactFirst, contactLast, email } = invitation;
  if (findMerchant(transaction, account, merchantId) !== null) return;
  createMerchant(
    transaction,
    readyMerchant({
      account,
      merchantId,
      name,
      contacts: {
        email,
        ...(contactFirst === undefined ? {} : { first: contactFirst }),
        ...(contactLast === undefined ? {} : { last: contactLast }),
      },
      type: 'provider',
      now: invitation.now,
    }),
  );
}

/** Opens a store, in a new folder unless one is given, and a delivery that looks when told. */
export async function openOutbox(
  context: TestContext,
  settings: DeliverySettings,
  varDir = newVarDir(context),
): Promise<Outbox> {
  const store = await Store.open(varDir);
  const vault = await openVault(fileConfig(varDir), store);
  const lines: string[] = [];
  const delivery = await Delivery.open({
    store,
    vault,
    settings,
    log: createLog('debug', (line) => lines.push(line)),
    now: () => outbox.now,
    random: () => outbox.random,
  });
  context.after(async () => {
    await delivery.close(0);
    await store.close();
  });
  const outbox: Outbox = {
    varDir,
    store,
    vault,
    delivery,
    lines,
    now: Date.now(),
    random: 0,
    pass: async (ms) => {
      outbox.now += ms;
      store.refresh();
      delivery.look();
      await delivery.idle();
    },
    addEvent: async (connectionId = 'c-1') => {
      await store.write((transaction) =>
        addEvent(transaction, vault, {
          account: 'shop',
          type: 'merchant.credentials.set',
          now: outbox.now,
          data: { merchantId: 'm-1', connectionId },
        }),
      );
    },
    addInvitation: async (changes = {}) => {
      const invitation = { ...INVITED, now: outbox.now, ...changes };
      await store.write((transaction) => {
        createInvited(transaction, invitation);
        addInvitation(transaction, invitation);
      });
    },
  };
  return outbox;
}
