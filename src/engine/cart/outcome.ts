/** What a cart comes to: tax for every line, or why it cannot be told. */
import type { DateInt } from '../../tax/date.js';
import type { Exact } from '../../tax/exact.js';
import type { Rate } from '../../tax/rate.js';
import type { Precision } from '../situs.js';

export interface LineOutcome {
  readonly index: number;
  readonly itemId: string;
  /** Tax in 10⁻⁹ dollars, rounded to the digits asked for. */
  readonly amount: Exact;
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
  /** Codes that no rule is held for and that were taxed as general goods, in the order of lines. */
  readonly unruled: readonly string[];
  /** Whether the date lies after the last day that a list behind the rates was published for. */
  readonly stale: boolean;
  /** Whether the lists behind the rates are known to lack districts. */
  readonly partial: boolean;
}

export interface CartOutcome {
  readonly kind: 'cart';
  readonly marks: CartMarks;
  /** In the order of the query. */
  readonly lines: readonly LineOutcome[];
  /** Sum of the lines' amounts, 10⁻⁹ dollars. */
  readonly total: Exact;
  /** Null unless asked for. */
  readonly explain: CartExplanation | null;
}

/** A list or fact that a figure rests on. */
export type SourceNote = {
  readonly name: string;
  /** YYYY-MM-DD, "" where the source gives none. */
  readonly asOf: string;
  /** Statute, rule or list, as the source cites it; "" where it cites none. */
  readonly citation: string;
};

/** A rule that was considered for a line. */
export interface RuleNote {
  /** "product", "threshold", "holiday", "freight", "meal", "single-article", "sourcing" … */
  readonly rule: string;
  readonly applied: boolean;
  /** Why it applied or did not. */
  readonly why: string;
  readonly source: SourceNote | null;
}

/**
 * One jurisdiction's part of a line: tax = base × rate + fixed. Amounts are dollars, as decimals
 * or, where no decimal is exact, as fractions "n/d".
 */
export interface PartNote {
  readonly level: string;
  readonly jurisdiction: string;
  readonly code: string | null;
  /** Which place it was taken from. */
  readonly place: 'origin' | 'destination';
  /** The ordinary rate of the jurisdiction there, a decimal fraction; "0" for a tax apart. */
  readonly ordinaryRate: string;
  /** The rate applied to the base. */
  readonly rate: string;
  /** Taxed part of price × quantity; of a delivery charge, its share by the goods. */
  readonly base: string;
  /** What is not a rate on the base: a tax by volume, or what a cap leaves. */
  readonly fixed: string;
  readonly tax: string;
  readonly source: SourceNote | null;
}

export interface LineExplanation {
  readonly index: number;
  readonly price: string;
  readonly quantity: string;
  /** The code whose rules hold: "00000" for general goods. */
  readonly tic: string;
  readonly parts: readonly PartNote[];
  readonly rules: readonly RuleNote[];
  /** Tax before rounding: the sum of the parts. */
  readonly exact: string;
  readonly amount: string;
}

/** How a place of the cart was found. */
export interface PlaceNote {
  readonly address: string;
  /** "" where only its state mattered. */
  readonly normalizedAddress: string;
  readonly state: string;
  readonly county: string;
  readonly city: string;
  readonly precision: string;
  /** Tax area of the dataset; null where only the state mattered. */
  readonly area: number | null;
}

export interface CartExplanation {
  readonly dataset: string;
  /** YYYY-MM-DD at the destination, and the zone whose calendar it is. */
  readonly date: string;
  readonly timeZone: string;
  readonly origin: PlaceNote;
  readonly destination: PlaceNote;
  readonly sourcing: RuleNote;
  readonly rounding: {
    readonly mode: string;
    readonly level: string;
    readonly digits: number;
  };
  readonly total: string;
}
