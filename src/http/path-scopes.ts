/** Which scopes a key must have for each path: the only place that says so. */
import { SCOPES } from '../store/scope.js';

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
