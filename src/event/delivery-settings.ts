/** The settings of events and mails, read to the end when the server starts. */
import type { Config } from '../config.js';
import { readTarget } from '../provider/guard.js';
import { parseMailServer, type MailOptions } from './mail.js';
import { parseMailbox } from '../base/mail-address.js';
import { parseSecrets } from './event-signature.js';
import type { WebhookOptions } from './webhook.js';

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
