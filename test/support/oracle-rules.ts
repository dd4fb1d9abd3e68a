/** Rows of fact tables as the oracle reads them: what of a price is taxed, meals. */
import type { FactPlace } from './product-facts.js';
import { add, compare, type Rational, rational, subtract, times, ZERO } from './rational.js';

/** The two parts of a tax. */
export interface Taxed {
  readonly state: Rational;
  readonly local: Rational;
}

export type Row = Readonly<Record<string, string>>;

export function cell(row: Row, name: string): string {
  return row[name] ?? '';
}

/** Whether a day lies between a row's first and last. */
export function inForce(row: Row, date: number): boolean {
  const from = cell(row, 'effective_from');
  const to = cell(row, 'effective_to');
  return (from === '' || Number(from) <= date) && (to === '' || Number(to) >= date);
}

const ONE: Rational = { over: 1n, under: 1n };

/** Whether a tier's row is for a jurisdiction and a code. */
export function isTierFor(
  row: Row,
  { level, place }: { readonly level: string; readonly place: FactPlace },
  county: string,
  tic: string,
): boolean {
  const codes = cell(row, 'tics');
  const fits =
    codes === ''
      ? !cell(row, 'except')
          .split(';')
          .some((code) => tic.startsWith(code))
      : `;${codes};`.includes(`;${tic};`);
  return (
    fits &&
    cell(row, 'level') === level &&
    ['', place.placeGeoid ?? '', county].includes(cell(row, 'jurisdiction_code'))
  );
}

/** The tax on an item above its tier's price, `own` up to it; null where nothing says. */
export function tierTax(row: Row | null, rate: Rational, price: Rational): Rational | 'own' | null {
  const limit = row === null ? price : rational(cell(row, 'threshold_usd'));
  if (row === null || compare(price, limit) <= 0) return 'own';
  if (cell(row, 'kind') === 'unknown') return null;
  const above = rational(cell(row, 'rate'));
  return cell(row, 'kind') === 'whole'
    ? times(price, above)
    : add(times(limit, rate), times(subtract(price, limit), above));
}

/** The part of a price that a rule taxes. */
export function shape(rule: Row, price: Rational): Rational {
  const threshold = cell(rule, 'threshold_usd');
  let taxed = price;
  if (threshold !== '') {
    const side = compare(price, rational(threshold));
    const excess = side > 0 ? subtract(price, rational(threshold)) : ZERO;
    taxed =
      {
        below_exempt: side < 0 ? ZERO : price,
        above_exempt: side > 0 ? ZERO : price,
        above_excess: excess,
      }[cell(rule, 'threshold_kind')] ?? price;
  }
  const percent = cell(rule, 'percent_taxable');
  return times(taxed, percent === '' ? ONE : rational(percent));
}

/** What is asked of the table. */
export interface MealSale {
  readonly rows: readonly Row[];
  readonly fips: (state: string) => string;
  readonly from: FactPlace;
  readonly to: FactPlace;
  readonly date: number;
}

/** The rows levied on the sale; null where it cannot be told. */
type Meals = readonly Row[] | null;

const MEALS = /^410(?:00|41)$/;

function heldFrom(row: Row): number {
  const from = cell(row, 'effective_from');
  return from === '' ? Number(`${cell(row, 'as_of').slice(0, 4)}0101`) : Number(from);
}

function isIn(row: Row, fips: string, { county = '', placeGeoid = '' }: FactPlace): boolean {
  const code = cell(row, 'jurisdiction_code');
  if (code.length === 2) return true;
  if (code.length === 5) return code === fips + county;
  return (
    code.slice(-5) === placeGeoid.slice(-5) &&
    (code.length < 10 || code.slice(0, 5) === fips + county)
  );
}

/** Whether a row, of whatever extent, is about a place. */
function isNear(row: Row, fips: string, place: FactPlace): boolean {
  const { placeGeoid = '' } = place;
  return isIn(row, fips, place) && (cell(row, 'extent') !== 'outside-cities' || placeGeoid === '');
}

/** Whether a row tells of taxes at its own place, and not which. */
function isPartial(row: Row): boolean {
  const extent = cell(row, 'extent');
  return extent !== 'whole' && (extent !== 'unlisted' || cell(row, 'jurisdiction_code').length > 2);
}

/** Whose place a row goes by. */
function placeOf(row: Row, { from, to }: MealSale): FactPlace {
  return cell(row, 'sourcing_basis') === 'SELLER_LOCATION' && from.state === to.state ? from : to;
}

/** Whether nothing narrower than a row's county or city can levy a tax of its own there. */
function isNarrowest(row: Row, { placeGeoid = '' }: FactPlace): boolean {
  const { length } = cell(row, 'jurisdiction_code');
  if (length > 5 || cell(row, 'jurisdiction_type') === 'INDEPENDENT_CITY') return true;
  return length === 5 && placeGeoid === '';
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
  const isTold =
    (nearby.some((row) => isNarrowest(row, seller)) &&
      !live.some((row) => isPartial(row) && isNear(row, own, seller))) ||
    live.every((row) => cell(row, 'extent') === 'whole' || !isNear(row, own, seller));
  const isEarly = begun.length === 0 && ofState.some((row) => isNear(row, own, seller));
  if (isEarly) return null;
  if (!isTold) return null;
  return live.filter(
    (row) =>
      cell(row, 'extent') === 'whole' &&
      cell(row, 'component_type') !== 'OCCUPATION_TAX' &&
      isIn(row, own, placeOf(row, sale)),
  );
}

/** Whether a meal tax stands in for a jurisdiction's sales tax. */
export function isReplaced(
  meals: readonly Row[],
  due: { readonly level: string; readonly place: FactPlace },
  sale: MealSale,
): boolean {
  return meals.some((row) => {
    if (due.level === 'state')
      return (
        cell(row, 'replaces_state_rate') === 'yes' || cell(row, 'replaces_local_rates') === 'yes'
      );
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
