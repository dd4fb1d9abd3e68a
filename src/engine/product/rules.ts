/** What the rules say of a taxability code at a place on a day. */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { fail, type Failure } from '../../failure.js';
import { DATE_MIN, formatDate, type DateInt } from '../../tax/date.js';
import { codeForm, inForce, type OrdinaryRates, type ProductRule } from '../../tax/product-rule.js';
import { sumRates, type Rate } from '../../tax/rate.js';
import type { SitusOutcome, KnownRates } from '../lookup-query.js';
import { isByArea } from '../rate/on-day.js';
import type { Situs } from '../situs.js';
import { readProductBook, type ProductBook, type ProductCode } from './product-book.js';
import { MEAL_CODES, mealTaxAt, replacesLocal, type MealTax } from './meal-tax.js';

/** A valid code with its rules there and then. */
export interface ProductFinding {
  readonly kind: 'found';
  readonly code: ProductCode;
  /** Rules in force, all of the one code that they were made for. */
  readonly rules: readonly ProductRule[];
  /** Null for codes that no meal tax is levied on. */
  readonly meal: MealTax | null;
}

/**
 * Why there is none: `unknown` is a well-formed code that no table has, `malformed` one of digits
 * that cannot be a code, `no-catalogue` a dataset that cannot tell.
 */
export interface NoProduct {
  readonly kind: 'unknown' | 'malformed' | 'no-catalogue';
}

/** Deeper than any catalogue; ends a chain of parents that leads in a circle. */
const DEPTH_MAX = 12;

/**
 * Ordinary rates as product and meal rules need them. Local rates that a meal tax stands in for are
 * no part of the combined one; the state's is, as `replacesStateRate` tells of it.
 */
export function ordinaryRates({ rows }: KnownRates, meal: MealTax | null): OrdinaryRates {
  const ofState = rows.filter(({ component }) => component.level === 'state');
  const levied = rows.filter(
    ({ component: { level } }) =>
      level === 'state' || meal?.rules.some((rule) => replacesLocal(rule, level)) !== true,
  );
  const sum = (some: typeof rows): Rate => sumRates(some.map(({ sales }) => sales));
  return { state: sum(ofState), combined: sum(levied) };
}

/** The product rules of one dataset, read when they are first asked for. */
export class ProductRules {
  readonly #dataset: Dataset;
  #book: ProductBook | null = null;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** @throws Error naming document and row when a cell cannot be read. */
  get book(): ProductBook {
    return (this.#book ??= readProductBook(this.#dataset));
  }

  /** The code that a text names; null where none does. */
  find(text: string): ProductCode | null {
    return codeForm(text) === 'override'
      ? (this.book.overrides.get(text.toUpperCase()) ?? null)
      : (this.book.catalogue?.get(text) ?? null);
  }

  /**
   * A code's rules in force in a state: its own, else those of the nearest code above it that has
   * rules whose rows say that they cover the codes below.
   */
  at(state: string, tic: string, date: DateInt): readonly ProductRule[] {
    return this.#nearest(state, tic, (rule) => inForce(rule, date));
  }

  /**
   * The day from which a code's rules are held, where that lies after the day asked for; null where
   * the table speaks for the day. A rule without a first day is no rule of the years before it was
   * read, and what the law said then is not known: neither the rule nor its absence.
   */
  heldFrom(state: string, tic: string, date: DateInt): DateInt | null {
    const rules = this.#nearest(state, tic, () => true);
    if (rules.length === 0) return null;
    const starts = rules.map(({ heldFrom }) => heldFrom ?? DATE_MIN);
    const first = starts.reduce((least, start) => (start < least ? start : least));
    return first > date ? first : null;
  }

  /** Rules of the code itself, else of the nearest one above that has any. */
  #nearest(
    state: string,
    tic: string,
    counts: (rule: ProductRule) => boolean,
  ): readonly ProductRule[] {
    const { products, catalogue } = this.book;
    const ofState = products.get(state);
    if (ofState === undefined) return [];
    let code = tic;
    for (let depth = 0; depth < DEPTH_MAX && code !== ''; depth += 1) {
      const own = ofState.get(code);
      // Known to be unknown: nothing is inherited either.
      if (own?.length === 0) return [];
      const rules = (own ?? []).filter(
        (rule) => (depth === 0 || rule.coversChildren) && counts(rule),
      );
      if (rules.length > 0) return rules;
      code = catalogue?.get(code)?.parent ?? '';
    }
    return [];
  }

  /** Meal taxes at a place on a day. */
  mealTax(situs: Situs, area: AreaRecord, date: DateInt): MealTax {
    const { state, stateFips, countyFips, placeGeoid } = area;
    const bordersHeld =
      this.#dataset.hasLayer(`places:${state}`) || this.#dataset.hasLayer(`towns:${state}`);
    // An address located by its ZIP is sure of the state and of the rates, but not of the city.
    const certain = !isByArea(situs.precision);
    const place = { stateFips, countyFips, placeGeoid, certain, bordersHeld };
    if (certain) return mealTaxAt(this.book.meals, place, date);
    return mealTaxAt(this.book.meals, { ...place, spots: this.#spotsOf(situs, area) }, date);
  }

  /** The areas that a place found by its ZIP may lie in. */
  #spotsOf({ postalCode }: Situs, area: AreaRecord): readonly AreaRecord[] {
    const zip = Number(postalCode.slice(0, 5));
    const record = zip > 0 ? this.#dataset.zip(zip) : null;
    if (record === null) return [area];
    const held = [...record.parts, ...record.reach];
    return [area, ...held.map((part) => this.#dataset.area(part.area))];
  }

  /**
   * Evaluates a code of 1 to 10 letters and digits; a refusal where its rules are held, but not for
   * a day as early as that of the answer.
   */
  evaluate(
    { area, situs, date }: SitusOutcome,
    text: string,
  ): ProductFinding | NoProduct | Failure {
    if (this.book.catalogue === null) return { kind: 'no-catalogue' };
    const code = this.find(text);
    if (code === null) return { kind: codeForm(text) === 'malformed' ? 'malformed' : 'unknown' };
    const heldFrom = this.heldFrom(area.state, code.tic, date);
    if (heldFrom !== null) return notHeld(area, heldFrom);
    const rules = this.at(area.state, code.tic, date);
    const meal = MEAL_CODES.has(code.tic) ? this.mealTax(situs, area, date) : null;
    return { kind: 'found', code, rules, meal };
  }
}

/** A rule of a later day is not shown for an earlier one, nor is its absence claimed. */
function notHeld({ stateName }: AreaRecord, heldFrom: DateInt): Failure {
  return fail(
    'no-result',
    `${stateName}: the rules of this product code are held from ` +
      `${formatDate(heldFrom)} on; an older table would fill the time before`,
  );
}

/** Why a code that no rule is held for is refused, where it is to be. */
export function unruledSentence(code: string, stateName: string): string {
  return (
    `No rule is held for product code ${code} in ${stateName}; this server does not tax such ` +
    'a code as general goods.'
  );
}
