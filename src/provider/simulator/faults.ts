/** Faults of the simulated provider: at seeded rates, or asked for by the request. */
import type { Random } from './random.js';

export const FAULTS = ['slow', 'reset', '429', '500', 'garbage', 'large'] as const;
export type FaultName = (typeof FAULTS)[number];

/** Header field of a request that asks for a fault. */
export const FAULT_HEADER = 'x-simulate-fault';

/** Share of requests that meet each fault, 0 to 1. */
export type FaultRates = Partial<Readonly<Record<FaultName, number>>>;

export function isFault(text: string): text is FaultName {
  return (FAULTS as readonly string[]).includes(text);
}

/**
 * Reads "slow=0.1,429=0.05".
 * @throws Error in a sentence when a name or share is wrong, or all of them are more than 1.
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
