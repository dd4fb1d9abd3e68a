/** Finds the API key of a request and removes it from the query. */
import { SCOPES } from '../store/scope.js';
import type { Request } from './reply.js';

export const KEY_HEADER = 'x-api-key';
const KEY_PARAMETER = 'key';

const LETTER = KEY_PARAMETER.charCodeAt(0);
const PERCENT = 37;

/** The parts of a request that may carry a key. */
type KeyBearer = Pick<Request, 'query' | 'header'>;

interface Presented {
  /** The decoded key; empty where there is none. */
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

/** Whether the name of a parameter begins with the letter of the key's name, or with an escape. */
function mayHaveKey(query: string): boolean {
  let start = 0;
  do {
    const code = query.charCodeAt(start);
    if (code === LETTER || code === PERCENT) return true;
    start = query.indexOf('&', start) + 1;
  } while (start > 0);
  return false;
}

/** A query without the keys in it, also on routes where a key in the query does not count. */
export function withoutKey(query: string): string {
  return mayHaveKey(query) ? takeFromQuery(query).query : query;
}

// Secrets under other names than the key's: lookups ignore them, but a log must not contain them.

const SECRET_NAME = /key|token|secret|passw|auth/i;
/** The pattern of the keys that this service makes. */
const MADE_KEY = /situs_[\w-]{16}/i;
const ESCAPED = /%([0-9a-f]{2})/gi;

/**
 * Decodes every escaped byte by itself, so that one invalid escape does not keep others encoded.
 */
function bytesDecoded(text: string): string {
  return text.replace(ESCAPED, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Whether a part of a query may contain a key, also behind a second `?` or an escaped `&`. */
function mayBeSecret(part: string): boolean {
  const text = bytesDecoded(part);
  return (
    MADE_KEY.test(text) ||
    text.split(/[&;?]/).some((each, index) => {
      const equals = each.indexOf('=');
      // A text without "=" is a name only at the beginning of the part; later ones are words of an
      // address, which may contain `&`.
      const name = equals < 0 && index === 0 ? each : each.slice(0, Math.max(0, equals));
      return SECRET_NAME.test(name);
    })
  );
}

/** A query without the parts that contain a text, whether plain or escaped. */
export function withoutText(query: string, text: string): string {
  if (text === '' || !(query.includes(text) || query.includes('%'))) return query;
  const parts = query.split('&');
  return parts.filter((part) => !bytesDecoded(part).includes(text)).join('&');
}

/** A query as it may be logged: without keys, and without parts that may be secrets. */
export function withoutSecrets(query: string): string {
  const kept = withoutKey(query).split('&');
  return kept.filter((part) => !mayBeSecret(part)).join('&');
}

/**
 * Takes the key from the header, or else from the lower-case `key` parameter. The parameter is
 * removed from the query in either case, so that no key is passed on. With `headerOnly` the query
 * stays as it is.
 */
export function presentedKey(request: KeyBearer, headerOnly = false): Presented {
  const header = request.header(KEY_HEADER);
  const { query } = request;
  if (headerOnly || !mayHaveKey(query)) return { key: header, query };
  const taken = takeFromQuery(query);
  return header === '' ? taken : { key: header, query: taken.query };
}

/** Whether a text is the key of a request, or looks like a key that this service makes. */
export function isKeyOf(text: string, request: KeyBearer): boolean {
  return MADE_KEY.test(text) || presentedKey(request).key === text;
}

/** Reads the key of each request once, for callers that ask several times in a row. */
export class KeyReader {
  #request: KeyBearer | null = null;
  #presented: Presented = { key: '', query: '' };

  /** Returns what `presentedKey` does. A request is always read with the same `headerOnly`. */
  read(request: KeyBearer, headerOnly: boolean): Presented {
    if (this.#request !== request) {
      this.#presented = presentedKey(request, headerOnly);
      this.#request = request;
    }
    return this.#presented;
  }
}

// The scopes that a key needs for each path, which are stated here only.

/** A list of bit sets of scopes; of each set the key must have one scope. */
export type NeededScopes = readonly number[];

const { lookup, carts, merchants, credentials, operate } = SCOPES;

/** Needed scopes by the beginning of a path; the first entry that matches counts. */
const NEEDED: readonly (readonly [string, NeededScopes])[] = [
  ['/request/', [lookup]],
  ['/search/', [lookup]],
  ['/account/', [operate]],
  ['/calculate/', [carts]],
  ['/merchant/cart/', [carts]],
  ['/merchant/order/', [carts]],
  ['/merchant/refund/', [carts]],
  ['/merchant/cert/', [carts]],
  ['/merchant/credentials/', [credentials]],
  ['/merchant/', [merchants]],
  ['/bulk/lookup', [lookup]],
  ['/bulk/cart', [carts]],
  // A job also needs the scope of its rows.
  ['/bulk/', [lookup | carts]],
  // Both scopes, because the sender of each message chooses its kind.
  ['/stream', [lookup, carts]],
];

/** The first segments: "request" of "/request/". */
const FAMILIES = new Set(NEEDED.map(([beginning]) => beginning.split('/')[1]));

/** Matches paths of operations that need a key, and all other paths that begin like them. */
export const KEYED = new RegExp(`^/(?:${[...FAMILIES].join('|')})(?:/|$)`);

/**
 * The scopes that a key needs for a path.
 * @throws Error for a path that is not listed, so that no route with keys is forgotten.
 */
export function neededScopes(path: string): NeededScopes {
  const found = NEEDED.find(([beginning]) => path.startsWith(beginning));
  if (found === undefined) throw new Error(`no scope is stated for ${path}`);
  return found[1];
}

/** The scopes that rows of a kind need. */
export function scopesOfRows(kind: string): NeededScopes {
  return kind === 'cart' ? [carts] : [lookup];
}

/** The first set of scopes of which the key has none; 0 where it has all that it needs. */
export function missingScopes(has: number, needed: NeededScopes): number {
  for (const bits of needed) if ((has & bits) === 0) return bits;
  return 0;
}
