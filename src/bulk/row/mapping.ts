/** Maps the columns of a CSV file to parameters: by their names, or as the caller asks. */
import { isProblem, problem, type Problem } from '../../base/problem.js';
import type { ParameterName } from '../../api/lookup/parameter-table.js';
import type { BulkKind, Defaults } from './chunk-payload.js';
import { COLUMNS_MAX } from './record-form.js';

const CITY = ['city', 'town', 'locality'];
const STATE = ['state', 'statecode', 'province', 'stateprovince', 'region'];
const ZIP = ['zip', 'zipcode', 'zip5', 'postalcode', 'postcode', 'postal'];
const TAXABILITY = ['taxabilitycode', 'tic'];
const ID = ['id', 'rowid', 'recordid'];

/** Roles that are not parameters: parts of an address line, and the id. */
type OwnRole = 'street' | 'street2' | 'zip' | 'id';

/**
 * The roles of columns in a file of lookups, with the names of columns that have them. Names are in
 * lower case and consist of letters and digits.
 */
const NAMES = {
  address: ['address', 'fulladdress', 'addressline', 'addressfull'],
  street: [
    'street',
    'street1',
    'streetaddress',
    'address1',
    'addressline1',
    'line1',
    'addr',
    'addr1',
  ],
  street2: ['street2', 'address2', 'addressline2', 'line2', 'addr2', 'unit', 'suite', 'apartment'],
  zip: ZIP,
  city: CITY,
  state: STATE,
  county: ['county', 'countyname'],
  lat: ['lat', 'latitude'],
  lng: ['lng', 'lon', 'long', 'longitude'],
  countryCode: ['countrycode', 'country'],
  taxabilityCode: TAXABILITY,
  historical: ['historical'],
  sat_item_total: ['satitemtotal'],
  adjustment: ['adjustment'],
  id: ID,
} satisfies Readonly<Partial<Record<ParameterName | OwnRole, readonly string[]>>>;
type LookupRole = keyof typeof NAMES;

/** Names of the parts of an address, without a word that says whose address it is. */
const STREET = ['street', 'street1', 'streetaddress', 'address1', 'addressline1', 'line1'];
const STREET_2 = ['street2', 'address2', 'addressline2', 'line2', 'unit', 'suite', 'apartment'];

/** Words that may precede them for the destination of the goods, and for their origin. */
const TO = ['', 'destination', 'dest', 'shipto', 'shipping', 'to'];
const FROM = ['origin', 'shipfrom', 'from'];

function led(leads: readonly string[], names: readonly string[]): readonly string[] {
  return leads.flatMap((lead) => names.map((name) => lead + name));
}

function wholes(leads: readonly string[]): readonly string[] {
  return [...leads.filter((lead) => lead !== ''), ...led(leads, ['address', 'fulladdress'])];
}

/** Names that may belong to any address, even in a table that names columns of the destination. */
const BARE: readonly string[] = [
  ...['address', 'fulladdress', 'addressline'],
  ...[STREET, STREET_2, CITY, STATE, ZIP].flat(),
];

/** Names that are only used where no column of their role has a lower rank; others have rank 0. */
const CART_RANKS: ReadonlyMap<string, number> = new Map([
  ...BARE.map((name) => [name, 1] as const),
  // These may be the amount of a line instead of the price of one unit.
  ['price', 1],
  ['amount', 2],
]);

/** The names of columns by their roles in a file of carts, whose rows are carts of one line. */
const CART_NAMES = {
  destination: [...wholes(TO), 'addressline'],
  street: led(TO, STREET),
  street2: led(TO, STREET_2),
  city: led(TO, CITY),
  state: led(TO, STATE),
  zip: led(TO, ZIP),
  origin: wholes(FROM),
  originStreet: led(FROM, STREET),
  originStreet2: led(FROM, STREET_2),
  originCity: led(FROM, CITY),
  originState: led(FROM, STATE),
  originZip: led(FROM, ZIP),
  price: ['price', 'unitprice', 'itemprice', 'amount'],
  quantity: ['quantity', 'qty', 'units'],
  taxabilityCode: TAXABILITY,
  itemId: ['itemid', 'item', 'sku', 'productid'],
  customerId: ['customerid', 'customer'],
  transactionDate: ['transactiondate', 'date', 'orderdate', 'saledate'],
  id: ID,
};
export type CartRole = keyof typeof CART_NAMES;

export type Role = LookupRole | CartRole;

/** The column of each role, counted from 0. */
export type Mapping = Readonly<Partial<Record<Role, number>>>;

/** The roles that columns of a kind of rows can have. */
export interface ColumnRules {
  readonly roles: readonly Role[];
  /** Roles by name of column, in lower case and with letters and digits only. */
  readonly roleOf: ReadonlyMap<string, Role>;
  /** Ranks of names, by default 0; of several columns for a role, the lowest rank counts. */
  readonly ranks?: ReadonlyMap<string, number>;
  /**
   * For each address: the role of a whole address, that of its street, and the parts of an address.
   * Where a part has a column, a column of the whole address is taken for the street.
   */
  readonly wholes: readonly {
    readonly whole: Role;
    readonly street: Role;
    readonly beside: readonly Role[];
  }[];
  /** What a mapping lacks, as a sentence; null where it is sufficient. */
  lack(mapping: Mapping): string | null;
}

/** The roles of a kind of rows, and the roles that names of columns stand for. */
function rolesOf(
  names: Readonly<Partial<Record<Role, readonly string[]>>>,
): Pick<ColumnRules, 'roles' | 'roleOf'> {
  // The keys are roles, by the type of the parameter.
  const known = Object.entries(names) as readonly [Role, readonly string[]][];
  return {
    roles: known.map(([role]) => role),
    roleOf: new Map(known.flatMap(([role, said]) => said.map((name) => [name, role]))),
  };
}

/** The columns that can locate a row; latitude and longitude only together. */
const LOCATING = 'address, street, zip, or lat and lng';

/** The rules for columns of lookups. */
export const LOOKUP_COLUMNS: ColumnRules = {
  ...rolesOf(NAMES),
  wholes: [{ whole: 'address', street: 'street', beside: ['city', 'zip'] }],
  lack: (mapping) =>
    locates(mapping)
      ? null
      : `No column is known to hold a location: ${LOCATING}. Name it with map.`,
};

/** The column that `name` stands for, a header or `#` and a number from 1; −1 for none. */
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
 * Maps columns by their names. Of several columns for a role, that of the lowest rank counts, then
 * the first. `bare` has the first column of each role whose name may belong to any address.
 */
function namedColumns(
  headers: readonly string[],
  { roleOf, ranks }: ColumnRules,
): { readonly best: Partial<Record<Role, number>>; readonly bare: Mapping } {
  const best: Partial<Record<Role, number>> = {};
  const bare: Partial<Record<Role, number>> = {};
  const rankOf = new Map<Role, number>();
  headers.forEach((header, column) => {
    const name = header.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    const role = roleOf.get(name);
    if (role === undefined) return;
    const rank = ranks?.get(name) ?? 0;
    if (rank > 0) bare[role] ??= column;
    if (rank >= (rankOf.get(role) ?? Infinity)) return;
    rankOf.set(role, rank);
    best[role] = column;
  });
  return { best, bare };
}

const PLACE = ['destination', 'street', 'street2', 'city', 'state', 'zip'] as const;

/**
 * Keeps two addresses apart where one is named as the destination: columns of the other are not
 * mixed with it. If the destination is one column, the other address is used for rows where that is
 * empty.
 */
function settlePlace(best: Partial<Record<Role, number>>, bare: Mapping): void {
  const isLed = (role: Role): boolean => best[role] !== undefined && best[role] !== bare[role];
  const hasOther = bare.street !== undefined || bare.destination !== undefined;
  if (!hasOther || (!isLed('street') && !isLed('destination'))) return;
  if (isLed('street') || isLed('city') || isLed('zip')) {
    for (const role of PLACE) if (!isLed(role)) delete best[role];
  } else if (bare.street === undefined && (bare.city ?? bare.zip) !== undefined) {
    best.street = bare.destination!;
  }
}

/** The role that an entry "role:header" names, and the header; "" for none. */
export function readEntry(
  entry: string,
  { roles }: ColumnRules,
): { readonly role: Role; readonly name: string } | Problem {
  const colon = entry.indexOf(':');
  const asRole = colon < 0 ? entry : entry.slice(0, colon);
  const role = roles.find((known) => known === asRole);
  return role === undefined
    ? problem(422, `map names no role "${asRole}"; roles: ${roles.join(', ')}.`)
    : { role, name: colon < 0 ? '' : entry.slice(colon + 1) };
}

/**
 * Maps the columns of a header.
 * @param asked entries "role:header"; a role without a header is left unmapped
 */
export function mapColumns(
  headers: readonly string[],
  asked: readonly string[] = [],
  rules: ColumnRules = LOOKUP_COLUMNS,
): Mapping | Problem {
  const { wholes, lack } = rules;
  if (headers.length > COLUMNS_MAX) {
    return problem(422, `The header has ${headers.length} columns; ${COLUMNS_MAX} are allowed.`);
  }
  const { best: mapping, bare } = namedColumns(headers, rules);
  settlePlace(mapping, bare);
  // Where other parts of an address have columns, a column "address" is the street.
  for (const { whole, street, beside } of wholes) {
    const parted = beside.some((part) => mapping[part] !== undefined);
    if (mapping[whole] === undefined || mapping[street] !== undefined || !parted) continue;
    mapping[street] = mapping[whole];
    delete mapping[whole];
  }
  const named = new Set<Role>();
  for (const entry of asked) {
    const read = readEntry(entry, rules);
    if (isProblem(read)) return read;
    const { role, name } = read;
    if (named.has(role)) return problem(422, `map names role "${role}" twice.`);
    named.add(role);
    delete mapping[role];
    if (name === '') continue;
    const column = columnOf(name, headers);
    if (column < 0) return problem(422, `map: the file has no column "${name}".`);
    mapping[role] = column;
  }
  const lacking = lack(mapping);
  return lacking === null ? mapping : problem(422, lacking);
}

function locates({ address, street, zip, lat, lng }: Mapping): boolean {
  return (
    address !== undefined ||
    street !== undefined ||
    zip !== undefined ||
    (lat !== undefined && lng !== undefined)
  );
}

// The rules for columns of carts.

const CART_COLUMNS: Omit<ColumnRules, 'lack'> = {
  ...rolesOf(CART_NAMES),
  ranks: CART_RANKS,
  wholes: [
    { whole: 'destination', street: 'street', beside: ['city', 'zip'] },
    { whole: 'origin', street: 'originStreet', beside: ['originCity', 'originZip'] },
  ],
};

function lackOf(mapping: Mapping, { origin }: Defaults): string | null {
  if (mapping.price === undefined) {
    return 'No column is known to hold a price. Name it with map.';
  }
  if (mapping.destination === undefined && mapping.street === undefined) {
    return 'No column is known to hold the destination: destination, or street. Name it with map.';
  }
  if (mapping.origin === undefined && mapping.originStreet === undefined && origin === undefined) {
    return (
      'No column is known to hold the origin: origin, or originStreet. Name it with map, or ' +
      'give one for all rows as origin.'
    );
  }
  return null;
}

/** The rules for columns of a kind of rows. A value in `defaults` may replace a column. */
export function columnRulesOf(kind: BulkKind, defaults: Defaults): ColumnRules {
  return kind === 'cart'
    ? { ...CART_COLUMNS, lack: (mapping) => lackOf(mapping, defaults) }
    : LOOKUP_COLUMNS;
}
