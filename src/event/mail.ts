/**
 * Writes the mail that invites a merchant to set up its account with the compliance provider, and
 * sends it by SMTP, with a new connection for each attempt.
 */
import type { MailRecord } from '../store/outbox-record.js';
import { isMailAddress, domainOf, type Mailbox } from '../base/mail-address.js';
import { codeOf, failed, type Outcome } from './attempt.js';

/** Longest name in a mail. */
const NAME_CHARS_MAX = 255;

interface InvitationText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * A name on one line. Control characters, line ends and marks that change the direction of writing
 * become spaces, so that a name can add no header or paragraph and hide nothing.
 */
export function nameLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return [...line].slice(0, NAME_CHARS_MAX).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '');
}

/** Writes the mail; `link` is where the account is set up, null when the operator gave none. */
export function invitationText(record: MailRecord, link: string | null): InvitationText {
  const merchant = nameLine(record.merchantName);
  const contact = nameLine(`${record.contactFirst ?? ''} ${record.contactLast ?? ''}`);
  const greeting = contact === '' ? 'Hello,' : `Hello ${contact},`;
  const paragraphs = [
    `${merchant} was registered here for sales tax, with you as its contact. A compliance ` +
      'provider takes care of its registration, filing and remittance.',
    'For that, an account with the compliance provider has to be set up.',
  ];
  const way =
    link === null
      ? 'To set it up, turn to those who registered you here.'
      : 'To set it up, follow this link:';
  const end = 'If you did not expect this, do nothing: nothing happens without you.';
  const html = [greeting, ...paragraphs, way].map((text) => `<p>${escaped(text)}</p>`);
  const anchor = link === null ? [] : [`<p><a href="${escaped(link)}">${escaped(link)}</a></p>`];
  return {
    subject: `Set up the tax compliance account of ${merchant}`,
    text:
      [greeting, ...paragraphs, way, ...(link === null ? [] : [link]), end, '']
        .join('\n\n')
        .trimEnd() + '\n',
    html: [
      '<!doctype html>',
      '<html lang="en"><body>',
      ...html,
      ...anchor,
      `<p>${escaped(end)}</p>`,
      '</body></html>',
      '',
    ].join('\n'),
  };
}

/** Longest time to connect, to be greeted, and between two answers. */
const CONNECT_MS_MAX = 10_000;
const SILENCE_MS_MAX = 20_000;
/** Longest time of the whole attempt. */
const ATTEMPT_MS_MAX = 60_000;

const SMTP_OK = 250;
const PORT_SUBMISSION = 587;
const PORT_TLS = 465;

/** The mail server that SITUS_SMTP_URL names. */
interface MailServer {
  readonly host: string;
  readonly port: number;
  /**
   * Whether TLS begins with the first byte (smtps). If not, it is begun where the server offers it.
   */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
}

export interface MailOptions {
  readonly server: MailServer;
  readonly from: Mailbox;
  /** Where a merchant sets up its account; null leaves the link out. */
  readonly link: string | null;
  /** Certificates of authorities that are trusted instead of the public ones. */
  readonly ca?: string;
  readonly silenceMs?: number;
}

/** Reads "smtp://user:password@host:port" or smtps; null when it is neither. */
export function parseMailServer(text: string): MailServer | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const { protocol, hostname, pathname, search, hash } = url;
  const secure = protocol === 'smtps:';
  if (!secure && protocol !== 'smtp:') return null;
  if (hostname === '' || (pathname !== '' && pathname !== '/') || `${search}${hash}` !== '') {
    return null;
  }
  try {
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? (secure ? PORT_TLS : PORT_SUBMISSION) : Number(url.port),
      secure,
      auth: user === '' && pass === '' ? null : { user, pass },
    };
  } catch {
    return null;
  }
}

/**
 * Commands whose refusal concerns this mail. A refusal of any other concerns who may send at all.
 */
const ABOUT_MAIL: ReadonlySet<string> = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

/**
 * The outcome of an attempt that ended in an error. The error's text is left out, since servers
 * repeat the address in it.
 */
function outcomeOf(error: unknown): Outcome {
  const fields = typeof error === 'object' && error !== null ? error : {};
  const status =
    'responseCode' in fields && typeof fields.responseCode === 'number'
      ? fields.responseCode
      : null;
  if (status === null) return failed(codeOf(error));
  const command = 'command' in fields && typeof fields.command === 'string' ? fields.command : '';
  const about = ABOUT_MAIL.has(command);
  return failed(`answered ${status}${about ? ` to ${command}` : ''}`, {
    status,
    ...(about && status >= 500 && status < 600 ? { result: 'refused' as const } : {}),
  });
}

/** Gives the mail as it is to be sent now, or the outcome where it is not to be sent. */
type CurrentMail = (record: MailRecord, now: number) => Promise<MailRecord | Outcome>;

export class MailSender {
  readonly kind = 'mail';
  readonly #options: MailOptions;
  readonly #current: CurrentMail;

  constructor(options: MailOptions, current: CurrentMail) {
    this.#options = options;
    this.#current = current;
  }

  /** Makes one attempt; `stop` cuts it short. Never rejects. */
  async send(waited: MailRecord, now: number, stop: AbortSignal): Promise<Outcome> {
    const record = await this.#current(waited, now);
    if ('result' in record) return record;
    if (!isMailAddress(record.email)) {
      return failed('the address is not one', { result: 'refused' });
    }
    const late = AbortSignal.timeout(ATTEMPT_MS_MAX);
    try {
      const transport = await this.#transport();
      await transport.sendMail({
        ...this.#message(record),
        signal: AbortSignal.any([late, stop]),
      });
      return { result: 'sent', status: SMTP_OK };
    } catch (error) {
      return stop.aborted ? { result: 'interrupted' } : outcomeOf(error);
    }
  }

  async close(): Promise<void> {}

  async #transport() {
    const { createTransport } = await import('nodemailer');
    const { server, ca, silenceMs = SILENCE_MS_MAX } = this.#options;
    const { host, port, secure, auth } = server;
    return createTransport({
      host,
      port,
      secure,
      ...(auth === null ? {} : { auth: { ...auth } }),
      // A password is never sent without encryption.
      requireTLS: auth !== null,
      connectionTimeout: CONNECT_MS_MAX,
      dnsTimeout: CONNECT_MS_MAX,
      greetingTimeout: Math.min(CONNECT_MS_MAX, silenceMs),
      socketTimeout: silenceMs,
      tls: {
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        ...(ca === undefined ? {} : { ca }),
      },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  #message(record: MailRecord) {
    const { from, link } = this.#options;
    const { id, createdAt, email } = record;
    return {
      from: { ...from },
      to: { name: '', address: email },
      ...invitationText(record, link),
      date: new Date(createdAt),
      // Every attempt has the same id, so that the receiver can recognize a mail that arrives
      // twice.
      messageId: `<${id}@${domainOf(from.address)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
  }
}
