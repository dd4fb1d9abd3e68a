/** Rows to the parameters of a lookup. */
import { FIVE_DIGITS } from '../../base/patterns.js';
import {
  ADDRESS_CHARS_MAX,
  ROW_PARAMETERS,
  SHARED_PARAMETERS,
  type ParameterName,
  type RawParameters,
} from '../../api/lookup/parameter-table.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { noParameters } from '../../api/lookup/query-string.js';
import { fail, type Failure } from '../../failure.js';
import type { Defaults } from './chunk-payload.js';
import { LOOKUP_COLUMNS, type Mapping, type Role } from './mapping.js';

/** Parameters that hold for rows without a value of their own, most often none. */
type Shared = readonly (readonly [ParameterName, string])[];

function sharedOf(defaults: Defaults): Shared {
  return SHARED_PARAMETERS.flatMap((name) => {
    const value = defaults[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}

function withShared(shared: Shared): RawParameters {
  const raw = noParameters();
  for (const [name, value] of shared) raw[name] = value;
  return raw;
}

/** A row that is no request at all, or an option of a file: a sentence, and what is at fault. */
export function noRequest(detail: string, field: string | null = null): Failure {
  return fail('invalid-format', detail, field);
}

/**
 * What reads the members of JSON rows; others are ignored, as unknown query parameters are. What
 * holds for all rows is found once.
 */
export function memberReader(
  defaults: Defaults,
): (row: Readonly<Record<string, unknown>>) => RawParameters | Failure {
  const shared = sharedOf(defaults);
  return (row) => {
    const raw = withShared(shared);
    for (const name of ROW_PARAMETERS) {
      const value = row[name];
      if (value === undefined || value === null) continue;
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        return wrongParameter(name, 'text, a number, true or false.');
      }
      if (name === 'address') raw.addressSent = true;
      if (value !== '') raw[name] = String(value);
    }
    return raw;
  };
}

/** Stands in text for bytes that are no UTF-8. */
export const UNREADABLE = '\ufffd';

/** Countries as address files write them; anything else is passed on as it is. */
const COUNTRY_NAMES: Readonly<Record<string, string>> = {
  US: 'USA',
  USA: 'USA',
  'UNITED STATES': 'USA',
  CA: 'CAN',
  CAN: 'CAN',
  CANADA: 'CAN',
};

/** Parameters that are read of a cell, or of several, in ways of their own. */
const READ_APART: ReadonlySet<string> = new Set(['address', 'countryCode']);

function isPlain(name: ParameterName): name is Role & ParameterName {
  const roles: readonly string[] = LOOKUP_COLUMNS.roles;
  return roles.includes(name) && !READ_APART.has(name);
}

/** Parameters that a cell goes to unchanged. */
const PLAIN = ROW_PARAMETERS.filter(isPlain);

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
  if (FIVE_DIGITS.test(zip)) return zip;
  const whole = wholeZip(zip);
  return /^\d{5}(?:-?\d{4})?$/.test(whole) ? whole.slice(0, 5) : whole;
}

/** Two texts with something between them; one alone where the other is empty. */
function joined(one: string, between: string, other: string): string {
  if (one === '') return other;
  return other === '' ? one : one + between + other;
}

/**
 * "street, street 2, city, ST 12345"; of all but the street, what is empty leaves no trace. Behind
 * a comma a company or a remark does not become part of the street, as little as in a cart.
 */
export function addressLine(
  street: string,
  street2: string,
  city: string,
  state: string,
  zip: string,
): string {
  const place = joined(city, ', ', joined(state, ' ', zip));
  const whole = joined(joined(street, ', ', street2), ', ', place);
  // A unit never decides the tax area, so where the line is too long it is left out first.
  return whole.length <= ADDRESS_CHARS_MAX ? whole : joined(street, ', ', place);
}

/**
 * Whether a street already is a whole address: it has the ZIP of the row, which its house number is
 * not, or the city and the state behind it.
 */
export function holdsPlace(street: string, city: string, zip: string): boolean {
  if (!street.includes(',')) return false;
  if (zip !== '') return street.lastIndexOf(zip.slice(0, 5)) > 0;
  const at = city === '' ? -1 : street.toLowerCase().indexOf(`, ${city.toLowerCase()}`);
  return at >= 0 && at + 2 + city.length < street.length;
}

/** What reads the cells of CSV rows; which column is which is found once. */
export function cellReader(
  mapping: Mapping,
  defaults: Defaults,
): (cells: readonly string[], decoded: boolean) => RawParameters {
  const shared = sharedOf(defaults);
  const plain = PLAIN.flatMap((name) => {
    const column = mapping[name];
    return column === undefined ? [] : [{ name, column }];
  });
  const { countryCode, zip: zipColumn, address, street, street2 } = mapping;
  return (cells, decoded) => {
    const raw = withShared(shared);
    for (const { name, column } of plain) {
      const value = cellAt(cells, column);
      if (value !== '') raw[name] = value;
    }
    const country = cellAt(cells, countryCode);
    if (country !== '') raw.countryCode = COUNTRY_NAMES[country.toUpperCase()] ?? country;
    const zip = fiveDigits(cellAt(cells, zipColumn));
    if (zip !== '') raw.postalcode = zip;
    raw.address = addressOf(
      raw,
      zip,
      cellAt(cells, address),
      cellAt(cells, street),
      cellAt(cells, street2),
    );
    if (!decoded) checkDecoded(raw);
    // Beside an address or a point these parameters add nothing, and a malformed one would have
    // the row refused.
    if (raw.address !== null || (raw.lat !== null && raw.lng !== null)) {
      raw.city = raw.state = raw.county = raw.postalcode = null;
    }
    return raw;
  };
}

/** The text of a cell without spaces around it; "" where there is none. */
export function cellAt(cells: readonly string[], column: number | undefined): string {
  return column === undefined ? '' : (cells[column] ?? '').trim();
}

/** The address of a row that has one in one cell or in several. */
function addressOf(
  { city, state }: RawParameters,
  zip: string,
  address: string,
  street: string,
  street2: string,
): string | null {
  if (address !== '') return address;
  if (street === '') return null;
  return holdsPlace(street, city ?? '', zip)
    ? street
    : addressLine(street, street2, city ?? '', state ?? '', zip);
}

/** Marks what came from bytes that are no UTF-8. */
function checkDecoded(raw: RawParameters): void {
  for (const name of ROW_PARAMETERS) {
    if (raw[name]?.includes(UNREADABLE) !== true) continue;
    raw[name] = null;
    raw.undecodable = [...raw.undecodable, name];
  }
}
