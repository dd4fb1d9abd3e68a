/** A request of the HTTP server of Node.js, with its fields as they were sent. */
import type { IncomingMessage } from 'node:http';
import { bufferOf } from '../base/growing-bytes.js';
import type { RawRequest } from './transport.js';

const NOT_ASCII = /[^\0-\x7f]/;

/** Decodes a text in which Node.js has a character for each byte, as UTF-8. */
function utf8(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}

/** A text in the form that Node.js takes: a character for each byte. */
export function binary(value: string | Uint8Array): string {
  if (typeof value !== 'string') return bufferOf(value).toString('latin1');
  return NOT_ASCII.test(value) ? Buffer.from(value).toString('latin1') : value;
}

/** Texts of field names that are given as bytes, the form that the native server takes faster. */
const names = new WeakMap<ArrayBuffer, string>();

/** The name of a field as text, whichever form it is given in. */
export function nameOf(name: string | ArrayBuffer): string {
  if (typeof name === 'string') return name;
  let text = names.get(name);
  if (text === undefined) {
    text = Buffer.from(name).toString('latin1');
    names.set(name, text);
  }
  return text;
}

export class NodeRequest implements RawRequest {
  readonly #message: IncomingMessage;
  readonly #path: string;
  readonly #query: string | undefined;
  /** Lower-case names of the fields. */
  readonly #names: readonly string[];

  constructor(message: IncomingMessage) {
    this.#message = message;
    const url = utf8(message.url ?? '');
    const mark = url.indexOf('?');
    this.#path = mark < 0 ? url : url.slice(0, mark);
    this.#query = mark < 0 ? undefined : url.slice(mark + 1);
    const { rawHeaders } = message;
    const names: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) names.push(rawHeaders[at]!.toLowerCase());
    this.#names = names;
  }

  /** The first field of a name, as the native server returns; Node.js would join several. */
  getHeader(lowerCaseName: string | ArrayBuffer): string {
    const at = this.#names.indexOf(nameOf(lowerCaseName));
    return at < 0 ? '' : utf8(this.#message.rawHeaders[2 * at + 1] ?? '');
  }

  getUrl(): string {
    return this.#path;
  }

  getCaseSensitiveMethod(): string {
    return this.#message.method ?? '';
  }

  getQuery(): string | undefined {
    return this.#query;
  }

  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#message;
    this.#names.forEach((name, at) => each(name, utf8(rawHeaders[2 * at + 1] ?? '')));
  }

  /** How many fields have this lower-case name. */
  count(wanted: string): number {
    let count = 0;
    for (const name of this.#names) if (name === wanted) count += 1;
    return count;
  }
}
