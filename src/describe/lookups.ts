/** Schemas of v60: its answers and its refusals. */
import type { StateRuleRecord } from '../dataset/records.js';
import { MINIMUM_PRECISIONS } from '../config.js';
import { COUNTRIES, LEVELS } from '../tax/jurisdiction.js';
import { SUCCESS } from '../wire/response-code.js';
import {
  BOOLEAN,
  DAY,
  DIALECT,
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
import { MEAL_COMPONENTS, type MealReason } from '../engine/product/meal-tax.js';
import {
  ADDRESS_DETAIL,
  FAILURE_CODES,
  FAILURE_NAMES,
  LOOKUP_EXPLANATION,
  V60_POSTAL,
} from './legacy-lookups.js';

const REASONS = [
  'LOCATION_NOT_RESOLVED',
  'RULES_NOT_LOADED',
  'STATE_NOT_COVERED',
  'UNMAPPED_SCOPES_IN_STATE',
] as const satisfies readonly MealReason[];

const DOLLARS = nullable({ ...NUMBER, minimum: 0 });

const RATE_RULE = object(
  {
    effectiveDt: nullable(DAY),
    effectiveTaxRate: nullable(
      about(RATE, 'Of the state part, or where jurTaxCode is null of all.'),
    ),
    exemptOver: about(DOLLARS, "Dollars of an item's price above which it is exempt."),
    exemptUnder: about(DOLLARS, "Dollars of an item's price below which it is exempt."),
    expiresDt: nullable(about(DAY, 'Null while it is in effect.')),
    isDestinationTaxType: nullable(BOOLEAN),
    isFoodDrug: nullable(BOOLEAN),
    jurTaxCode: nullable(TEXT),
    percentTaxable: nullable({ ...RATE, maximum: 1 }),
    taxablePortionOver: about(DOLLARS, 'Only the amount over it is taxed.'),
  },
  {
    perVolumeTaxRate: RATE,
    perVolumeUnit: TEXT,
    rateCapPerUnit: { ...NUMBER, minimum: 0 },
  },
);

const MEAL_TAX_RULE = object({
  componentType: oneOf(MEAL_COMPONENTS),
  jurisdictionCode: { type: 'string', pattern: '^[0-9]{2}(?:[0-9]{3}|[0-9]{5}|[0-9]{8})?$' },
  jurisdictionName: TEXT,
  jurisdictionType: TEXT,
  rate: RATE,
  replacesStateRate: BOOLEAN,
  sourcingBasis: TEXT,
  taxName: TEXT,
  effectiveDt: nullable(DAY),
  expiresDt: nullable(DAY),
});

const MEAL_TAX = object({
  combinedMealRate: nullable(RATE),
  reasonCodes: list(oneOf(REASONS)),
  rules: about(list(MEAL_TAX_RULE), 'The widest jurisdiction first.'),
});

/** What the rules say about the requested taxability code. */
const PRODUCT_DETAIL: Schema = object({
  taxabilityCode: object(
    {
      countyFIPS: { type: 'string', pattern: '^(?:[0-9]{3})?$' },
      stateFIPS: { type: 'string', pattern: '^(?:[0-9]{2})?$' },
      id: TEXT,
      title: TEXT,
      label: TEXT,
      rateActionCode: oneOf(['T00', 'T01', 'T02', 'T03']),
      rateActionMessage: TEXT,
    },
    {
      rateRules: list(RATE_RULE),
      specialRules: object({ mealTax: MEAL_TAX }),
    },
  ),
});

/** The path of the schema, to which answers refer as their definition. */
export const V60_SCHEMA = '/request/v60/schema';

/** Canadian levies, each with a single row, since they have no separate use tax. */
const LEVIES = ['GST', 'HST', 'PST', 'QST'] as const;

const FREIGHT_RULES = [
  'EXEMPT',
  'EXEMPT_WHEN_SEPARATELY_STATED',
  'ITEM_SPECIFIC',
  'CONDITIONAL',
  'TAXABLE',
] as const satisfies readonly StateRuleRecord['freightRule'][];

const JUR_TYPES = [
  ...LEVELS.map((level) => level.toUpperCase()).flatMap((level) => [
    `US_${level}_SALES_TAX`,
    `US_${level}_USE_TAX`,
  ]),
  ...LEVIES,
];

/** What an answer is based on. */
export const SITUS_NOTE: Schema = object(
  {
    precision: oneOf(MINIMUM_PRECISIONS),
    dataset: about(TEXT, 'The release that answered.'),
  },
  {
    stale: about({ const: true }, 'A list behind it was published for an earlier time.'),
    estimated: about({ const: true }, 'A figure is an estimate.'),
    partial: about(
      { const: true },
      'Districts of the state are known not to be listed: where one holds the rate is higher.',
    ),
    assumed: about(
      object({ lowest: RATE, highest: RATE }, { unknown: { const: true } }),
      'The rate is that of most of the ZIP: what it may be there; unknown where that ' +
        'of a part is not known.',
    ),
    border: about(
      object({ metres: INTEGER, rate: nullable(RATE) }),
      'The nearest line that changes the rate, under 50 metres away, and the rate beyond.',
    ),
    unruled: about(list(TEXT), 'Product codes that no rule is held for: taxed as general goods.'),
  },
);

function metadataOf(response: Members, optional: Members = {}): Schema {
  return object(
    {
      version: { const: 'v60' },
      response: object({ ...response, message: TEXT, definition: about(TEXT, 'Address of this.') }),
    },
    optional,
  );
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

/** The answer for an address or coordinates. */
export const V60_SUCCESS: Schema = object(
  {
    metadata: metadataOf(
      { code: { const: SUCCESS.code }, name: { const: SUCCESS.name } },
      { situs: SITUS_NOTE },
    ),
    baseRates: about(
      list(BASE_RATE),
      'A sales and a use row per jurisdiction: do not add them all.',
    ),
    service: object({
      adjustmentType: { const: 'SERVICE_TAXABLE' },
      taxable: oneOf(['Y', 'N', 'L']),
      description: TEXT,
    }),
    shipping: object(
      {
        adjustmentType: { const: 'FREIGHT_TAXABLE' },
        taxable: oneOf(['Y', 'N']),
        description: TEXT,
      },
      { shippingExtended: SHIPPING_EXTENDED },
    ),
    sourcingRules: object({
      adjustmentType: { const: 'ORIGIN_DESTINATION' },
      description: TEXT,
      value: oneOf(['O', 'D']),
    }),
    taxSummaries: list(
      object({
        rate: RATE,
        taxType: oneOf(['SALES_TAX', 'USE_TAX']),
        summaryName: TEXT,
        displayRates: list(object({ name: TEXT, rate: RATE })),
      }),
    ),
    addressDetail: object(ADDRESS_DETAIL, { address: ADDRESS }),
  },
  { productDetail: PRODUCT_DETAIL, explain: LOOKUP_EXPLANATION },
);

/** The metadata of a refusal; problem documents have them too where a response code fits. */
export const REFUSAL_METADATA: Members = {
  metadata: metadataOf({ code: { enum: FAILURE_CODES }, name: oneOf(FAILURE_NAMES) }),
};

/** A refusal. */
export const V60_FAILURE: Schema = object(REFUSAL_METADATA);

/** The schema that `definition` refers to, which every JSON body of v60 matches. */
export function v60Schema(baseUrl: string): Schema {
  return {
    $schema: DIALECT,
    $id: baseUrl + V60_SCHEMA,
    title: 'Answers of GET /request/v60',
    anyOf: [V60_SUCCESS, V60_POSTAL, V60_FAILURE],
  };
}
