/** Options that a file gives once for all its carts, and the places of the goods in each row. */
import { CART_DEFAULTS, optionsOfTexts, type CartOptions } from '../../api/cart/options.js';
import type { SentPlace } from '../../api/cart/merchant-cart.js';
import { ADDRESS_CHARS } from '../../api/merchant/relay-shape.js';
import { ADDRESS_CHARS_MAX, parseAddressLine } from '../../api/lookup/parameter-table.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { isProblem } from '../../base/problem.js';
import { longerThan } from '../../base/validator.js';
import { UUID } from '../../base/uuid.js';
import type { CartPlace, SplitPlace } from '../../engine/cart/outcome.js';
import type { Failure } from '../../failure.js';
import type { BulkFormat, Defaults } from './chunk-payload.js';
import type { CartRole } from './mapping.js';
import { addressLine, fiveDigits, holdsPlace, noRequest, wholeZip } from './row-parameters.js';

/** The options of a file of carts, beside those of every file. */
export const CART_PARAMETERS = ['merchantId', 'origin', 'rounding', 'explain'] as const;
export type CartParameter = (typeof CART_PARAMETERS)[number];

/** The merchant of all carts, in lower case; null for carts of no merchant. */
export function merchantOf({ merchantId }: Defaults): string | null {
  return merchantId?.toLowerCase() ?? null;
}

/** Rounding and explanation for carts that have no options of their own. */
export function cartOptions(defaults: Defaults): CartOptions {
  const options = optionsOfTexts(defaults);
  // Other values cannot occur here, since the front end refuses them before the first row.
  return isProblem(options) ? CART_DEFAULTS : options;
}

/** Finds an option that would refuse every row; returns it as the field of a failure. */
export function checkCartParameters(defaults: Defaults, input: BulkFormat): Failure | null {
  const merchant = merchantOf(defaults);
  if (merchant !== null && !UUID.test(merchant)) {
    return noRequest('merchantId is a UUID.', 'merchantId');
  }
  const { origin } = defaults;
  if (origin !== undefined && input !== 'csv') {
    return noRequest('origin is for CSV; a cart in NDJSON has its own.', 'origin');
  }
  if (origin !== undefined && parseAddressLine(origin) === null) {
    return noRequest(`origin is an address of up to ${ADDRESS_CHARS_MAX} characters.`, 'origin');
  }
  const options = optionsOfTexts(defaults);
  const [error] = isProblem(options) ? (options.errors ?? []) : [];
  if (error === undefined) return null;
  return noRequest(`${error.location}: ${error.message}.`, error.location);
}

// The places of a row of a table.

/** The columns that make up a place. */
interface PlaceRoles {
  readonly whole: CartRole;
  readonly street: CartRole;
  readonly street2: CartRole;
  readonly city: CartRole;
  readonly state: CartRole;
  readonly zip: CartRole;
}

export const DESTINATION: PlaceRoles = {
  whole: 'destination',
  street: 'street',
  street2: 'street2',
  city: 'city',
  state: 'state',
  zip: 'zip',
};
export const ORIGIN: PlaceRoles = {
  whole: 'origin',
  street: 'originStreet',
  street2: 'originStreet2',
  city: 'originCity',
  state: 'originState',
  zip: 'originZip',
};

/** Returns the text of a cell, without spaces around it. */
export type Cell = (role: CartRole) => string;

/**
 * For each part of a place: its role, its name in a merchant's cart, and its longest length there.
 */
const PARTS = [
  ['street', 'line1', ADDRESS_CHARS.line],
  ['street2', 'line2', ADDRESS_CHARS.line],
  ['city', 'city', ADDRESS_CHARS.city],
  ['state', 'state', ADDRESS_CHARS.state],
  ['zip', 'zip', ADDRESS_CHARS.zip],
] as const;

/** Reads a place that is on one line. */
export function linePlace(text: string, field: CartRole): CartPlace | Failure {
  const address = parseAddressLine(text);
  return address === null
    ? wrongParameter(
        field,
        `up to ${ADDRESS_CHARS_MAX} characters, none of them a control character.`,
      )
    : { kind: 'line', address };
}

function splitPlace(roles: PlaceRoles, place: SplitPlace): CartPlace | Failure {
  const long = PARTS.find(([, part, charsMax]) => longerThan(place[part], charsMax));
  return long === undefined
    ? place
    : wrongParameter(roles[long[0]], `up to ${long[2]} characters.`);
}

/**
 * Reads a place: from one line, from all parts that a merchant's cart needs, or by joining the
 * parts that there are to one line. Null where its cells are empty.
 */
export function readPlace(cell: Cell, roles: PlaceRoles): CartPlace | Failure | null {
  const whole = cell(roles.whole);
  if (whole !== '') return linePlace(whole, roles.whole);
  const [street, line2] = [cell(roles.street), cell(roles.street2)];
  const [city, state, zip] = [cell(roles.city), cell(roles.state), wholeZip(cell(roles.zip))];
  if (street === '') {
    return `${city}${state}${zip}` === '' ? null : wrongParameter(roles.street, 'not given.');
  }
  const five = fiveDigits(zip);
  if (holdsPlace(street, city, five)) return linePlace(street, roles.street);
  if (city !== '' && state !== '' && zip !== '') {
    return splitPlace(roles, { kind: 'split', line1: street, line2, city, state, zip });
  }
  return linePlace(addressLine(street, line2, city, state, five), roles.street);
}

/** A place in the form in which an answer repeats it. */
export function sentPlace(place: CartPlace): SentPlace {
  if (place.kind === 'line') return place;
  const { line1, line2, city, state, zip } = place;
  return { line1, line2: line2 === '' ? null : line2, city, state, zip };
}
