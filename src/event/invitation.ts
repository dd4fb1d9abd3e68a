/** The mail that invites a merchant to set up its account with the compliance provider. */
import type { MailRecord } from '../store/outbox-record.js';

/** Of a name, in a mail. */
const NAME_CHARS_MAX = 255;

export interface InvitationText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * A name in one line: control characters, line ends and marks that turn the direction of writing
 * become spaces, so that it can end no header, add no paragraph and hide nothing.
 */
export function nameLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return [...line].slice(0, NAME_CHARS_MAX).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;',
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
  const way = link === null
    ? 'To set it up, turn to those who registered you here.' : 'To set it up, follow this link:';
  const end = 'If you did not expect this, do nothing: nothing happens without you.';
  const html = [greeting, ...paragraphs, way].map((text) => `<p>${escaped(text)}</p>`);
  const anchor = link === null
    ? [] : [`<p><a href="${escaped(link)}">${escaped(link)}</a></p>`];
  return {
    subject: `Set up the tax compliance account of ${merchant}`,
    text: [
      greeting, ...paragraphs, way, ...(link === null ? [] : [link]), end, '',
    ].join('\n\n').trimEnd() + '\n',
    html: [
      '<!doctype html>', '<html lang="en"><body>', ...html, ...anchor, `<p>${escaped(end)}</p>`,
      '</body></html>', '',
    ].join('\n'),
  };
}
