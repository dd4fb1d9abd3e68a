/** Which column of a CSV file is which part of a cart of one line. */
import type { BulkKind, Defaults } from './chunk-payload.js';
import {
  CART_ROLES, LOOKUP_COLUMNS, rolesByName, type CartRole, type ColumnRules, type Mapping,
} from './mapping.js';

/** Names of the parts of an address, without what says whose it is. */
const STREET = ['street', 'street1', 'streetaddress', 'address1', 'addressline1', 'line1'];
const STREET_2 = ['street2', 'address2', 'addressline2', 'line2', 'unit', 'suite', 'apartment'];
const CITY = ['city', 'town', 'locality'];
const STATE = ['state', 'statecode', 'province', 'stateprovince', 'region'];
const ZIP = ['zip', 'zipcode', 'zip5', 'postalcode', 'postcode', 'postal'];

/** Words before the names of the place where the goods go, and where they come from. */
const TO = ['', 'destination', 'dest', 'shipto', 'shipping', 'to'];
const FROM = ['origin', 'shipfrom', 'from'];

function led(leads: readonly string[], names: readonly string[]): readonly string[] {
  return leads.flatMap((lead) => names.map((name) => lead + name));
}

function wholes(leads: readonly string[]): readonly string[] {
  return [...leads.filter((lead) => lead !== ''), ...led(leads, ['address', 'fulladdress'])];
}

/** Names in lower case without anything but letters and digits. */
const NAMES: Readonly<Record<CartRole, readonly string[]>> = {
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
  taxabilityCode: ['taxabilitycode', 'tic'],
  itemId: ['itemid', 'item', 'sku', 'productid'],
  customerId: ['customerid', 'customer'],
  transactionDate: ['transactiondate', 'date', 'orderdate', 'saledate'],
  id: ['id', 'rowid', 'recordid'],
};

const COLUMNS: Omit<ColumnRules, 'lack'> = {
  roles: CART_ROLES,
  roleOf: rolesByName(NAMES),
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
    return 'No column is known to hold the origin: origin, or originStreet. Name it with map, or '
      + 'give one for all rows as origin.';
  }
  return null;
}

/** The columns of a kind of rows; `defaults` may stand for one. */
export function columnRulesOf(kind: BulkKind, defaults: Defaults): ColumnRules {
  return kind === 'cart'
    ? { ...COLUMNS, lack: (mapping) => lackOf(mapping, defaults) } : LOOKUP_COLUMNS;
}
