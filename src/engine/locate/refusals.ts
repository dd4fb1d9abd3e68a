/** Why an address is refused. */
import type { ParsedAddress } from '../../address/parsed.js';
import { fail, type Failure } from '../../failure.js';

export const INCOMPLETE = 'give a house number and street with a city and state or a ZIP code';
export const AMBIGUOUS =
  'the address matches places with different taxes: add or check the ZIP code, ' +
  'city, street type or direction';
export const CONTRADICTION =
  'the street is known in one place and the ZIP code or city leads to another ' +
  'with different taxes: check them';

/** Lines that name no door, whatever the dataset holds. */
export function refuse(reading: ParsedAddress): Failure | null {
  switch (reading.kind) {
    case 'po-box':
      return fail('address-incomplete', 'a post office box has no location: give a street');
    case 'military':
      return fail('address-incomplete', 'military addresses lie in no tax area of a state');
    case 'intersection':
      return fail('address-incomplete', 'an intersection is no address: give a house number');
    case 'place-only':
      return fail('address-incomplete', INCOMPLETE);
    case 'street':
      return null;
  }
}
