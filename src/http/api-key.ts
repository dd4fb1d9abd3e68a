/** Where a request carries its API key, and the query without it. */
import { SCOPES } from '../store/scope.js';
import type { Request } from './reply.js';

export const KEY_HEADER = 'x-api-key';
const KEY_PARAMETER = 'key';

const LETTER = KEY_PARAMETER.charCodeAt(0);
const PERCENT = 37;

/** What may carry a key. */
type KeyBearer = Pick<Request, 'query' | 'header'>;

interface Presented {
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

/** Whether a parameter begins as the key's does, if only with an escape. */
function mayHaveKey(query: string): boolean {
  let start = 0;
  do {
    const code = query.charCodeAt(start);
    if (code === LETTER || code === PERCENT) return true;
    start = query.indexOf('&', start) + 1;
  } while (start > 0);
  return false;
}

/** A query without the keys that stand in it, also where none is looked for. */
export function withoutKey(query: string): string {
  return mayHaveKey(query) ? takeFromQuery(query).query : query;
}

// Keys under names that are no key's: a lookup does not look for these, a log must not hold them.

const SECRET_NAME = /key|token|secret|passw|auth/i;
/** As keys are that are made here. */
const MADE_KEY = /situs_[\w-]{16}/i;
const ESCAPED = /%([0-9a-f]{2})/gi;

/** Decodes every escape of a byte, whatever the others are. */
function bytesDecoded(text: string): string {
  return text.replace(ESCAPED, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Whether a part of a query may hold a key, also behind a second `?` or an escaped `&`. */
function mayBeSecret(part: string): boolean {
  const text = bytesDecoded(part);
  return (
    MADE_KEY.test(text) ||
    text.split(/[&;?]/).some((each, index) => {
      const equals = each.indexOf('=');
      // What has no value is a name in front alone: behind it is a word of an address.
      const name = equals < 0 && index === 0 ? each : each.slice(0, Math.max(0, equals));
      return SECRET_NAME.test(name);
    })
  );
}

/** A query without the parts that hold a text, also where that is written with escapes. */
export function withoutText(query: string, text: string): string {
  if (text === '' || !(query.includes(text) || query.includes('%'))) return query;
  const parts = query.split('&');
  return parts.filter((part) => !bytesDecoded(part).includes(text)).join('&');
}

/** A query as it may be logged: without its keys, and without what may be one. */
export function withoutSecrets(query: string): string {
  const kept = withoutKey(query).split('&');
  return kept.filter((part) => !mayBeSecret(part)).join('&');
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

/** Whether a text is the key of a request, or written as keys are that are made here. */
export function isKeyOf(text: string, request: KeyBearer): boolean {
  return MADE_KEY.test(text) || presentedKey(request).key === text;
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

// Which scopes a key must have for each path: the only place that says so.

/** Bits of scopes: of each entry the key must have one. */
export type NeededScopes = readonly number[];

const { lookup, carts, merchants, credentials, operate } = SCOPES;

/** By how a path begins; the first that fits. */
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
  // Each job needs the scope of its rows besides.
  ['/bulk/', [lookup | carts]],
  // Whoever sends a message chooses what it is.
  ['/stream', [lookup, carts]],
];

/** "request" of "/request/". */
const FAMILIES = new Set(NEEDED.map(([beginning]) => beginning.split('/')[1]));

/** Paths that belong to operations with a key, also those that no operation has. */
export const KEYED = new RegExp(`^/(?:${[...FAMILIES].join('|')})(?:/|$)`);

/**
 * What a key needs for a path.
 * @throws Error for a path that is not listed, so that no route with keys is forgotten.
 */
export function neededScopes(path: string): NeededScopes {
  const found = NEEDED.find(([beginning]) => path.startsWith(beginning));
  if (found === undefined) throw new Error(`no scope is stated for ${path}`);
  return found[1];
}

/** What rows of a kind need. */
export function scopesOfRows(kind: string): NeededScopes {
  return kind === 'cart' ? [carts] : [lookup];
}

/** Bits that are missing: of these the key must have one; 0 when nothing is. */
export function missingScopes(has: number, needed: NeededScopes): number {
  for (const bits of needed) if ((has & bits) === 0) return bits;
  return 0;
}
