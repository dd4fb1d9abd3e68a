/**
 * The meal-tax table: document "meal-tax", one row per jurisdiction and tax.
 *
 * `extent` says what the row's jurisdiction code covers: `whole` of it; `part` of it, whose border
 * is not held; `unlisted` for a state whose localities levy more meal taxes than the table lists.
 * Only `whole` rows have rules that can be applied; the others mark where findings are incomplete.
 */
import type { DateInt } from '../tax/date.js';
import { parseRate, type Rate } from '../tax/rate.js';
import type { Cells } from './product-cells.js';

export const MEAL_DOCUMENT = 'meal-tax';

/** Specification, MealTaxRule: on top of sales tax, in place of the state's, or on the seller. */
export const MEAL_COMPONENTS = ['ADD_ON', 'STATE_SPECIAL_TOTAL', 'OCCUPATION_TAX'] as const;
export type MealComponent = (typeof MEAL_COMPONENTS)[number];

export const MEAL_EXTENTS = ['whole', 'part', 'unlisted'] as const;
export type MealExtent = (typeof MEAL_EXTENTS)[number];

export interface MealRule {
  readonly component: MealComponent;
  /** State FIPS, state and county FIPS, place GEOID (7) or county subdivision GEOID (10). */
  readonly code: string;
  readonly name: string;
  readonly type: string;
  readonly extent: MealExtent;
  readonly rate: Rate;
  readonly replacesStateRate: boolean;
  /** It stands in for the whole sales tax: local sales taxes are not levied on meals either. */
  readonly replacesLocalRates: boolean;
  readonly sourcingBasis: string;
  readonly taxName: string;
  /** First and last day; null where not recorded and where open. */
  readonly from: DateInt | null;
  readonly to: DateInt | null;
  /** First day that the row speaks for; null where it speaks for all days before its last. */
  readonly heldFrom: DateInt | null;
}

/** Rules by state FIPS. */
export type MealTable = ReadonlyMap<string, readonly MealRule[]>;

const CODE = /^\d{2}(?:\d{3}|\d{5}|\d{8})?$/;
const NONE = 0 as Rate;

function codeOf(text: string): string | null {
  return CODE.test(text) ? text : null;
}

function mealRule(row: Cells): MealRule {
  const extent = row.oneOf('extent', MEAL_EXTENTS);
  return {
    component: row.oneOf('component_type', MEAL_COMPONENTS),
    code: row.required('jurisdiction_code', codeOf),
    name: row.text('jurisdiction_name'),
    type: row.text('jurisdiction_type'),
    extent,
    rate: extent === 'unlisted' ? NONE : row.required('rate', parseRate),
    replacesStateRate: row.flag('replaces_state_rate'),
    replacesLocalRates: row.flag('replaces_local_rates'),
    sourcingBasis: row.text('sourcing_basis'),
    taxName: row.text('tax_name'),
    from: row.date('effective_from'),
    to: row.date('effective_to'),
    heldFrom: row.heldFrom(),
  };
}

/**
 * Reads the table, the widest jurisdiction of a state first: a shorter code is a wider one.
 * @throws Error naming the row when a cell cannot be read.
 */
export function readMeals(rows: readonly Cells[]): MealTable {
  const table = new Map<string, MealRule[]>();
  for (const row of rows) {
    const rule = mealRule(row);
    const state = rule.code.slice(0, 2);
    const ofState = table.get(state);
    if (ofState === undefined) table.set(state, [rule]);
    else ofState.push(rule);
  }
  for (const rules of table.values()) {
    rules.sort((one, other) => one.code.length - other.code.length);
  }
  return table;
}
