/** What the rules say of a taxability code at a place on a day. */
import type { Dataset } from '../../dataset/dataset.js';
import { DATE_MIN, type DateInt } from '../../tax/date.js';
import { codeForm, inForce, type OrdinaryRates, type ProductRule } from '../../tax/product-rule.js';
import { sumRates } from '../../tax/rate.js';
import type { SitusOutcome } from '../query.js';
import type { KnownRates } from '../rate/area-rates.js';
import { productBook, type ProductBook, type ProductCode } from './book.js';
import { MEAL_CODES, mealTaxAt, type MealTax } from './meal-tax.js';

/** A valid code with its rules there and then. */
export interface ProductFinding {
  readonly code: ProductCode;
  /** Rules in force, all of the one code that they were made for. */
  readonly rules: readonly ProductRule[];
  /** Null for codes that no meal tax is levied on. */
  readonly meal: MealTax | null;
}

/** A valid code whose rules are held, but not for a day as early as that asked for. */
export interface ProductGap {
  readonly heldFrom: DateInt;
}

/**
 * A finding, or why there is none: `unknown` is a well-formed code that no table has, `malformed`
 * one of digits that cannot be a code, `no-catalogue` a dataset that cannot tell.
 */
export type ProductOutcome =
  ProductFinding | ProductGap | 'unknown' | 'malformed' | 'no-catalogue';

/** Deeper than any catalogue; ends a chain of parents that leads in a circle. */
const DEPTH_MAX = 12;

/** The code that a text names; null where none does. */
export function findCode(book: ProductBook, text: string): ProductCode | null {
  return codeForm(text) === 'override'
    ? book.overrides.get(text.toUpperCase()) ?? null
    : book.catalogue?.get(text) ?? null;
}

/**
 * A code's rules in force in a state: its own, else those of the nearest code above it that has
 * rules whose rows say that they cover the codes below.
 */
export function productRulesAt(
  book: ProductBook, state: string, tic: string, date: DateInt,
): readonly ProductRule[] {
  const ofState = book.products.get(state);
  if (ofState === undefined) return [];
  let code = tic;
  for (let depth = 0; depth < DEPTH_MAX && code !== ''; depth += 1) {
    const rules = (ofState.get(code) ?? []).filter((rule) =>
      (depth === 0 || rule.coversChildren) && inForce(rule, date));
    if (rules.length > 0) return rules;
    code = book.catalogue?.get(code)?.parent ?? '';
  }
  return [];
}

/**
 * The day from which a code's rules are held, where that lies after the day asked for; null where
 * the table speaks for the day. A rule without a first day is no rule of the years before it was
 * read, and what the law said then is not known: neither the rule nor its absence.
 */
export function rulesHeldFrom(
  book: ProductBook, state: string, tic: string, date: DateInt,
): DateInt | null {
  const ofState = book.products.get(state);
  if (ofState === undefined) return null;
  let code = tic;
  for (let depth = 0; depth < DEPTH_MAX && code !== ''; depth += 1) {
    const rules = (ofState.get(code) ?? []).filter((rule) => depth === 0 || rule.coversChildren);
    if (rules.length > 0) {
      const starts = rules.map(({ heldFrom }) => heldFrom ?? DATE_MIN);
      const first = starts.reduce((least, start) => (start < least ? start : least));
      return first > date ? first : null;
    }
    code = book.catalogue?.get(code)?.parent ?? '';
  }
  return null;
}

/** Ordinary rates as product and meal rules need them. */
export function ordinaryRates({ rows, sales }: KnownRates): OrdinaryRates {
  const state = rows.flatMap((row) => (row.component.level === 'state' ? [row.sales] : []));
  return { state: sumRates(state), combined: sales };
}

/** Meal taxes where an answer lies. */
export function mealTaxOf(
  dataset: Dataset, book: ProductBook, { area, situs, date }: SitusOutcome,
): MealTax {
  const { state, stateFips, countyFips, placeGeoid } = area;
  const bordersHeld = dataset.hasLayer(`places:${state}`) || dataset.hasLayer(`towns:${state}`);
  // An address located by its ZIP is sure of the state and of the rates, but not of the city.
  const certain = situs.precision !== 'postal';
  const place = { stateFips, countyFips, placeGeoid, certain, bordersHeld };
  return mealTaxAt(book.meals, place, date);
}

/** Evaluates a code of 1 to 10 letters and digits. */
export function productAt(
  dataset: Dataset, outcome: SitusOutcome, text: string,
): ProductOutcome {
  const book = productBook(dataset);
  if (book.catalogue === null) return 'no-catalogue';
  const code = findCode(book, text);
  if (code === null) return codeForm(text) === 'malformed' ? 'malformed' : 'unknown';
  const heldFrom = rulesHeldFrom(book, outcome.area.state, code.tic, outcome.date);
  if (heldFrom !== null) return { heldFrom };
  const rules = productRulesAt(book, outcome.area.state, code.tic, outcome.date);
  const meal = MEAL_CODES.has(code.tic) ? mealTaxOf(dataset, book, outcome) : null;
  return { code, rules, meal };
}
