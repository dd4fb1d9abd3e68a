/** What a cart asks, after the wire has read and checked it. */
import type { Exact, RoundingLevel, RoundingMode } from '../../tax/exact.js';

/** Lines a cart may have (specification, cart calculate). */
export const CART_LINES_MAX = 250;

/** Quantities are integers of a ten-thousandth: 1.5 is 15_000. */
export const QUANTITY_ONE = 10_000;

/** An address in its parts, as merchant carts give it; empty text where not given. */
export interface SplitPlace {
  readonly kind: 'split';
  readonly line1: string;
  readonly line2: string;
  readonly city: string;
  /** Two-letter code or name. */
  readonly state: string;
  /** Five digits or ZIP+4. */
  readonly zip: string;
}

/** An address on one line. */
interface LinePlace {
  readonly kind: 'line';
  readonly address: string;
}

export type CartPlace = SplitPlace | LinePlace;

export interface CartLine {
  /** The caller's own number of the line; lines are answered in the order given. */
  readonly index: number;
  readonly itemId: string;
  /** Price of one unit in 10⁻⁹ dollars, 0 or more. */
  readonly price: Exact;
  /** Number of units in 10⁻⁴, 0 or more. */
  readonly quantity: number;
  /** Five digits; null for general goods. */
  readonly tic: string | null;
}

export interface CartRounding {
  readonly mode: RoundingMode;
  /** Each line on its own, or the cart's total with its units spread over the lines. */
  readonly level: RoundingLevel;
  /** Decimals of a dollar that amounts keep. */
  readonly digits: 2 | 5;
}

/** A cart in US dollars. */
export interface CartQuery {
  /** Moment of the sale in milliseconds since 1970 UTC; null for now. */
  readonly instantMs: number | null;
  readonly origin: CartPlace;
  readonly destination: CartPlace;
  /** At most CART_LINES_MAX. */
  readonly lines: readonly CartLine[];
  readonly rounding: CartRounding;
  readonly explain: boolean;
}
