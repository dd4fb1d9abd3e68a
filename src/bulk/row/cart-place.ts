/** The two places of a cart in the cells of a CSV row. */
import type { CartPlace, SplitPlace } from '../../engine/cart/query.js';
import { addressJson } from '../../api/cart/merchant-cart.js';
import { ADDRESS_CHARS_MAX, parseAddressLine } from '../../api/lookup/parameter-table.js';
import type { Failure } from '../../failure.js';
import type { CartRole } from './mapping.js';
import {
  addressLine, fiveDigits, holdsPlace, noRequest, wholeZip,
} from './parameters.js';

/** The columns of a place. */
export interface PlaceRoles {
  readonly whole: CartRole;
  readonly street: CartRole;
  readonly street2: CartRole;
  readonly city: CartRole;
  readonly state: CartRole;
  readonly zip: CartRole;
}

export const DESTINATION: PlaceRoles = {
  whole: 'destination', street: 'street', street2: 'street2', city: 'city', state: 'state',
  zip: 'zip',
};
export const ORIGIN: PlaceRoles = {
  whole: 'origin', street: 'originStreet', street2: 'originStreet2', city: 'originCity',
  state: 'originState', zip: 'originZip',
};

/** The text of a cell, without spaces around it. */
export type Cell = (role: CartRole) => string;

/** Characters of the parts, as carts of merchants have them. */
const PART_CHARS_MAX = { street: 128, street2: 128, city: 50, state: 32, zip: 16 } as const;

/** A place on one line. */
export function linePlace(text: string, field: CartRole): CartPlace | Failure {
  const address = parseAddressLine(text);
  return address === null
    ? noRequest(`Parameter ${field}: up to ${ADDRESS_CHARS_MAX} characters, none of them a control `
      + 'character.', field)
    : { kind: 'line', address };
}

function splitPlace(roles: PlaceRoles, place: SplitPlace): CartPlace | Failure {
  const parts = {
    street: place.line1, street2: place.line2, city: place.city, state: place.state,
    zip: place.zip,
  };
  for (const [part, charsMax] of Object.entries(PART_CHARS_MAX)) {
    const name = part as keyof typeof parts;
    if (parts[name].length <= charsMax) continue;
    const field = roles[name];
    return noRequest(`Parameter ${field}: up to ${charsMax} characters.`, field);
  }
  return place;
}

/**
 * Reads a place: one line, or the parts of a merchant's cart where all are there, or what of them
 * there is as one line. Null where its cells are empty.
 */
export function readPlace(cell: Cell, roles: PlaceRoles): CartPlace | Failure | null {
  const whole = cell(roles.whole);
  if (whole !== '') return linePlace(whole, roles.whole);
  const [street, line2] = [cell(roles.street), cell(roles.street2)];
  const [city, state, zip] = [cell(roles.city), cell(roles.state), wholeZip(cell(roles.zip))];
  if (street === '') {
    return `${city}${state}${zip}` === ''
      ? null : noRequest(`Parameter ${roles.street}: not given.`, roles.street);
  }
  const five = fiveDigits(zip);
  if (holdsPlace(street, city, five)) return linePlace(street, roles.street);
  if (city !== '' && state !== '' && zip !== '') {
    return splitPlace(roles, { kind: 'split', line1: street, line2, city, state, zip });
  }
  return linePlace(addressLine(street, line2, city, state, five), roles.street);
}

/** Prints a place as the cart endpoint of its shape does. */
export function placeJson(place: CartPlace): string {
  if (place.kind === 'line') return `{"address":${JSON.stringify(place.address)}}`;
  const { line1, line2, city, state, zip } = place;
  return addressJson({ line1, ...(line2 === '' ? {} : { line2 }), city, state, zip });
}
