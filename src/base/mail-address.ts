/** Mail addresses, checked where one is accepted and where a mail is sent. */

/** Limits of RFC 5321, 4.5.3.1. */
const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 255;

/**
 * Excludes spaces, control characters and all characters that have a meaning in a list of
 * addresses.
 */
const LOCAL = /^[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]\\,;:"]+$/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;

/** Whether a text is one plain address, such as "jane@shop.example". */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return (
    local.length <= LOCAL_CHARS_MAX &&
    domain.length <= DOMAIN_CHARS_MAX &&
    LOCAL.test(local) &&
    DOMAIN.test(domain) &&
    !domain.includes('..')
  );
}

const NAME_CHARS_MAX = 100;

/** What may stand in the address fields of a mail. */
export interface Mailbox {
  /** Empty where there is no name. */
  readonly name: string;
  readonly address: string;
}

/**
 * Parses "jane@shop.example" or "Jane's Shop <jane@shop.example>"; null when the text is neither.
 */
export function parseMailbox(text: string): Mailbox | null {
  const match = /^(?:([^<>\p{Cc}]*?) *<([^<>]+)>|([^<>]+))$/u.exec(text);
  const [name, address] = [match?.[1] ?? '', match?.[2] ?? match?.[3] ?? ''];
  return isMailAddress(address) && name.length <= NAME_CHARS_MAX ? { name, address } : null;
}

/** The part of an address after the last @. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
