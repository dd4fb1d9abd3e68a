/** What the address parser reads out of one line. Text is upper case and without punctuation. */
export interface ParsedAddress {
  /** House number, normalized: "200", "12A", "12-34" (Queens), "N12W3456", "123 1/2"; or "". */
  readonly number: string;
  /**
   * Integer for order and ranges: 200. Hyphenated numbers (Queens, Oahu) count from 10,000,000 on,
   * so that no range of ordinary numbers holds them; dual grid numbers and no number are -1.
   */
  readonly numberValue: number;
  /** What follows the integer: "A", "1/2", "" */
  readonly numberSuffix: string;
  /** Last number of a written range "100-104" of ordinary numbers; -1 if none. */
  readonly numberHigh: number;
  /** N, S, E, W, NE, NW, SE, SW or "" */
  readonly preDirection: string;
  /** Name proper, abbreviations resolved: "SPECTRUM CENTER", "COUNTY HIGHWAY 12", "400". */
  readonly name: string;
  /** USPS standard suffix abbreviation ("DR", "ST") or "". */
  readonly suffix: string;
  readonly postDirection: string;
  /** "APT 4", "STE 200", "" */
  readonly unit: string;
  /** City words as written, upper case, or "" */
  readonly city: string;
  /** Two-letter code or "" */
  readonly state: string;
  /** Another state that the line names in its midst, or another place of its own; "" if none. */
  readonly otherPlace: string;
  /** Five digits or "" */
  readonly zip: string;
  /** Four digits or "" */
  readonly zip4: string;
  /** Country words found at the end: USA, CAN or "" */
  readonly country: '' | 'USA' | 'CAN';
  /** Canadian postal code "M5V 3L9" or ""; its first half "M5V" by a gazetteer of Canada. */
  readonly canadianPostalCode: string;
  readonly kind: 'street' | 'po-box' | 'military' | 'intersection' | 'place-only';
}

export interface Gazetteer {
  /** Two-letter code of a state's name or code in capitals ("NEW YORK", "NY"), '' if none. */
  stateOf(words: string): string;
  /** Whether capitals name a city of the state; a state of '' asks for any. */
  isCity(state: string, city: string): boolean;
  /** Its states are the provinces of Canada: ends of lines are read as Canada writes them. */
  readonly isCanadian?: true;
}

/** A gazetteer that knows no place. */
export const EMPTY_GAZETTEER: Gazetteer = { stateOf: () => '', isCity: () => false };

/** What stands at the end of a line. */
export interface Tail {
  /** Index after the last word that belongs to street or city. */
  readonly end: number;
  readonly country: '' | 'USA' | 'CAN';
  readonly state: string;
  /** The state is one word that may be something else: "CT" a court, "NE" a direction. */
  readonly doubtful: boolean;
  /** Index after the state's last word, -1 if none. */
  readonly stateEnd: number;
  readonly zip: string;
  readonly zip4: string;
  /** Of an address that is asked for as one of Canada its first half may be all there is. */
  readonly canadianPostalCode: string;
  /** A state that the line names in its midst, or another place of its own; '' if none. */
  readonly otherPlace: string;
  /** Two ZIPs stand where one belongs, "92618-90210": either may be meant. */
  readonly twoZips: boolean;
}

export type TailDraft = { -readonly [Key in keyof Tail]: Tail[Key] };

/** The end of a line of so many words of which none is read yet. */
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
