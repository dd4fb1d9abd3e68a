/** Schemas of v10 to v50, and of the postal list of v60. */
import type { FailureKind } from '../failure.js';
import { RESPONSE_CODES, SUCCESS } from '../wire/response-code.js';
import { DISTRICTS_MAX } from '../api/lookup/legacy-row.js';
import {
  BOOLEAN,
  INTEGER,
  NUMBER,
  RATE,
  TEXT,
  about,
  list,
  nullable,
  object,
  oneOf,
  type Members,
  type Schema,
} from '../base/json-schema.js';
import type { ApiVersion } from '../wire/tree.js';

/** A decimal fraction as text. */
const DECIMAL: Schema = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };
/** A day as YYYY-MM-DD; empty where a period has no end. */
const DAY_TEXT: Schema = { type: 'string', pattern: '^(\\d{4}-\\d{2}-\\d{2})?$' };

const SOURCE: Schema = object({ name: TEXT, asOf: DAY_TEXT, citation: TEXT });

const ROW: Schema = object({
  level: TEXT,
  jurisdiction: TEXT,
  code: nullable(TEXT),
  sales: DECIMAL,
  use: DECIMAL,
  from: DAY_TEXT,
  to: DAY_TEXT,
  source: nullable(SOURCE),
  estimated: BOOLEAN,
});

const AREA: Schema = object({
  area: INTEGER,
  date: DAY_TEXT,
  state: TEXT,
  county: TEXT,
  city: TEXT,
  publishedUntil: DAY_TEXT,
  sales: DECIMAL,
  use: DECIMAL,
  rows: list(ROW),
});

export const LOOKUP_EXPLANATION: Schema = about(
  object(
    {
      dataset: TEXT,
      precision: TEXT,
      boundary: TEXT,
      normalizedAddress: TEXT,
      areas: list(AREA),
    },
    { assumed: object({ lowest: DECIMAL, highest: DECIMAL }) },
  ),
  'Only with explain=true.',
);

function members(names: readonly string[], schema: Schema): Members {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

/** The eight fields that every version has. */
const BASIC: Members = {
  ...members(['geoPostalCode', 'geoCity', 'geoCounty', 'geoState'], TEXT),
  ...members(['taxSales', 'taxUse'], RATE),
  txbService: oneOf(['Y', 'N', 'L']),
  txbFreight: oneOf(['Y', 'N']),
};

const PARTS: Members = {
  ...members(['stateSalesTax', 'stateUseTax', 'citySalesTax', 'cityUseTax'], RATE),
  cityTaxCode: TEXT,
  ...members(['countySalesTax', 'countyUseTax'], RATE),
  countyTaxCode: TEXT,
  ...members(['districtSalesTax', 'districtUseTax'], RATE),
};

const DISTRICTS: Members = Object.assign(
  {},
  ...Array.from({ length: DISTRICTS_MAX }, (_, at) => {
    const name = `district${at + 1}`;
    return {
      [`${name}Code`]: TEXT,
      ...members([`${name}SalesTax`, `${name}UseTax`], RATE),
    };
  }),
);

const ROW_8 = object(BASIC);
const ROW_18 = object({ ...BASIC, ...PARTS });
const ROW_34 = object({
  ...BASIC,
  ...PARTS,
  ...DISTRICTS,
  originDestination: oneOf(['O', 'D']),
});

const ROWS: Readonly<Record<ApiVersion, Schema>> = {
  10: ROW_8,
  20: ROW_18,
  30: ROW_18,
  40: ROW_34,
  50: ROW_34,
  60: ROW_34,
};

/** The place that a lookup found; empty and zero where it was not geocoded. */
export const ADDRESS_DETAIL: Members = {
  normalizedAddress: TEXT,
  incorporated: oneOf(['true', 'false', '']),
  geoLat: { ...NUMBER, minimum: -90, maximum: 90 },
  geoLng: { ...NUMBER, minimum: -180, maximum: 180 },
};

const SAT_TAX_DETAIL = object(
  members(
    ['appliedTotal', 'countyTaxRate', 'localTaxLimit', 'localTaxTotal', 'stateAdditionalTaxTotal'],
    TEXT,
  ),
);

/** All response codes and their names. */
export const FAILURE_CODES: readonly number[] = [
  ...new Set(Object.values(RESPONSE_CODES).map(({ code }) => code)),
];
export const FAILURE_NAMES: readonly string[] = [
  ...new Set(Object.values(RESPONSE_CODES).map(({ name }) => name)),
];

/** The kinds of failures with a status. */
export function failuresOf(http: number): readonly FailureKind[] {
  return Object.keys(RESPONSE_CODES).filter(
    (kind): kind is FailureKind => RESPONSE_CODES[kind as FailureKind].http === http,
  );
}

/** The schema of a success of v10 to v50. */
export function legacySuccess(version: Exclude<ApiVersion, 60>): Schema {
  const head = {
    version: { const: `v${version}` },
    rCode: { const: SUCCESS.code },
    rName: { const: SUCCESS.name },
    rMessage: TEXT,
    results: list(ROWS[version]),
  };
  return version < 50
    ? object(head)
    : object({ ...head, addressDetail: object(ADDRESS_DETAIL) }, { satTaxDetail: SAT_TAX_DETAIL });
}

/** The schema of a refusal of v10 to v50. */
export function legacyFailure(version: Exclude<ApiVersion, 60>): Schema {
  return object({
    version: { const: `v${version}` },
    rCode: { enum: FAILURE_CODES },
    rName: oneOf(FAILURE_NAMES),
    rMessage: TEXT,
    results: { type: 'array', maxItems: 0 },
  });
}

/** The schema of the list by postal code of v60. */
export const V60_POSTAL: Schema = object(
  {
    version: { const: 'v60' },
    rCode: { const: SUCCESS.code },
    results: list(ROWS[60]),
    addressDetail: object(ADDRESS_DETAIL),
  },
  { explain: LOOKUP_EXPLANATION },
);
