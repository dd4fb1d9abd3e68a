/** Scopes: what a key may be used for, whatever its plan includes. */

/** By name; the values are the bits of a key's scopes. */
export const SCOPES = {
  /** Rates and product codes, one by one, in files and in streams of messages. */
  lookup: 1,
  /** Carts, one by one, in files and in streams; their orders, refunds and certificates. */
  carts: 2,
  /** Merchants and their nexus. */
  merchants: 4,
  /** Credentials of merchants with the compliance provider. */
  credentials: 8,
  /** How much of the service is used. */
  operate: 16,
} as const;
export type Scope = keyof typeof SCOPES;

/** What a key has that was made without naming any, or before there were scopes. */
export const ALL_SCOPES = Object.values(SCOPES).reduce((bits, bit) => bits | bit, 0);

/** Tells a scope's name from any other word. */
function isScope(text: string): text is Scope {
  return Object.hasOwn(SCOPES, text);
}

/** The bits of several scopes. */
export function scopeBits(scopes: readonly Scope[]): number {
  return scopes.reduce((bits, name) => bits | SCOPES[name], 0);
}

/** The scopes of some bits. */
export function scopesOfBits(bits: number): readonly Scope[] {
  return Object.entries(SCOPES)
    .filter(([, bit]) => (bits & bit) !== 0)
    .map(([name]) => name)
    .filter(isScope);
}
