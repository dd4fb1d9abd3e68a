/**
 * What one release answers: where a place is, its rates, what a cart comes to. An Engine is made
 * when a release is opened, and holds everything that is remembered of the release.
 */
import { RecentCache } from '../base/tables.js';
import type { Dataset } from '../dataset/dataset.js';
import { fail, isFailure, type Failure } from '../failure.js';
import type { DateInt } from '../tax/date.js';
import { Carts } from './cart/cart.js';
import { type FoundPlace, unknownState } from './cart/cart-place.js';
import type { SingleArticle } from './cart/cart-facts.js';
import type { CartOutcome, CartQuery } from './cart/outcome.js';
import { ProductRules, type NoProduct, type ProductFinding } from './product/rules.js';
import type { PostalOutcome, SitusOutcome, Unheld } from './lookup-query.js';
import { explainLookup, type LookupExplanation, SourceNotes } from './rate/explain.js';
import { Lookups } from './rate/on-day.js';
import { WEAKEST, type Precision } from './situs.js';

/** Refusals for missing rates in each of two generations; there is at most one for each area. */
const REFUSALS_MAX = 16_384;

/** Answers queries and carts of one release. */
export class Engine extends Lookups {
  /** Id of the release. */
  readonly id: string;
  readonly #products: ProductRules;
  readonly #sources: SourceNotes;
  readonly #tell: ((unheld: Unheld) => void) | null;
  /**
   * Missing rates by the message of their refusal. Carts copy the refusal to name the member at
   * fault, so it cannot be the key.
   */
  readonly #unheld = new RecentCache<string, Unheld>(REFUSALS_MAX);
  /** States that were reported. */
  readonly #told = new Set<string>();
  #carts: Carts | null = null;

  /**
   * The engine owns the dataset from now on; `close` closes it. `tell` is called once for each
   * state for which an answer was refused because its present rates are missing, and once because
   * past ones are.
   */
  constructor(dataset: Dataset, tell: ((unheld: Unheld) => void) | null = null) {
    super(dataset, (unheld) => this.#unheld.set(unheld.why, unheld));
    this.id = dataset.id;
    this.#tell = tell;
    this.#products = new ProductRules(dataset);
    this.#sources = new SourceNotes(dataset);
  }

  close(): void {
    this.dataset.close();
  }

  protected override refused({ detail = '' }: Failure): void {
    const unheld = this.#unheld.get(detail);
    if (unheld === undefined) return;
    const kind = `${unheld.state} ${unheld.past}`;
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#tell?.(unheld);
  }

  /**
   * Locates an address in a US state or the District of Columbia at `nowMs`. If `state` is given,
   * the address must be in it.
   */
  locateInState(address: string, nowMs: number, state?: string): FoundPlace | Failure {
    const { dataset, states } = this;
    const situs = this.places.locateInState(address, (code) => states.today(code, nowMs));
    if (isFailure(situs)) return situs;
    const unknown = state === undefined ? null : unknownState(dataset, state);
    if (unknown !== null) return unknown;
    const area = dataset.area(situs.area);
    return area.country === 'USA' ? { situs, area } : fail('no-result', 'it is not in a US state');
  }

  /** A state's special tax on single expensive articles; null where it has none on the day. */
  singleArticle(state: string, date: DateInt): SingleArticle | null {
    return this.#carting.singleArticle(state, date);
  }

  /** What the rules say of a code of 1 to 10 letters and digits at the place of an answer. */
  product(outcome: SitusOutcome, code: string): ProductFinding | NoProduct | Failure {
    return this.#products.evaluate(outcome, code);
  }

  /** Explains where the figures of an answer come from. */
  explain(outcome: SitusOutcome | PostalOutcome): LookupExplanation {
    return explainLookup(this.id, this.#sources, outcome);
  }

  /**
   * Calculates a cart at `nowMs`. Refused are a place that the tax depends on if it is found less
   * precisely than `precisionMin`, a code without a rule if `refuseUnruled` is set, and anything
   * unknown: an amount is never a guess.
   */
  calculate(
    cart: CartQuery,
    nowMs: number,
    precisionMin: Precision = WEAKEST,
    refuseUnruled = false,
  ): CartOutcome | Failure {
    const outcome = this.#carting.calculate(cart, nowMs, precisionMin, refuseUnruled);
    if (isFailure(outcome)) this.refused(outcome);
    return outcome;
  }

  /** Carts need many facts of their own, which are only read for the first cart. */
  get #carting(): Carts {
    return (this.#carts ??= new Carts(this.dataset, {
      states: this.states,
      rates: this.rates,
      locator: this.places,
      products: this.#products,
      sources: this.#sources,
    }));
  }
}
