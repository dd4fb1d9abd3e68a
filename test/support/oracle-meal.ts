/** Taxes on meals by the rows of the table, for the oracle. */
import { cell, inForce, type Row, type Taxed } from './oracle-row.js';
import type { FactPlace } from './product-facts.js';
import { add, rational, times, ZERO, type Rational } from './rational.js';

/** What is asked of the table. */
export interface MealSale {
  readonly rows: readonly Row[];
  readonly fips: (state: string) => string;
  readonly from: FactPlace;
  readonly to: FactPlace;
  readonly date: number;
}

/** The rows levied on the sale; null where it cannot be told. */
export type Meals = readonly Row[] | null;

const MEALS = /^410(?:00|41)$/;

function heldFrom(row: Row): number {
  const from = cell(row, 'effective_from');
  return from === '' ? Number(`${cell(row, 'as_of').slice(0, 4)}0101`) : Number(from);
}

function isIn(row: Row, fips: string, { county = '', placeGeoid = '' }: FactPlace): boolean {
  const code = cell(row, 'jurisdiction_code');
  if (code.length === 2) return true;
  if (code.length === 5) return code === fips + county;
  return code.slice(-5) === placeGeoid.slice(-5)
    && (code.length < 10 || code.slice(0, 5) === fips + county);
}

/** Whose place a row goes by. */
function placeOf(row: Row, { from, to }: MealSale): FactPlace {
  return cell(row, 'sourcing_basis') === 'SELLER_LOCATION' && from.state === to.state ? from : to;
}

/** The taxes on a meal beside or in place of sales tax. */
export function mealsOf(sale: MealSale, tic: string): Meals {
  const { rows, fips, from, to, date } = sale;
  const own = fips(to.state);
  const ofState = rows.filter((row) => cell(row, 'jurisdiction_code').startsWith(own));
  if (!MEALS.test(tic) || ofState.length === 0) return [];
  const begun = ofState.filter((row) => heldFrom(row) <= date);
  const live = begun.filter((row) => inForce(row, date));
  const seller = from.state === to.state ? from : to;
  const nearby = live.filter((row) => cell(row, 'extent') === 'whole' && isIn(row, own, seller));
  const isTold = nearby.some((row) => cell(row, 'jurisdiction_code').length > 2)
    || (begun.length > 0 && live.every((row) => cell(row, 'extent') === 'whole'));
  if (!isTold) return null;
  return live.filter((row) => cell(row, 'extent') === 'whole'
    && cell(row, 'component_type') !== 'OCCUPATION_TAX' && isIn(row, own, placeOf(row, sale)));
}

/** Whether a meal tax stands in for a jurisdiction's sales tax. */
export function isReplaced(
  meals: readonly Row[], due: { readonly level: string; readonly place: FactPlace }, sale: MealSale,
): boolean {
  return meals.some((row) => {
    if (due.level === 'state') return cell(row, 'replaces_state_rate') === 'yes'
      || cell(row, 'replaces_local_rates') === 'yes';
    if (cell(row, 'replaces_local_rates') !== 'own') {
      return cell(row, 'replaces_local_rates') === 'yes';
    }
    const level = cell(row, 'jurisdiction_code').length === 5 ? 'county' : 'city';
    return due.level === level && due.place === placeOf(row, sale);
  });
}

/** What meal taxes come to on an item. */
export function mealTax(meals: readonly Row[], price: Rational): Taxed {
  let [state, local] = [ZERO, ZERO];
  for (const row of meals) {
    const tax = times(price, rational(cell(row, 'rate')));
    if (cell(row, 'jurisdiction_code').length === 2) state = add(state, tax);
    else local = add(local, tax);
  }
  return { state, local };
}
