/**
 * What the server sends by itself: events to the endpoint and mails to merchants, each kind from
 * its outbox, by the main thread of one of the servers on a store. A record stays in the store
 * until its outcome is known, so every message is sent at least once, unless it has no receiver any
 * more.
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
import { type MailOptions, MailSender, parseMailServer } from './mail.js';
import type { WebhookOptions, WebhookSender } from './webhook.js';
import type { Config } from '../config.js';
import { readTarget } from '../provider/guard.js';
import { parseMailbox } from '../base/mail-address.js';
import { parseSecrets } from './event-signature.js';

// Settings of events and mails, which are all checked when the server starts.

export const URL_CHARS_MAX = 2_048;

type DeliveryConfig = Pick<
  Config,
  'webhookUrl' | 'webhookSecret' | 'smtpUrl' | 'mailFrom' | 'inviteUrl' | 'allowPrivateNetwork'
>;

export interface DeliverySettings {
  /** Null where no events are to be sent. */
  readonly webhook: WebhookOptions | null;
  /** Null where no mails are to be sent; they stay in the outbox. */
  readonly mail: MailOptions | null;
}

/**
 * Why a URL is no endpoint, or null. Its query may contain a secret of the receiver, so only the
 * part before it is given to the guard.
 */
function endpointRefusal(text: string, allowPrivate: boolean): string | null {
  if (text.length > URL_CHARS_MAX) return 'is too long';
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('#')) return 'is not a URL';
  const target = readTarget(text.split('?', 1)[0] ?? '', allowPrivate);
  return target.kind === 'refused' ? target.why : null;
}

function webhookOf(config: DeliveryConfig): WebhookOptions | null {
  const { webhookUrl: url, webhookSecret, allowPrivateNetwork: allowPrivate } = config;
  const signing = webhookSecret === null ? null : parseSecrets(webhookSecret);
  if (signing?.kind === 'refused') throw new Error(`SITUS_WEBHOOK_SECRET ${signing.why}`);
  if (url === null) return null;
  const refused = endpointRefusal(url, allowPrivate);
  if (refused !== null) throw new Error(`SITUS_WEBHOOK_URL ${refused}`);
  if (signing === null) throw new Error('SITUS_WEBHOOK_URL needs SITUS_WEBHOOK_SECRET');
  return { url, secrets: signing.secrets, guard: { allowPrivate } };
}

function mailOf({ smtpUrl, mailFrom, inviteUrl: link }: DeliveryConfig): MailOptions | null {
  const from = mailFrom === null ? null : parseMailbox(mailFrom);
  if (mailFrom !== null && from === null) {
    throw new Error('SITUS_MAIL_FROM must be an address, or a name and <address>');
  }
  if (
    link !== null &&
    (link.length > URL_CHARS_MAX || !/^https?:\/\/[\x21-\x7e]+$/.test(link) || !URL.canParse(link))
  ) {
    throw new Error('SITUS_INVITE_URL must be an http or https URL');
  }
  if (smtpUrl === null) return null;
  const server = parseMailServer(smtpUrl);
  if (server === null) {
    throw new Error('SITUS_SMTP_URL must be smtp:// or smtps://, user:password@ if any, host:port');
  }
  if (from === null) throw new Error('SITUS_SMTP_URL needs SITUS_MAIL_FROM');
  return { server, from, link };
}

/**
 * Reads the settings.
 * @throws Error that names the setting and repeats nothing of its value.
 */
export function readDeliverySettings(config: DeliveryConfig): DeliverySettings {
  return { webhook: webhookOf(config), mail: mailOf(config) };
}

/**
 * A waiting mail with the merchant's present name and address, or the outcome of one that is not to
 * be sent. Since it was invited, the merchant may have been renamed, given another contact,
 * connected, deleted, or switched and back with another invitation or none.
 */
function asOfNow(
  transaction: StoreTransaction,
  record: MailRecord,
  now: number,
): MailRecord | Outcome {
  const merchant = findMerchant(transaction, record.account, record.merchantId);
  if (
    merchant === null ||
    statusOf(merchant, hasCredentials(transaction, merchant)) !== 'provider_invited' ||
    (merchant.invitation ?? record.id) !== record.id
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
    // The new address is stored, so that it is counted once and not with each attempt.
    countRecipient(transaction, email, now);
    readdress(transaction, record, current);
  }
  return current;
}

/**
 * The mail with the merchant's present name and address, or the outcome of one that is not to be
 * sent, such as `dropped` when the merchant is not invited any more. Reads in a transaction, which
 * sees what other servers on the store have written. Never rejects.
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
    // The mail is kept for another attempt: a merchant whose record cannot be read may still be
    // invited.
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
  /** Gives the lease that one of several servers holds; absent where there is only one. */
  readonly lease?: (name: string) => Lease;
  /** Replaced in tests, as is `random`. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/**
 * The sender of events, or null. Its library takes long to load, so it is loaded only where events
 * are set.
 */
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
            // A server that was started later may have set another URL. Events then go to that one,
            // and this server leaves them to it.
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

  /** Records in the store whether there is an endpoint; sends nothing yet. */
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

  /** Checks for records that are due now, without waiting for the next interval. */
  look(): void {
    this.#events?.look();
    this.#mails?.look();
  }

  /**
   * Stops. Attempts under way have `graceMs` to end; those cut short are repeated after the next
   * start.
   */
  async close(graceMs: number): Promise<void> {
    this.#closed ??= Promise.all([this.#events?.close(graceMs), this.#mails?.close(graceMs)]);
    await this.#closed;
  }
}
