/** Mail addresses: asked where one is taken and where a mail is sent. */

/** RFC 5321, 4.5.3.1. */
const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 255;

/** No spaces, no control characters, nothing that means something in a list of addresses. */
const LOCAL = /^[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]\\,;:"]+$/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;

/** Tells one plain address, "jane@shop.example". */
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
  /** Empty when there is none. */
  readonly name: string;
  readonly address: string;
}

/** Reads "jane@shop.example" or "Jane's Shop <jane@shop.example>"; null when it is neither. */
export function parseMailbox(text: string): Mailbox | null {
  const match = /^(?:([^<>\p{Cc}]*?) *<([^<>]+)>|([^<>]+))$/u.exec(text);
  const [name, address] = [match?.[1] ?? '', match?.[2] ?? match?.[3] ?? ''];
  return isMailAddress(address) && name.length <= NAME_CHARS_MAX ? { name, address } : null;
}

/** The part after the last @. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
