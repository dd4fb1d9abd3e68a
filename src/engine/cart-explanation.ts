/**
 * How an amount came about, in plain values: text, numbers, lists. Decimals are text, so that the
 * object survives JSON without loss and every amount can be recomputed from it by hand.
 */

/** A list or fact that a figure rests on. */
export interface SourceNote {
  readonly name: string;
  /** YYYY-MM-DD, "" where the source gives none. */
  readonly asOf: string;
  /** Statute, rule or list, as the source cites it; "" where it cites none. */
  readonly citation: string;
}

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
