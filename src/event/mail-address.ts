/** What may stand in the address fields of a mail. */
import { isMailAddress } from '../base/mail-address.js';

const NAME_CHARS_MAX = 100;

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
