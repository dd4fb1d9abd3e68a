/** A request of the HTTP server of Node.js, with its fields as they were sent. */
import type { IncomingMessage } from 'node:http';
import type { RawRequest } from './transport.js';

const NOT_ASCII = /[^\0-\x7f]/;

/** Bytes that Node.js tells one a character, as the UTF-8 that they are. */
function utf8(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}

/** Names of fields that are asked for in bytes, which the native server takes faster. */
const names = new WeakMap<ArrayBuffer, string>();

/** The text of a name that is given in either way. */
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

  constructor(message: IncomingMessage) {
    this.#message = message;
    const url = utf8(message.url ?? '');
    const mark = url.indexOf('?');
    this.#path = mark < 0 ? url : url.slice(0, mark);
    this.#query = mark < 0 ? undefined : url.slice(mark + 1);
  }

  /** The first field of the name, as the native server has it; Node.js would join several. */
  getHeader(lowerCaseName: string | ArrayBuffer): string {
    const wanted = nameOf(lowerCaseName);
    const { rawHeaders } = this.#message;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!;
      if (name.length === wanted.length && name.toLowerCase() === wanted) {
        return utf8(rawHeaders[at + 1]!);
      }
    }
    return '';
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
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      each(rawHeaders[at]!.toLowerCase(), utf8(rawHeaders[at + 1]!));
    }
  }
}
