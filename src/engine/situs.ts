/** Where a lookup led: the shared vocabulary of locating, and the countries it reaches. */
import type { Microdegrees } from '../geo/microdegrees.js';
import type { Country } from '../tax/jurisdiction.js';

/** How a location was found, best first; the index is the wire's byte. */
export const PRECISIONS = [
  'none', 'point', 'range', 'zip9', 'street', 'polygon', 'postal',
] as const;
export type Precision = (typeof PRECISIONS)[number];

/** A resolved location. */
export interface Situs {
  /** Tax area id. */
  readonly area: number;
  readonly precision: Precision;
  /** Zero when not geocoded (zip9, street and postal have no door). */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States" */
  readonly normalizedAddress: string;
  readonly houseNumber: string;
  /** Street with directionals and type, properly cased; empty for points. */
  readonly street: string;
  readonly city: string;
  /** "92618" or "92618-5003"; empty when not known. */
  readonly postalCode: string;
}

const NAMES: Readonly<Record<Country, string>> = {
  USA: 'United States',
  CAN: 'Canada',
  PRI: 'Puerto Rico',
  ASM: 'American Samoa',
  GUM: 'Guam',
  MNP: 'Northern Mariana Islands',
  VIR: 'U.S. Virgin Islands',
};

/** Name of a country as normalized addresses write it. */
export function countryName(country: Country): string {
  return NAMES[country];
}

/**
 * Tells whether an address in `found` answers a query for `asked`. The default country reaches the
 * territories too, since their addresses are written like those of states; coordinates must match.
 */
export function reaches(asked: Country, found: Country): boolean {
  return asked === found || (asked === 'USA' && found !== 'CAN');
}
