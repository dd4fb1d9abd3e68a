/** What the address parser reads out of one line. Text is upper case and without punctuation. */
export interface ParsedAddress {
  /** House number, normalized: "200", "12A", "12-34" (Queens), "N12W3456", "123 1/2"; or "". */
  readonly number: string;
  /**
   * Integer for order and ranges: 200. Hyphenated numbers (Queens, Oahu) count from 10,000,000 on,
   * so that no range of ordinary numbers contains them. -1 for dual grid numbers and where there is
   * no number.
   */
  readonly numberValue: number;
  /** What follows the integer: "A", "1/2" or "". */
  readonly numberSuffix: string;
  /** Last number of a written range "100-104" of ordinary numbers; -1 if none. */
  readonly numberHigh: number;
  /** N, S, E, W, NE, NW, SE, SW or "" */
  readonly preDirection: string;
  /**
   * The name without direction and suffix, abbreviations spelled out: "SPECTRUM CENTER", "COUNTY
   * HIGHWAY 12", "400".
   */
  readonly name: string;
  /** USPS standard suffix abbreviation ("DR", "ST") or "". */
  readonly suffix: string;
  readonly postDirection: string;
  /** "APT 4", "STE 200" or "". */
  readonly unit: string;
  /** City words as written, upper case, or "" */
  readonly city: string;
  /** Two-letter code or "" */
  readonly state: string;
  /** Another state, or another place, that the line names in its middle; "" if none. */
  readonly otherPlace: string;
  /** Five digits or "" */
  readonly zip: string;
  /** Four digits or "" */
  readonly zip4: string;
  /** Country words found at the end: USA, CAN or "" */
  readonly country: '' | 'USA' | 'CAN';
  /**
   * Canadian postal code "M5V 3L9" or ""; with a gazetteer of Canada also its first half, "M5V".
   */
  readonly canadianPostalCode: string;
  readonly kind: 'street' | 'po-box' | 'military' | 'intersection' | 'place-only';
}

export interface Gazetteer {
  /**
   * Two-letter code of a state by its name or code in capitals ("NEW YORK", "NY"); "" if it is
   * none.
   */
  stateOf(words: string): string;
  /**
   * Whether the words in capitals name a city of the state; '' for the state asks about any state.
   */
  isCity(state: string, city: string): boolean;
  /**
   * Set where the states are the provinces of Canada; the ends of lines are then read as Canada
   * writes them.
   */
  readonly isCanadian?: true;
}

/** A gazetteer that knows no place. */
export const EMPTY_GAZETTEER: Gazetteer = { stateOf: () => '', isCity: () => false };

/** What was read from the end of a line. */
export interface Tail {
  /** Index after the last word that belongs to street or city. */
  readonly end: number;
  readonly country: '' | 'USA' | 'CAN';
  readonly state: string;
  /** Whether the state is a word that may mean something else: "CT" a court, "NE" a direction. */
  readonly doubtful: boolean;
  /** Index after the state's last word, -1 if none. */
  readonly stateEnd: number;
  readonly zip: string;
  readonly zip4: string;
  /** "M5V 3L9" or ""; with a gazetteer of Canada also the first half alone. */
  readonly canadianPostalCode: string;
  /** Another state, or another place, that the line names in its middle; "" if none. */
  readonly otherPlace: string;
  /** Whether two ZIPs stand where one belongs, as in "92618-90210": either may be meant. */
  readonly twoZips: boolean;
}

export type TailDraft = { -readonly [Key in keyof Tail]: Tail[Key] };

/** The end of a line of `end` words of which nothing has been read yet. */
export function unread(end: number): TailDraft {
  return {
    end,
    country: '',
    state: '',
    doubtful: false,
    stateEnd: -1,
    zip: '',
    zip4: '',
    canadianPostalCode: '',
    otherPlace: '',
    twoZips: false,
  };
}
