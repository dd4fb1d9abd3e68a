/** Schemas of v60: of its answers, its refusals and its list by postal code. */
import type { StateRuleRecord } from '../dataset/records.js';
import { COUNTRIES, LEVELS } from '../tax/jurisdiction.js';
import { SUCCESS } from './response-code.js';
import {
  ADDRESS_DETAIL, FAILURE_CODES, FAILURE_NAMES, V60_POSTAL,
} from './schema-legacy.js';
import { LOOKUP_EXPLANATION } from './schema-explain.js';
import { PRODUCT_DETAIL } from './schema-product.js';
import {
  about, DIALECT, list, nullable, object, oneOf, RATE, TEXT, type Members, type Schema,
} from './schema.js';

/** Path of the schema that answers name as their definition. */
export const V60_SCHEMA = '/request/v60/schema';

/** Levies of one row each, where there is no separate use tax. */
const LEVIES = ['GST', 'HST', 'PST', 'QST'] as const;

const FREIGHT_RULES = [
  'EXEMPT', 'EXEMPT_WHEN_SEPARATELY_STATED', 'ITEM_SPECIFIC', 'CONDITIONAL', 'TAXABLE',
] as const satisfies readonly StateRuleRecord['freightRule'][];

const JUR_TYPES = [
  ...LEVELS.map((level) => level.toUpperCase())
    .flatMap((level) => [`US_${level}_SALES_TAX`, `US_${level}_USE_TAX`]),
  ...LEVIES,
];

function metadataOf(response: Members): Schema {
  return object({
    version: { const: 'v60' },
    response: object({ ...response, message: TEXT, definition: about(TEXT, 'Address of this.') }),
  });
}

const BASE_RATE = object({
  rate: RATE,
  jurType: oneOf(JUR_TYPES),
  jurName: TEXT,
  jurDescription: TEXT,
  jurTaxCode: nullable(TEXT),
});

const SHIPPING_EXTENDED = object({
  description: TEXT,
  exemptWhenSeparatelyStated: oneOf(['true', 'false']),
  rule: oneOf(FREIGHT_RULES),
  stateCode: TEXT,
  stateName: TEXT,
});

const ADDRESS = object({
  countryCode: oneOf(COUNTRIES),
  countryName: TEXT,
  stateCode: TEXT,
  state: TEXT,
  county: TEXT,
  city: TEXT,
  street: TEXT,
  postalCode: TEXT,
  houseNumber: TEXT,
});

/** An answer for an address or coordinates. */
export const V60_SUCCESS: Schema = object({
  metadata: metadataOf({ code: { const: SUCCESS.code }, name: { const: SUCCESS.name } }),
  baseRates: about(list(BASE_RATE), 'A sales and a use row per jurisdiction: do not add them all.'),
  service: object({
    adjustmentType: { const: 'SERVICE_TAXABLE' }, taxable: oneOf(['Y', 'N', 'L']),
    description: TEXT,
  }),
  shipping: object({
    adjustmentType: { const: 'FREIGHT_TAXABLE' }, taxable: oneOf(['Y', 'N']), description: TEXT,
  }, { shippingExtended: SHIPPING_EXTENDED }),
  sourcingRules: object({
    adjustmentType: { const: 'ORIGIN_DESTINATION' }, description: TEXT, value: oneOf(['O', 'D']),
  }),
  taxSummaries: list(object({
    rate: RATE, taxType: oneOf(['SALES_TAX', 'USE_TAX']), summaryName: TEXT,
    displayRates: list(object({ name: TEXT, rate: RATE })),
  })),
  addressDetail: object(ADDRESS_DETAIL, { address: ADDRESS }),
}, { productDetail: PRODUCT_DETAIL, explain: LOOKUP_EXPLANATION });

/** What a refusal carries; problem documents carry it where a response code fits. */
export const REFUSAL_METADATA: Members = {
  metadata: metadataOf({ code: { enum: FAILURE_CODES }, name: oneOf(FAILURE_NAMES) }),
};

/** A refusal. */
export const V60_FAILURE: Schema = object(REFUSAL_METADATA);

/** The document behind `definition`: true of every JSON body of v60. */
export function v60Schema(baseUrl: string): Schema {
  return {
    $schema: DIALECT,
    $id: baseUrl + V60_SCHEMA,
    title: 'Answers of GET /request/v60',
    anyOf: [V60_SUCCESS, V60_POSTAL, V60_FAILURE],
  };
}
