/** Turns rows into the parameters of a lookup. */
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

/** Parameters for rows without a value of their own; mostly there are none. */
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

/** The refusal of a row that is not a request, or of an option of a file. */
export function noRequest(detail: string, field: string | null = null): Failure {
  return fail('invalid-format', detail, field);
}

/**
 * Makes the reader of JSON rows. It ignores unknown members, as unknown query parameters are
 * ignored. Parameters that all rows share are found only once.
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

/** The character that replaces bytes that are not UTF-8 in decoded text. */
export const UNREADABLE = '\ufffd';

/** Countries as address files write them. Any other text is passed on as it is. */
const COUNTRY_NAMES: Readonly<Record<string, string>> = {
  US: 'USA',
  USA: 'USA',
  'UNITED STATES': 'USA',
  CA: 'CAN',
  CAN: 'CAN',
  CANADA: 'CAN',
};

/** Parameters that are not read from a single cell without changes. */
const READ_APART: ReadonlySet<string> = new Set(['address', 'countryCode']);

function isPlain(name: ParameterName): name is Role & ParameterName {
  const roles: readonly string[] = LOOKUP_COLUMNS.roles;
  return roles.includes(name) && !READ_APART.has(name);
}

/** Parameters that are read from a cell without changes. */
const PLAIN = ROW_PARAMETERS.filter(isPlain);

/**
 * Restores a ZIP that a spreadsheet took for a number: adds leading zeros, also where it has its
 * +4, and removes decimals. Anything else is left as it is.
 */
export function wholeZip(zip: string): string {
  const [, first = '', plus4] = /^(\d{3,9})(?:\.0+|-(\d{4}))?$/.exec(zip) ?? [];
  if (first.length >= 3 && first.length <= 5) {
    return first.padStart(5, '0') + (plus4 === undefined ? '' : `-${plus4}`);
  }
  return first.length >= 7 && plus4 === undefined ? first.padStart(9, '0') : zip;
}

/** The first five digits of a ZIP, which may have its +4. */
export function fiveDigits(zip: string): string {
  if (FIVE_DIGITS.test(zip)) return zip;
  const whole = wholeZip(zip);
  return /^\d{5}(?:-?\d{4})?$/.test(whole) ? whole.slice(0, 5) : whole;
}

/** Two texts with a separator; only one of them where the other is empty. */
function joined(one: string, between: string, other: string): string {
  if (one === '') return other;
  return other === '' ? one : one + between + other;
}

/**
 * "street, street 2, city, ST 12345", where every part but the street may be empty. The comma keeps
 * a company or a remark in `street2` from becoming part of the street, as in a cart.
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
  // A unit never decides the tax area, so it is left out first where the line is too long.
  return whole.length <= ADDRESS_CHARS_MAX ? whole : joined(street, ', ', place);
}

/**
 * Whether a street already contains the place: the ZIP of the row (not at the beginning, where it
 * would be the house number), or the city with something after it.
 */
export function holdsPlace(street: string, city: string, zip: string): boolean {
  if (!street.includes(',')) return false;
  if (zip !== '') return street.lastIndexOf(zip.slice(0, 5)) > 0;
  const at = city === '' ? -1 : street.toLowerCase().indexOf(`, ${city.toLowerCase()}`);
  return at >= 0 && at + 2 + city.length < street.length;
}

/** Makes the reader of CSV rows. The columns are found only once. */
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
    // With an address or a point these parameters add nothing, and a malformed one would refuse the
    // row.
    if (raw.address !== null || (raw.lat !== null && raw.lng !== null)) {
      raw.city = raw.state = raw.county = raw.postalcode = null;
    }
    return raw;
  };
}

/** The text of a cell without spaces around it; "" where there is no such cell. */
export function cellAt(cells: readonly string[], column: number | undefined): string {
  return column === undefined ? '' : (cells[column] ?? '').trim();
}

/** The address of a row, from one cell or put together from several. */
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

/** Moves parameters with bytes that are not UTF-8 to `undecodable`. */
function checkDecoded(raw: RawParameters): void {
  for (const name of ROW_PARAMETERS) {
    if (raw[name]?.includes(UNREADABLE) !== true) continue;
    raw[name] = null;
    raw.undecodable = [...raw.undecodable, name];
  }
}
