/** What the server sends on its own: events to the endpoint, mails to merchants. */
import type { Log } from '../log.js';
import { endpointOf, setEndpoint } from '../store/endpoint.js';
import type { EventVault } from '../store/event-seal.js';
import { outboxCounts, sealOldEvents } from '../store/outbox.js';
import type { Store } from '../store/store.js';
import { Deliverer } from './deliverer.js';
import { MailSender } from './mail.js';
import type { DeliverySettings } from './settings.js';
import { WebhookSender } from './webhook.js';

export interface DeliveryOptions {
  readonly store: Store;
  readonly vault: EventVault;
  readonly log: Log;
  readonly settings: DeliverySettings;
  /** Replaced in tests, as is the next one. */
  readonly now?: () => number;
  readonly random?: () => number;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #events: Deliverer<'event'> | null;
  readonly #mails: Deliverer<'mail'> | null;

  private constructor(options: DeliveryOptions) {
    const { settings: { webhook, mail } } = options;
    this.#options = options;
    const { store } = options;
    this.#events = webhook === null ? null : new Deliverer({
      ...options,
      sender: new WebhookSender(webhook, options.vault),
      ready: () => endpointOf(store)?.disabledAt === null,
    });
    this.#mails = mail === null ? null : new Deliverer({
      ...options, sender: new MailSender(mail),
    });
  }

  /** Tells the store whether there is an endpoint; nothing is sent yet. */
  static async open(options: DeliveryOptions): Promise<Delivery> {
    const { store, vault, settings } = options;
    await setEndpoint(store, settings.webhook?.url ?? null);
    await sealOldEvents(store, vault);
    return new Delivery(options);
  }

  /** Begins to send. */
  start(): void {
    const { store, log } = this.#options;
    const disabledAt = endpointOf(store)?.disabledAt ?? null;
    if (disabledAt !== null) {
      log.warn('the endpoint is disabled', { since: new Date(disabledAt).toISOString() });
    }
    const { mails: { waiting } } = outboxCounts(store);
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
    await Promise.all([this.#events?.close(graceMs), this.#mails?.close(graceMs)]);
  }
}
