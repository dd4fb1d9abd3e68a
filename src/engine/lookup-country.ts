/** Country names and which countries a query reaches. */
import type { Country } from '../tax/jurisdiction.js';

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
