/** Which column of a CSV file is which parameter: by obvious names, or as the caller says. */
import { COLUMNS_MAX } from './limit.js';

/**
 * What a column can be. All but the first four and `id` are parameters of a lookup; street, street2
 * and zip make up an address line together with city and state.
 */
export const ROLES = [
  'address', 'street', 'street2', 'zip', 'city', 'state', 'county', 'lat', 'lng', 'countryCode',
  'taxabilityCode', 'historical', 'sat_item_total', 'adjustment', 'id',
] as const;
export type Role = (typeof ROLES)[number];

/** Column by role, from 0. */
export type Mapping = Readonly<Partial<Record<Role, number>>>;

/** Names in lower case without anything but letters and digits. */
const NAMES: Readonly<Record<Role, readonly string[]>> = {
  address: ['address', 'fulladdress', 'addressline', 'addressfull'],
  street: [
    'street', 'street1', 'streetaddress', 'address1', 'addressline1', 'line1', 'addr', 'addr1',
  ],
  street2: ['street2', 'address2', 'addressline2', 'line2', 'addr2', 'unit', 'suite', 'apartment'],
  zip: ['zip', 'zipcode', 'zip5', 'postalcode', 'postcode', 'postal'],
  city: ['city', 'town', 'locality'],
  state: ['state', 'statecode', 'province', 'stateprovince', 'region'],
  county: ['county', 'countyname'],
  lat: ['lat', 'latitude'],
  lng: ['lng', 'lon', 'long', 'longitude'],
  countryCode: ['countrycode', 'country'],
  taxabilityCode: ['taxabilitycode', 'tic'],
  historical: ['historical'],
  sat_item_total: ['satitemtotal'],
  adjustment: ['adjustment'],
  id: ['id', 'rowid', 'recordid'],
};

const ROLE_OF: ReadonlyMap<string, Role> = new Map(
  ROLES.flatMap((role) => NAMES[role].map((name): [string, Role] => [name, role])),
);

/** What can locate a row; latitude and longitude only together. */
const LOCATING = 'address, street, zip, or lat and lng';

/** A sentence for the caller. */
export interface MappingProblem {
  readonly problem: string;
}

/** Tells a problem from a mapping. */
export function isMappingProblem(found: Mapping | MappingProblem): found is MappingProblem {
  return 'problem' in found;
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** The column that `name` means: a header as written, or `#` and a number from 1. */
function columnOf(name: string, headers: readonly string[]): number {
  const exact = headers.indexOf(name);
  if (exact >= 0) return exact;
  const number = /^#(\d{1,4})$/.exec(name);
  if (number !== null) {
    const column = Number(number[1]) - 1;
    return column < headers.length ? column : -1;
  }
  return headers.findIndex((header) => header.trim().toLowerCase() === name.trim().toLowerCase());
}

/**
 * Maps the columns of a header.
 * @param asked "role:header" each; a role without a header is left unmapped
 */
export function mapColumns(
  headers: readonly string[], asked: readonly string[] = [],
): Mapping | MappingProblem {
  if (headers.length > COLUMNS_MAX) {
    return { problem: `The header has ${headers.length} columns; ${COLUMNS_MAX} are allowed.` };
  }
  const mapping: Partial<Record<Role, number>> = {};
  headers.forEach((header, column) => {
    const role = ROLE_OF.get(header.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
    if (role !== undefined) mapping[role] ??= column;
  });
  // Beside columns of the other parts, a column "address" is the street.
  const parted = mapping.city !== undefined || mapping.zip !== undefined;
  if (mapping.address !== undefined && mapping.street === undefined && parted) {
    mapping.street = mapping.address;
    delete mapping.address;
  }
  for (const entry of asked) {
    const colon = entry.indexOf(':');
    const role = colon < 0 ? entry : entry.slice(0, colon);
    if (!isRole(role)) {
      return { problem: `map names no role "${role}"; roles: ${ROLES.join(', ')}.` };
    }
    const name = colon < 0 ? '' : entry.slice(colon + 1);
    delete mapping[role];
    if (name === '') continue;
    const column = columnOf(name, headers);
    if (column < 0) return { problem: `map: the file has no column "${name}".` };
    mapping[role] = column;
  }
  return locates(mapping)
    ? mapping
    : { problem: `No column is known to hold a location: ${LOCATING}. Name it with map.` };
}

function locates({ address, street, zip, lat, lng }: Mapping): boolean {
  return address !== undefined || street !== undefined || zip !== undefined
    || (lat !== undefined && lng !== undefined);
}
