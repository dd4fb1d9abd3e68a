/** Numbers that look random and are the same for the same seed. */

const STEP = 0x6d2b79f5;
const RANGE = 2 ** 32;

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** In the form of a UUID. */
  uuid(): string;
}

/** A generator of 32 bits of state, after mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / RANGE;
  };
  const hex = (digits: number): string => Array.from({ length: digits }, () =>
    Math.floor(next() * 16).toString(16)).join('');
  return {
    next,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  };
}

/** A number below `below` that belongs to a text (FNV-1a). */
export function hashOf(text: string, below: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % below;
}
