/** Faults of the simulated provider: at seeded rates, or as a request asks. */
/** Numbers that look random and are the same for the same seed. */

const STEP = 0x6d2b79f5;
const RANGE = 2 ** 32;

export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** An id in the form of a UUID. */
  uuid(): string;
}

/** A generator with 32 bits of state, after mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / RANGE;
  };
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  return {
    next,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  };
}

/** A number less than `below`, always the same for a text (FNV-1a). */
export function hashOf(text: string, below: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % below;
}

export const FAULTS = ['slow', 'reset', '429', '500', 'garbage', 'large'] as const;
export type FaultName = (typeof FAULTS)[number];

/** Header field of a request that asks for a fault. */
export const FAULT_HEADER = 'x-simulate-fault';

/** Which share of the requests meets each fault, from 0 to 1. */
export type FaultRates = Partial<Readonly<Record<FaultName, number>>>;

/** Tells the name of a fault from any other text. */
export function isFault(text: string): text is FaultName {
  return (FAULTS as readonly string[]).includes(text);
}

/**
 * Parses a text like "slow=0.1,429=0.05".
 * @throws Error in a sentence when a name or share is wrong, or the shares add up to more than 1.
 */
export function parseFaults(text: string): FaultRates {
  const rates: Partial<Record<FaultName, number>> = {};
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [name = '', share = ''] = part.split('=');
    const rate = Number(share);
    if (!isFault(name) || !/^\d*\.?\d+$/.test(share) || rate > 1) {
      throw new Error(`a fault is one of ${FAULTS.join(', ')} with a share of 0 to 1: slow=0.1`);
    }
    rates[name] = rate;
  }
  if (Object.values(rates).reduce((sum, rate) => sum + rate, 0) > 1) {
    throw new Error('the shares of all faults are more than 1');
  }
  return rates;
}

/** The fault of the next request; null for none. */
export function drawFault(rates: FaultRates, random: Random): FaultName | null {
  let at = random.next();
  for (const name of FAULTS) {
    at -= rates[name] ?? 0;
    if (at < 0) return name;
  }
  return null;
}
