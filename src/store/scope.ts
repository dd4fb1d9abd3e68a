/** Scopes: what a key may be used for, regardless of its plan. */

/** Scopes by name; the values are bits of a key's scopes. */
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

/** The scopes of a key that was made without naming any, or before scopes existed. */
export const ALL_SCOPES = Object.values(SCOPES).reduce((bits, bit) => bits | bit, 0);

/** The bits of some names in a table. */
export function bitsOf<Name extends string>(
  table: Readonly<Record<Name, number>>,
  names: readonly Name[],
): number {
  return names.reduce((bits, name) => bits | table[name], 0);
}

/** The names in a table that bits stand for. */
export function namesOfBits<Name extends string>(
  table: Readonly<Record<Name, number>>,
  bits: number,
): readonly Name[] {
  return (Object.keys(table) as Name[]).filter((name) => (bits & table[name]) !== 0);
}

/** The bits of several scopes. */
export function scopeBits(scopes: readonly Scope[]): number {
  return bitsOf(SCOPES, scopes);
}

/** The scopes that bits stand for. */
export function scopesOfBits(bits: number): readonly Scope[] {
  return namesOfBits(SCOPES, bits);
}
