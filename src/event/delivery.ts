/**
 * What the server sends on its own: events to the endpoint, mails to merchants, each kind from its
 * outbox and from one place, the main thread of one of the servers on a store. A record leaves the
 * store after its outcome is known, so that it is sent at least once, whatever happens, unless
 * nobody is to be told any more.
 */
import type { Log } from '../log.js';
import { disableEndpoint, endpointId, endpointOf, setEndpoint } from '../store/endpoint.js';
import type { EventVault } from '../store/event-seal.js';
import { StoreFault } from '../store/fault.js';
import { countRecipient } from '../store/invited.js';
import type { Lease } from '../store/membership.js';
import { findMerchant, hasCredentials, statusOf } from '../store/merchants.js';
import { outboxCounts } from '../store/outbox-count.js';
import type { MailRecord } from '../store/outbox-record.js';
import { readdress, sealOldEvents } from '../store/outbox.js';
import type { Store, StoreTransaction } from '../store/store.js';
import { LimitReached } from '../store/transaction.js';
import { codeOf, failed, type Outcome } from './attempt.js';
import { Deliverer } from './deliverer.js';
import type { DeliverySettings } from './delivery-settings.js';
import { MailSender } from './mail.js';
import type { WebhookSender } from './webhook.js';

/**
 * What a mail that waited is to say now: its merchant may have been renamed, given another contact,
 * connected, switched or deleted since it was invited.
 */
function asOfNow(
  transaction: StoreTransaction,
  record: MailRecord,
  now: number,
): MailRecord | Outcome {
  const merchant = findMerchant(transaction, record.account, record.merchantId);
  if (
    merchant === null ||
    statusOf(merchant, hasCredentials(transaction, merchant)) !== 'provider_invited'
  ) {
    return { result: 'dropped' };
  }
  const {
    name: merchantName,
    contacts: { first: contactFirst = null, last: contactLast = null, email },
  } = merchant;
  if (email === undefined) {
    return failed('the merchant has no address any more', { result: 'refused' });
  }
  const current = { ...record, merchantName, contactFirst, contactLast, email };
  if (email !== record.email) {
    // Kept, so that the new address is counted once and not with each attempt.
    countRecipient(transaction, email, now);
    readdress(transaction, record, current);
  }
  return current;
}

/**
 * The mail with the merchant's names and address of this moment, or what came of it where it is not
 * to be sent: dropped when the merchant is no longer one that is invited. Read in a transaction,
 * which sees what other servers on the store have written. Never rejects.
 * @param now milliseconds since 1970
 */
async function currentMail(
  store: Store,
  record: MailRecord,
  now: number,
): Promise<MailRecord | Outcome> {
  try {
    return await store.write((transaction) => asOfNow(transaction, record, now), { quiet: true });
  } catch (error) {
    if (error instanceof LimitReached) return failed('its address had all invitations of a day');
    // A merchant that cannot be read may still be invited.
    return failed(
      error instanceof StoreFault ? codeOf(error) : 'its merchant cannot be read: it is damaged',
    );
  }
}

interface DeliveryOptions {
  readonly store: Store;
  readonly vault: EventVault;
  readonly log: Log;
  readonly settings: DeliverySettings;
  /** What one server does at a time; left out where there is one alone. */
  readonly lease?: (name: string) => Lease;
  /** Replaced in tests, as is the next one. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Loaded where it is set: its library takes long. */
async function senderOf({ settings, vault }: DeliveryOptions): Promise<WebhookSender | null> {
  if (settings.webhook === null) return null;
  const { WebhookSender } = await import('./webhook.js');
  return new WebhookSender(settings.webhook, vault);
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #events: Deliverer<'event'> | null;
  readonly #mails: Deliverer<'mail'> | null;
  #closed: Promise<unknown> | null = null;

  private constructor(options: DeliveryOptions, events: WebhookSender | null) {
    const {
      store,
      settings: { mail, webhook },
    } = options;
    this.#options = options;
    const own = endpointId(webhook?.url ?? '');
    this.#events =
      events === null
        ? null
        : new Deliverer({
            ...options,
            sender: events,
            // A server that was started later may have another URL: events go to that one.
            ready: () => {
              const endpoint = endpointOf(store);
              return endpoint?.id === own && endpoint.disabledAt === null;
            },
            gone: (transaction, now) => disableEndpoint(transaction, own, now),
          });
    this.#mails =
      mail === null
        ? null
        : new Deliverer({
            ...options,
            sender: new MailSender(mail, (record, now) => currentMail(store, record, now)),
          });
  }

  /** Tells the store whether there is an endpoint; nothing is sent yet. */
  static async open(options: DeliveryOptions): Promise<Delivery> {
    const { store, vault, settings } = options;
    await setEndpoint(store, settings.webhook?.url ?? null);
    await sealOldEvents(store, vault);
    return new Delivery(options, await senderOf(options));
  }

  /** Begins to send. */
  start(): void {
    const { store, log } = this.#options;
    const disabledAt = endpointOf(store)?.disabledAt ?? null;
    if (disabledAt !== null) {
      log.warn('the endpoint is disabled', { since: new Date(disabledAt).toISOString() });
    }
    const {
      mails: { waiting },
    } = outboxCounts(store);
    if (this.#mails === null && waiting > 0) {
      log.warn('mails wait for SITUS_SMTP_URL', { waiting });
    }
    this.#events?.start();
    this.#mails?.start();
  }

  /** Resolves when no attempt is under way. */
  async idle(): Promise<void> {
    await Promise.all([this.#events?.idle(), this.#mails?.idle()]);
  }

  /** Starts what is due, without waiting for the next look. */
  look(): void {
    this.#events?.look();
    this.#mails?.look();
  }

  /** Stops; attempts under way get so long to end and are repeated after the next start if not. */
  async close(graceMs: number): Promise<void> {
    this.#closed ??= Promise.all([this.#events?.close(graceMs), this.#mails?.close(graceMs)]);
    await this.#closed;
  }
}
