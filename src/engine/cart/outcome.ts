/** The query for a cart, and its outcome: the tax of every line, or a refusal. */
import type { DateInt } from '../../tax/date.js';
import type { Exact, RoundingLevel, RoundingMode } from '../../tax/exact.js';
import type { Rate } from '../../tax/rate.js';
import type { Precision, RateRange } from '../situs.js';

// The query, after it was read and checked.

/** Lines a cart may have (specification, cart calculate). */
export const CART_LINES_MAX = 250;

/** Highest quantity (contract of the cart). */
export const QUANTITY_MAX = 99_999.9999;
/** Highest product code. */
export const TIC_MAX = 100_000;

/** Quantities are integers in units of 1/10,000: 1.5 is 15_000. */
export const QUANTITY_ONE = 10_000;

/** An address in parts, as merchant carts give it; a part that is missing is "". */
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
  /** The caller's own number for the line. Lines are answered in the order of the query. */
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
  /** `line` rounds each line by itself, `cart` the total, whose units are spread over the lines. */
  readonly level: RoundingLevel;
  /** Decimals of a dollar that amounts are rounded to. */
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

export interface LineOutcome {
  readonly index: number;
  readonly itemId: string;
  /** Tax in 10⁻⁹ dollars, rounded to the digits asked for. */
  readonly amount: Exact;
  /**
   * Tax before rounding ÷ (price × quantity), in parts per billion, rounded to five decimals (a tie
   * goes up). Where price × quantity is zero: the rate that the rules would take of a dollar.
   */
  readonly rate: Rate;
  /** Null unless asked for. */
  readonly explain: LineExplanation | null;
}

/** Where the cart is taxed, and how reliable that is. */
export interface CartMarks {
  /** Id of the dataset. */
  readonly dataset: string;
  /** Calendar date of the sale at the destination. */
  readonly date: DateInt;
  /** Two-letter code of the state whose rules hold. */
  readonly state: string;
  /** Which place the tax follows; `mixed` where it follows both for different parts. */
  readonly sourcing: 'origin' | 'destination' | 'mixed';
  /** The weakest precision among the places that the tax depends on. */
  readonly precision: Precision;
  /**
   * With precision `city`: the combined rates on general goods that the assumed places may have
   * instead. Null where no place is assumed.
   */
  readonly assumed: RateRange | null;
  /** Whether one of the rates is an estimate. */
  readonly estimated: boolean;
  /** Codes without a rule, which were taxed as general goods, in the order of lines. */
  readonly unruled: readonly string[];
  /** Whether the date is after the last day that a list of the rates was published for. */
  readonly stale: boolean;
  /** Whether the lists of the rates are known to lack districts. */
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

/** A list or fact that a figure comes from. */
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
  /** Why the rule applied or did not. */
  readonly why: string;
  readonly source: SourceNote | null;
}

/**
 * One jurisdiction's part of a line: tax = base × rate + fixed. Amounts are in dollars, as decimals
 * or, where a decimal would not be exact, as fractions "n/d".
 */
export interface PartNote {
  readonly level: string;
  readonly jurisdiction: string;
  readonly code: string | null;
  /** Which place the row was taken from. */
  readonly place: 'origin' | 'destination';
  /** The jurisdiction's ordinary rate there as a decimal fraction; "0" for a separate tax. */
  readonly ordinaryRate: string;
  /** The rate applied to the base. */
  readonly rate: string;
  /** Taxed part of price × quantity; for a delivery charge, the share that the goods determine. */
  readonly base: string;
  /** What is not base × rate: a tax by volume, or what a cap leaves. */
  readonly fixed: string;
  readonly tax: string;
  readonly source: SourceNote | null;
}

export interface LineExplanation {
  readonly index: number;
  readonly price: string;
  readonly quantity: string;
  /** The code whose rules are used: "00000" for general goods. */
  readonly tic: string;
  readonly parts: readonly PartNote[];
  readonly rules: readonly RuleNote[];
  /** Tax before rounding: the sum of the parts. */
  readonly exact: string;
  readonly amount: string;
}

/** The lowest and the highest combined rate that a place may have, as decimal fractions. */
export type RangeNote = {
  readonly lowest: string;
  readonly highest: string;
};

/** How a place of the cart was found. */
export interface PlaceNote {
  readonly address: string;
  /** "" where only its state mattered. */
  readonly normalizedAddress: string;
  readonly state: string;
  readonly county: string;
  readonly city: string;
  readonly precision: string;
  /** With precision "city": the range of rates that the place may have instead. */
  readonly assumed?: RangeNote;
  /** Tax area of the dataset; null where only the state mattered. */
  readonly area: number | null;
}

export interface CartExplanation {
  readonly dataset: string;
  /** YYYY-MM-DD at the destination, and the time zone that determines it. */
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
