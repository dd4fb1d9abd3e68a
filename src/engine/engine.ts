/**
 * What one release answers: where a place is, its rates, what a cart comes to. Made once when a
 * release is opened; it holds everything that is remembered of it.
 */
import type { Dataset } from '../dataset/dataset.js';
import type { StateRuleRecord } from '../dataset/records.js';
import { fail, isFailure, type Failure } from '../failure.js';
import { dateOf, type DateInt } from '../tax/date.js';
import { Carts } from './cart/cart.js';
import { type FoundPlace, unknownState } from './cart/cart-place.js';
import type { SingleArticle } from './cart/cart-facts.js';
import type { CartOutcome, CartQuery } from './cart/outcome.js';
import { Borders, isByArea, RatesByArea, type Unheld, areaOf, States } from './rate/on-day.js';
import type { DateOf } from './locate/doubt.js';
import type { AddressLocator } from './locate/locator.js';
import { PlaceLocator } from './locate/place-locator.js';
import { elsewhere, PointLocator } from './locate/point.js';
import { ProductRules, type NoProduct, type ProductFinding } from './product/rules.js';
import type {
  AddressQuery,
  LookupOutcome,
  LookupQuery,
  PostalOutcome,
  SitusOutcome,
  ZipQuery,
  Border,
  KnownRates,
} from './lookup-query.js';
import { explainLookup, type LookupExplanation, SourceNotes } from './rate/explain.js';
import { ZipLists } from './rate/zip-list.js';
import { PRECISIONS, WEAKEST, type Precision, type Situs } from './situs.js';
import type { Country } from '../tax/jurisdiction.js';

/** The farthest ahead of UTC that a calendar runs. */
const ZONE_AHEAD_MS = 14 * 3_600_000;

export class Engine {
  /** Of the release. */
  readonly id: string;
  readonly #dataset: Dataset;
  readonly #states: States;
  readonly #rates: RatesByArea;
  readonly #places: PlaceLocator;
  readonly #addresses: AddressLocator;
  readonly #zipLists: ZipLists;
  readonly #products: ProductRules;
  readonly #sources: SourceNotes;
  readonly #points: PointLocator;
  readonly #borders: Borders;
  readonly #tell: ((unheld: Unheld) => void) | null;
  /** States that were told of. */
  readonly #told = new Set<string>();
  #carts: Carts | null = null;

  /**
   * The dataset is the engine's from now on; `close` closes it. `tell` is told once of each state
   * for which an answer was refused since its rates of now, or of then, are not held.
   */
  constructor(dataset: Dataset, tell: ((unheld: Unheld) => void) | null = null) {
    this.id = dataset.id;
    this.#tell = tell;
    this.#dataset = dataset;
    this.#states = new States(dataset);
    this.#rates = new RatesByArea(dataset);
    this.#places = new PlaceLocator(dataset, this.#rates);
    this.#addresses = this.#places.addresses;
    this.#zipLists = new ZipLists(dataset, this.#rates);
    this.#products = new ProductRules(dataset);
    this.#sources = new SourceNotes(dataset);
    this.#borders = new Borders(dataset.cells, this.#rates);
    this.#points = new PointLocator(dataset, this.#rates, (area, lat, lng) =>
      this.#places.unheldNear(area, lat, lng),
    );
  }

  close(): void {
    this.#dataset.close();
  }

  /**
   * Answers a query at `nowMs` (milliseconds since 1970 UTC). A location found less precisely than
   * `precisionMin` is refused; lists by postal code are not locations and always pass.
   */
  lookup(query: LookupQuery, nowMs: number, precisionMin: Precision = WEAKEST): LookupOutcome {
    const outcome = this.#lookup(query, nowMs, precisionMin);
    if (isRefusal(outcome)) this.#note(outcome);
    return outcome;
  }

  #note(refusal: Failure): void {
    const unheld = this.#tell === null ? null : this.#rates.unheld(refusal);
    if (unheld === null) return;
    const kind = `${unheld.state} ${unheld.past}`;
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#tell?.(unheld);
  }

  #lookup(query: LookupQuery, nowMs: number, precisionMin: Precision): LookupOutcome {
    const { date: asked } = query.options;
    if (asked !== null && !isPast(asked, aheadOf(nowMs))) return notPast();
    const dateAt: DateOf = (state) => asked ?? this.#states.today(state, nowMs);
    if (query.kind === 'postal') return this.#postal(query, dateAt, nowMs);
    const situs =
      query.kind === 'address' ? this.#address(query, dateAt) : this.#points.locate(query, dateAt);
    if (isRefusal(situs)) return situs;
    if (
      precisionMin !== WEAKEST &&
      PRECISIONS.indexOf(situs.precision) > PRECISIONS.indexOf(precisionMin)
    ) {
      return fail(
        'address-incomplete',
        `It is found by ${situs.precision} only; this server asks for ${precisionMin} or better.`,
      );
    }
    const area = areaOf(this.#dataset, situs);
    if (asked !== null && !isPast(asked, this.#states.today(area.state, nowMs))) return notPast();
    const date = dateAt(area.state);
    const rates = this.#rates.at(situs.area, date);
    return isRefusal(rates)
      ? rates
      : { kind: 'situs', situs, area, date, rates, border: undefined };
  }

  #address(query: AddressQuery, dateAt: DateOf): Situs | Failure {
    const { country: asked } = query.options;
    const situs =
      asked === 'CAN'
        ? this.#places.locateCanadian(query.address, dateAt)
        : this.#addresses.locate(query.address, dateAt);
    if (isRefusal(situs)) return situs;
    const { country } = this.#dataset.area(situs.area);
    return reaches(asked, country) ? situs : elsewhere(asked);
  }

  #postal(query: ZipQuery, dateAt: DateOf, nowMs: number): PostalOutcome | Failure {
    const rows = this.#zipLists.list(query, dateAt);
    if (isFailure(rows)) return rows;
    const { date: asked } = query.options;
    for (const {
      area: { state },
    } of rows) {
      if (asked !== null && !isPast(asked, this.#states.today(state, nowMs))) return notPast();
    }
    return { kind: 'postal', rows };
  }

  /**
   * Locates an address in a US state, its capital district included, at `nowMs`. Where its state
   * was told by itself too that has to be one.
   */
  locateInState(address: string, nowMs: number, state?: string): FoundPlace | Failure {
    const dateAt: DateOf = (code) => this.#states.today(code, nowMs);
    const situs = this.#places.locateInState(address, dateAt);
    if (isFailure(situs)) return situs;
    const unknown = state === undefined ? null : unknownState(this.#dataset, state);
    if (unknown !== null) return unknown;
    const area = this.#dataset.area(situs.area);
    return area.country === 'USA' ? { situs, area } : fail('no-result', 'it is not in a US state');
  }

  /** The rules of a state, province or territory on a day; null where none are held. */
  stateRules(code: string, date: DateInt): StateRuleRecord | null {
    return this.#states.rules(code, date);
  }

  /** A state's special tax on single expensive articles; null where it has none on the day. */
  singleArticle(state: string, date: DateInt): SingleArticle | null {
    return this.#carting.singleArticle(state, date);
  }

  /** What the rules say of a code of 1 to 10 letters and digits, where an answer lies. */
  product(outcome: SitusOutcome, code: string): ProductFinding | NoProduct | Failure {
    return this.#products.evaluate(outcome, code);
  }

  /** The nearest line that changes the rate, for answers that have a spot of their own. */
  border(outcome: SitusOutcome): Border | null {
    if (outcome.border === undefined) outcome.border = this.#border(outcome);
    return outcome.border;
  }

  #border({ situs, area, date }: SitusOutcome): Border | null {
    const { lat, lng } = situs;
    if (situs.apart === true) return null;
    if (isByArea(situs.precision) || (lat === 0 && lng === 0)) return null;
    return this.#borders.near(area.id, date, situs);
  }

  /** Where the figures of an answer come from. */
  explain(outcome: SitusOutcome | PostalOutcome): LookupExplanation {
    return explainLookup(this.id, this.#sources, outcome);
  }

  /**
   * Calculates a cart at `nowMs`. A place that is found less precisely than `precisionMin` is
   * refused where the tax rests on it, a code without a rule where `refuseUnruled` says so. What is
   * not known is refused: an amount is never a guess.
   */
  calculate(
    cart: CartQuery,
    nowMs: number,
    precisionMin: Precision = WEAKEST,
    refuseUnruled = false,
  ): CartOutcome | Failure {
    const outcome = this.#carting.calculate(cart, nowMs, precisionMin, refuseUnruled);
    if (isFailure(outcome)) this.#note(outcome);
    return outcome;
  }

  /** Carts have many facts of their own, which are read when the first of them comes. */
  get #carting(): Carts {
    return (this.#carts ??= new Carts(this.#dataset, {
      states: this.#states,
      rates: this.#rates,
      locator: this.#places,
      products: this.#products,
      sources: this.#sources,
    }));
  }
}

/** `isFailure` for a lookup's place, rates and outcome alone, which is faster: see there. */
function isRefusal(found: Situs | KnownRates | LookupOutcome): found is Failure {
  return (found as Partial<Failure>).failure !== undefined;
}

/**
 * Tells whether an address in `found` answers a query for `asked`. The default country reaches the
 * territories too, since their addresses are written like those of states; coordinates must match.
 */
function reaches(asked: Country, found: Country): boolean {
  return asked === found || (asked === 'USA' && found !== 'CAN');
}

function notPast(): Failure {
  return fail('invalid-historical', 'The month must have ended: give a month before this one.');
}

/** Whether the month of `date` is over on `today`. */
function isPast(date: DateInt, today: DateInt): boolean {
  return Math.floor(date / 100) < Math.floor(today / 100);
}

function aheadOf(nowMs: number): DateInt {
  const day = new Date(nowMs + ZONE_AHEAD_MS);
  const date = dateOf(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate());
  if (date === null) throw new RangeError(`no calendar date at ${nowMs}`);
  return date;
}
