/** Schema of the member `productDetail` of v60. */
import { MEAL_COMPONENTS } from '../engine/meal-tax-table.js';
import type { MealReason } from '../engine/meal-tax.js';
import {
  about, BOOLEAN, DAY, list, nullable, NUMBER, object, oneOf, RATE, TEXT, type Schema,
} from './schema.js';

const REASONS = [
  'LOCATION_NOT_RESOLVED', 'RULES_NOT_LOADED', 'STATE_NOT_COVERED', 'UNMAPPED_SCOPES_IN_STATE',
] as const satisfies readonly MealReason[];

const DOLLARS = nullable({ ...NUMBER, minimum: 0 });

const RATE_RULE = object({
  effectiveDt: nullable(DAY),
  effectiveTaxRate: nullable(about(RATE, 'Of the state part, or where jurTaxCode is null of all.')),
  exemptOver: about(DOLLARS, 'Dollars of an item\'s price above which it is exempt.'),
  exemptUnder: about(DOLLARS, 'Dollars of an item\'s price below which it is exempt.'),
  expiresDt: nullable(about(DAY, 'Null while it is in effect.')),
  isDestinationTaxType: nullable(BOOLEAN),
  isFoodDrug: nullable(BOOLEAN),
  jurTaxCode: nullable(TEXT),
  percentTaxable: nullable({ ...RATE, maximum: 1 }),
  taxablePortionOver: about(DOLLARS, 'Only the amount over it is taxed.'),
}, {
  perVolumeTaxRate: RATE, perVolumeUnit: TEXT, rateCapPerUnit: { ...NUMBER, minimum: 0 },
});

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

/** What the rules say of the taxability code that was asked for. */
export const PRODUCT_DETAIL: Schema = object({
  taxabilityCode: object({
    countyFIPS: { type: 'string', pattern: '^(?:[0-9]{3})?$' },
    stateFIPS: { type: 'string', pattern: '^(?:[0-9]{2})?$' },
    id: TEXT,
    title: TEXT,
    label: TEXT,
    rateActionCode: oneOf(['T00', 'T01', 'T02', 'T03']),
    rateActionMessage: TEXT,
  }, {
    rateRules: list(RATE_RULE),
    specialRules: object({ mealTax: MEAL_TAX }),
  }),
});
