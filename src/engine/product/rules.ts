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

/** A valid code with its rules at a place on a day. */
export interface ProductFinding {
  readonly kind: 'found';
  readonly code: ProductCode;
  /** Rules in force, all from the one code that they were made for. */
  readonly rules: readonly ProductRule[];
  /** Null for codes without meal taxes. */
  readonly meal: MealTax | null;
}

/**
 * Why a code has no finding: `unknown` is a well-formed code that no table has, `malformed` one of
 * digits that cannot be a code, `no-catalogue` means that the dataset has none.
 */
export interface NoProduct {
  readonly kind: 'unknown' | 'malformed' | 'no-catalogue';
}

/** More levels than any catalogue has; ends a circular chain of parents. */
const DEPTH_MAX = 12;

/**
 * Ordinary rates as product and meal rules need them. Local rates that a meal tax replaces are not
 * part of the combined one; the state's rate is, and `replacesStateRate` says where it is replaced.
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

  /** The code that a text names; null for none. */
  find(text: string): ProductCode | null {
    return codeForm(text) === 'override'
      ? (this.book.overrides.get(text.toUpperCase()) ?? null)
      : (this.book.catalogue?.get(text) ?? null);
  }

  /**
   * A code's rules in force in a state: its own or those of the nearest code above it with rules
   * that cover the codes below.
   */
  at(state: string, tic: string, date: DateInt): readonly ProductRule[] {
    return this.#nearest(state, tic, (rule) => inForce(rule, date));
  }

  /**
   * The first day for which a code's rules are known, if that is later than the day asked for;
   * otherwise null. A rule without a first day says nothing about the years before it was read:
   * neither that it held nor that it did not.
   */
  heldFrom(state: string, tic: string, date: DateInt): DateInt | null {
    const rules = this.#nearest(state, tic, () => true);
    if (rules.length === 0) return null;
    const starts = rules.map(({ heldFrom }) => heldFrom ?? DATE_MIN);
    const first = starts.reduce((least, start) => (start < least ? start : least));
    return first > date ? first : null;
  }

  /** Rules of the code itself, or of the nearest one above that has any. */
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
      // The code's rules are known to be unknown, so none are inherited either.
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
    // An address located by its ZIP has a certain state and rates, but no certain city.
    const certain = !isByArea(situs.precision);
    const place = { stateFips, countyFips, placeGeoid, certain, bordersHeld };
    if (certain) return mealTaxAt(this.book.meals, place, date);
    return mealTaxAt(this.book.meals, { ...place, spots: this.#spotsOf(situs, area) }, date);
  }

  /** The areas in which a place found by its ZIP may lie. */
  #spotsOf({ postalCode }: Situs, area: AreaRecord): readonly AreaRecord[] {
    const zip = Number(postalCode.slice(0, 5));
    const record = zip > 0 ? this.#dataset.zip(zip) : null;
    if (record === null) return [area];
    const held = [...record.parts, ...record.reach];
    return [area, ...held.map((part) => this.#dataset.area(part.area))];
  }

  /**
   * The rules of a code of 1 to 10 letters and digits. A refusal where rules exist but not for so
   * early a day as that of the answer.
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

/** A later rule must not be shown for an earlier day, nor may it seem as if there were none. */
function notHeld({ stateName }: AreaRecord, heldFrom: DateInt): Failure {
  return fail(
    'no-result',
    `${stateName}: the rules of this product code are held from ` +
      `${formatDate(heldFrom)} on; an older table would fill the time before`,
  );
}

/** Why a code without a rule is refused, where that is asked for. */
export function unruledSentence(code: string, stateName: string): string {
  return (
    `No rule is held for product code ${code} in ${stateName}; this server does not tax such ` +
    'a code as general goods.'
  );
}
