/** Rows to the parameters of a lookup. */
import {
  ADDRESS_CHARS_MAX, ROW_PARAMETERS, SHARED_PARAMETERS, type ParameterName,
} from '../../api/lookup/parameter-table.js';
import { noParameters, type RawParameters } from '../../api/lookup/query-string.js';
import { fail, type Failure } from '../../failure.js';
import type { Defaults } from './chunk-payload.js';
import type { Mapping, Role } from './mapping.js';

function withDefaults(defaults: Defaults): RawParameters {
  const raw = noParameters();
  for (const name of SHARED_PARAMETERS) raw[name] = defaults[name] ?? null;
  return raw;
}

/** A row that is no request at all: a sentence, and the member at fault. */
export function noRequest(detail: string, field: string | null = null): Failure {
  return fail('invalid-format', detail, field);
}

/** Reads the members of a JSON row; others are ignored, as unknown query parameters are. */
export function jsonParameters(
  row: Readonly<Record<string, unknown>>, defaults: Defaults,
): RawParameters | Failure {
  const raw = withDefaults(defaults);
  for (const name of ROW_PARAMETERS) {
    const value = row[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      return noRequest(`Parameter ${name}: text, a number, true or false.`, name);
    }
    if (name === 'address') raw.addressSent = true;
    if (value !== '') raw[name] = String(value);
  }
  return raw;
}

/** Stands in text for bytes that are no UTF-8. */
export const UNREADABLE = '\ufffd';

/** Countries as address files write them; anything else is passed on as it is. */
const COUNTRY_NAMES: Readonly<Record<string, string>> = {
  US: 'USA', USA: 'USA', 'UNITED STATES': 'USA', CA: 'CAN', CAN: 'CAN', CANADA: 'CAN',
};

/** Parameters that a cell goes to unchanged. */
const PLAIN: readonly (Role & ParameterName)[] = [
  'city', 'state', 'county', 'lat', 'lng', 'taxabilityCode', 'historical', 'sat_item_total',
  'adjustment',
];

/**
 * A ZIP as it was before a spreadsheet took it for a number: with its leading zeros, where it has
 * its +4 too, and without the decimals of a table of fractions. Anything else is left as it is.
 */
export function wholeZip(zip: string): string {
  const [, first = '', plus4] = /^(\d{3,9})(?:\.0+|-(\d{4}))?$/.exec(zip) ?? [];
  if (first.length >= 3 && first.length <= 5) {
    return first.padStart(5, '0') + (plus4 === undefined ? '' : `-${plus4}`);
  }
  return first.length >= 7 && plus4 === undefined ? first.padStart(9, '0') : zip;
}

/** Five digits of a ZIP that may have its +4. */
export function fiveDigits(zip: string): string {
  const whole = wholeZip(zip);
  return /^\d{5}(?:-?\d{4})?$/.test(whole) ? whole.slice(0, 5) : whole;
}

/** "street, city, ST 12345"; what is empty leaves no trace. */
export function addressLine(
  street: string, street2: string, city: string, state: string, zip: string,
): string {
  const region = [state, zip].filter((part) => part !== '').join(' ');
  const place = [city, region].filter((part) => part !== '');
  const whole = [street2 === '' ? street : `${street} ${street2}`, ...place].join(', ');
  // A unit never decides the tax area, so where the line is too long the unit is left out first.
  return whole.length <= ADDRESS_CHARS_MAX ? whole : [street, ...place].join(', ');
}

/** Whether a street already is a whole address. */
export function holdsPlace(street: string, city: string, zip: string): boolean {
  if (zip !== '') return street.includes(zip.slice(0, 5)) && street.includes(',');
  return city !== '' && street.toLowerCase().includes(`, ${city.toLowerCase()}`);
}

/** Reads the cells of a CSV row. */
export function csvParameters(
  cells: readonly string[], mapping: Mapping, defaults: Defaults, decoded: boolean,
): RawParameters {
  const raw = withDefaults(defaults);
  const cell = (role: Role): string => {
    const column = mapping[role];
    return column === undefined ? '' : (cells[column] ?? '').trim();
  };
  for (const name of PLAIN) {
    const value = cell(name);
    if (value !== '') raw[name] = value;
  }
  const country = cell('countryCode');
  if (country !== '') raw.countryCode = COUNTRY_NAMES[country.toUpperCase()] ?? country;
  const zip = fiveDigits(cell('zip'));
  if (zip !== '') raw.postalcode = zip;
  const [address, street] = [cell('address'), cell('street')];
  const city = raw.city ?? '';
  if (address !== '') raw.address = address;
  else if (street !== '') {
    raw.address = holdsPlace(street, city, zip)
      ? street : addressLine(street, cell('street2'), city, raw.state ?? '', zip);
  }
  if (!decoded) checkDecoded(raw);
  // Beside an address or a point these parameters add nothing, and a malformed one would have the
  // row refused.
  if (raw.address !== null || (raw.lat !== null && raw.lng !== null)) {
    raw.city = raw.state = raw.county = raw.postalcode = null;
  }
  return raw;
}

/** Marks what came from bytes that are no UTF-8. */
function checkDecoded(raw: RawParameters): void {
  for (const name of ROW_PARAMETERS) {
    if (raw[name]?.includes(UNREADABLE) !== true) continue;
    raw[name] = null;
    raw.undecodable = [...raw.undecodable, name];
  }
}
