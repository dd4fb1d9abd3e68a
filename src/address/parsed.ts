/** What the address parser reads out of one line. Text is upper case and without punctuation. */
export interface ParsedAddress {
  /** House number as written, normalized: "200", "12-34" (Queens), "N12W3456", "123 1/2"; or "". */
  readonly number: string;
  /** Integer used for ordering and ranges: 200; hyphenated and grid numbers see `number`; -1 if none. */
  readonly numberValue: number;
  /** What follows the integer: "A", "1/2", "" */
  readonly numberSuffix: string;
  /** Last number of a written range "100-104" of ordinary numbers; -1 if none. */
  readonly numberHigh: number;
  /** N, S, E, W, NE, NW, SE, SW or "" */
  readonly preDirection: string;
  /** Street name proper with abbreviations resolved: "SPECTRUM CENTER", "COUNTY HIGHWAY 12", "400". */
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
  /** Five digits or "" */
  readonly zip: string;
  /** Four digits or "" */
  readonly zip4: string;
  /** Country words found at the end: USA, CAN or "" */
  readonly country: '' | 'USA' | 'CAN';
  /** Canadian postal code "M5V 3L9" or "" */
  readonly canadianPostalCode: string;
  readonly kind: 'street' | 'po-box' | 'military' | 'intersection' | 'place-only';
}
