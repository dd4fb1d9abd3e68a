/** Where a request carries its API key, and the query without it. */
import type { Request } from './reply.js';

export const KEY_HEADER = 'x-api-key';
const KEY_PARAMETER = 'key';

/** A letter of the parameter's name, written as an escape. */
const ESCAPED_LETTER = /%(?:6b|65|79)/i;

/** What may carry a key. */
export type KeyBearer = Pick<Request, 'query' | 'header'>;

export interface Presented {
  /** As the client meant it; empty when there is none. */
  readonly key: string;
  /** The raw query without any key parameter. */
  readonly query: string;
}

/** Decodes one part of a query string; text that cannot be decoded stays as it is. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function takeFromQuery(query: string): Presented {
  const kept: string[] = [];
  let key = '';
  for (const part of query.split('&')) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    if (decode(name) !== KEY_PARAMETER) kept.push(part);
    else if (key === '' && equals >= 0) key = decode(part.slice(equals + 1));
  }
  return { key, query: kept.join('&') };
}

function mayHaveKey(query: string): boolean {
  return query.includes(KEY_PARAMETER) || (query.includes('%') && ESCAPED_LETTER.test(query));
}

/** A query without the keys that stand in it, also where none is looked for. */
export function withoutKey(query: string): string {
  return mayHaveKey(query) ? takeFromQuery(query).query : query;
}

/**
 * Takes the key from the header or else from the lower-case `key` parameter. The parameter is cut
 * from the query in either case: no key travels further than this. With `headerOnly` the query is
 * not looked at.
 */
export function presentedKey(request: KeyBearer, headerOnly = false): Presented {
  const header = request.header(KEY_HEADER);
  const { query } = request;
  if (headerOnly || !mayHaveKey(query)) return { key: header, query };
  const taken = takeFromQuery(query);
  return header === '' ? taken : { key: header, query: taken.query };
}

/** Reads the key of each request once, for whoever asks for it several times in a row. */
export class KeyReader {
  #request: KeyBearer | null = null;
  #presented: Presented = { key: '', query: '' };

  /** What `presentedKey` says; a request is always read with the same `headerOnly`. */
  read(request: KeyBearer, headerOnly: boolean): Presented {
    if (this.#request !== request) {
      this.#presented = presentedKey(request, headerOnly);
      this.#request = request;
    }
    return this.#presented;
  }
}
