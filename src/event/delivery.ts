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
import { type MailOptions, MailSender, parseMailServer } from './mail.js';
import type { WebhookOptions, WebhookSender } from './webhook.js';
import type { Config } from '../config.js';
import { readTarget } from '../provider/guard.js';
import { parseMailbox } from '../base/mail-address.js';
import { parseSecrets } from './event-signature.js';

// The settings of events and mails, read to the end when the server starts.

export const URL_CHARS_MAX = 2_048;

type DeliveryConfig = Pick<
  Config,
  'webhookUrl' | 'webhookSecret' | 'smtpUrl' | 'mailFrom' | 'inviteUrl' | 'allowPrivateNetwork'
>;

export interface DeliverySettings {
  /** Null where there are to be no events. */
  readonly webhook: WebhookOptions | null;
  /** Null where mails are to wait. */
  readonly mail: MailOptions | null;
}

/** A query may hold what the receiver tells its callers by; the guard reads what is before it. */
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
