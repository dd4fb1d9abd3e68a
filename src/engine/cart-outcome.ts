/** What a cart comes to: tax for every line, or why it cannot be told. */
import type { Failure } from '../failure.js';
import type { DateInt } from '../tax/date.js';
import type { Rate } from '../tax/rate.js';
import type { CartExplanation, LineExplanation } from './cart-explanation.js';
import type { Precision } from './situs.js';

export interface LineOutcome {
  readonly index: number;
  readonly itemId: string;
  /** Tax in 10⁻⁹ dollars, rounded to the digits asked for. */
  readonly amount: bigint;
  /**
   * Tax before rounding ÷ (price × quantity), in parts per billion, to five decimals (a tie goes
   * up). Where price × quantity is zero: what the rules would take of a dollar.
   */
  readonly rate: Rate;
  /** Null unless asked for. */
  readonly explain: LineExplanation | null;
}

/** Where the cart is taxed and what that rests on. */
export interface CartMarks {
  /** Id of the dataset. */
  readonly dataset: string;
  /** Calendar date of the sale at the destination. */
  readonly date: DateInt;
  /** Two-letter code of the state whose rules hold. */
  readonly state: string;
  /** Which place the tax follows; `mixed` where its parts follow both. */
  readonly sourcing: 'origin' | 'destination' | 'mixed';
  /** The weakest precision among the places that the tax rests on. */
  readonly precision: Precision;
  /** Whether a rate behind the amounts is an estimate. */
  readonly estimated: boolean;
  /** Whether the date lies after the last day that a list behind the rates was published for. */
  readonly stale: boolean;
}

export interface CartOutcome {
  readonly kind: 'cart';
  readonly marks: CartMarks;
  /** In the order of the query. */
  readonly lines: readonly LineOutcome[];
  /** Sum of the lines' amounts, 10⁻⁹ dollars. */
  readonly total: bigint;
  /** Null unless asked for. */
  readonly explain: CartExplanation | null;
}

/**
 * Why a cart has no answer:
 * - `origin`, `destination`: the place cannot be located; `failure` has the kind and the detail.
 * - `rate`: a rate or rule that the amount depends on is not known.
 */
export interface CartRefusal {
  readonly kind: 'refusal';
  readonly reason: 'origin' | 'destination' | 'rate';
  /** Position of the line that it concerns, from 0; null for the whole cart. */
  readonly line: number | null;
  /** `no-result` or `address-incomplete` with a sentence a person can act on. */
  readonly failure: Failure;
}

/** Tells a refusal from an outcome. */
export function isRefusal(answer: CartOutcome | CartRefusal): answer is CartRefusal {
  return answer.kind === 'refusal';
}
