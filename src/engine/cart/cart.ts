/**
 * Calculates the tax of every line of a cart. All amounts are exact fractions until `roundLines`,
 * which is the only place where a cart is rounded.
 */
import type { Dataset } from '../../dataset/dataset.js';
import type { StateRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { type DateInt, todayIn } from '../../tax/date.js';
import { type Exact, plus } from '../../tax/exact.js';
import { GENERAL } from '../../tax/product-rule.js';
import { roundAmounts, roundLine } from '../../tax/round-lines.js';
import type { PlaceLocator } from '../locate/place-locator.js';
import { unruledSentence, type ProductRules } from '../product/rules.js';
import type { RatesByArea, States } from '../rate/on-day.js';
import { PRECISIONS, tooVague, widest, type Precision } from '../situs.js';
import { CartExplainer, type ExplainedPlaces } from './explain-cart.js';
import type { SourceNotes } from '../rate/explain.js';
import {
  readCartFacts,
  singleArticleOn,
  type SingleArticle,
  type SourcingRule,
} from './cart-facts.js';
import { aboveLimit } from './not-supported.js';
import { codesOf, isByOrigin, locallyTaxed, unruledOf } from './taxed-line.js';
import { LineTaxer, refuse } from './taxed-lines.js';
import { Localities } from './locality.js';
import type { CartMarks, CartOutcome, CartQuery, LineOutcome } from './outcome.js';
import { CartPlaces, isSamePlace, type FoundPlace, type KeptPlace } from './cart-place.js';
import { needs, notHeld, Sites, type Side } from './site.js';
import { Treatments } from './treatment.js';

/** The places of a cart, as far as they are needed, and the site that taxes it. */
interface PlacedCart extends ExplainedPlaces {
  /** The sourcing rule, but `origin` where no tax of the destination can be added. */
  readonly asks: SourcingRule;
}

/** Parts of the engine that carts share with lookups. */
interface CartCollaborators {
  readonly states: States;
  readonly rates: RatesByArea;
  readonly locator: PlaceLocator;
  readonly products: ProductRules;
  readonly sources: SourceNotes;
}

/** The index of the precision of a place; 0 where the tax does not depend on it. */
function rungOf(place: FoundPlace | null): number {
  return place === null ? 0 : PRECISIONS.indexOf(place.situs.precision);
}

/** Refuses an origin that is found less precisely than asked for; null where it is not. */
function vagueOrigin({ origin }: PlacedCart, precisionMin: Precision): Failure | null {
  const vague = origin === null ? null : tooVague(origin.situs, precisionMin);
  return vague === null ? null : refuse('origin', vague);
}

/** Calculates carts of one dataset. Remembers their places, and what their lines have in common. */
export class Carts {
  readonly #release: string;
  readonly #states: States;
  readonly #facts: ReturnType<typeof readCartFacts>;
  readonly #places: CartPlaces<PlacedCart | Failure>;
  readonly #sites: Sites;
  readonly #lines: LineTaxer;
  readonly #explainer: CartExplainer;

  /** @throws Error naming document and row when a fact cannot be read. */
  constructor(dataset: Dataset, { states, rates, locator, products, sources }: CartCollaborators) {
    const facts = readCartFacts(dataset);
    const localities = new Localities(dataset, rates, facts);
    const treatments = new Treatments(facts, products, localities);
    this.#release = dataset.id;
    this.#states = states;
    this.#facts = facts;
    this.#places = new CartPlaces(dataset, locator);
    this.#sites = new Sites(rates, facts);
    this.#lines = new LineTaxer(facts, treatments);
    this.#explainer = new CartExplainer(dataset.id, sources, facts, treatments, this.#lines);
  }

  /** A state's special tax on single expensive articles; null where it has none on the day. */
  singleArticle(state: string, date: DateInt): SingleArticle | null {
    return singleArticleOn(this.#facts, state, date);
  }

  /**
   * Calculates a cart at `nowMs` (milliseconds since 1970 UTC). A place that the tax depends on is
   * refused if it is found less precisely than `precisionMin`. Anything unknown is refused, with
   * the member of the cart at fault, because an amount is never a guess. A code without a rule is
   * taxed as general goods and reported, or refused if `refuseUnruled` is set.
   */
  calculate(
    cart: CartQuery,
    nowMs: number,
    precisionMin: Precision,
    refuseUnruled: boolean,
  ): CartOutcome | Failure {
    const placed = this.#place(cart, cart.instantMs ?? nowMs, precisionMin);
    if (isFailure(placed)) return placed;
    const { site } = placed;
    const taxed = this.#lines.tax(site, cart.lines);
    if (isFailure(taxed)) return taxed;
    if (site.saleLimit !== null && locallyTaxed(taxed) > site.saleLimit) {
      return refuse(null, aboveLimit(site.state.name, site.saleLimit));
    }
    const byOrigin = isByOrigin(taxed);
    const vague = byOrigin ? vagueOrigin(placed, precisionMin) : null;
    if (vague !== null) return vague;
    const unruled = unruledOf(taxed);
    const [first] = unruled;
    if (refuseUnruled && first !== undefined) {
      const why = unruledSentence(cart.lines[first]!.tic ?? GENERAL, site.state.name);
      return refuse(`lineItems[${first}]`, fail('no-result', why));
    }
    const { rounding } = cart;
    const spread = rounding.level === 'cart' ? roundAmounts(cart.lines, taxed, rounding) : null;
    const amountOf = (at: number): Exact => spread?.[at] ?? roundLine(taxed[at]!, rounding);
    const amounts = (): readonly Exact[] => taxed.map((_, at) => amountOf(at));
    const notes = cart.explain ? this.#explainer.lines(site, cart, taxed, amounts()) : null;
    let total: Exact = 0;
    const lines: LineOutcome[] = [];
    for (let at = 0; at < taxed.length; at += 1) {
      const line = cart.lines[at]!;
      const amount = amountOf(at);
      total = plus(total, amount);
      lines.push({
        index: line.index,
        itemId: line.itemId,
        amount,
        rate: this.#lines.rateOf(site, line, taxed, at),
        explain: notes?.[at] ?? null,
      });
    }
    return {
      kind: 'cart',
      marks: this.#marksOf(placed, byOrigin, codesOf(cart.lines, unruled)),
      lines,
      total,
      explain: notes === null ? null : this.#explainer.cart(cart, placed, total),
    };
  }

  /** What `#read` returns; remembered for the next cart between the same two places. */
  #place(cart: CartQuery, instantMs: number, precisionMin: Precision): PlacedCart | Failure {
    const target = this.#places.of(cart.destination, instantMs);
    const source = isSamePlace(cart.origin, cart.destination)
      ? target
      : this.#places.of(cart.origin, instantMs);
    const known = target.sold;
    if (known !== null && known.from === source.place && known.precisionMin === precisionMin) {
      return known.found;
    }
    const found = this.#read(source, target, instantMs, precisionMin);
    target.sold = { from: source.place, precisionMin, found };
    return found;
  }

  /** Locates the places that the tax depends on, and reads the rates there. */
  #read(
    source: KeptPlace<PlacedCart | Failure>,
    target: KeptPlace<PlacedCart | Failure>,
    instantMs: number,
    precisionMin: Precision,
  ): PlacedCart | Failure {
    const dateIn = (code: string): DateInt => this.#states.today(code, instantMs);
    const places = this.#places;
    const isSame = source === target;
    const to = places.locate(target, dateIn);
    const toState = isFailure(to) ? places.certainState(target) : to.area.state;
    const named = isSame ? toState : places.certainState(source);
    if (isFailure(to) && (toState === '' || named !== toState)) return refuse('destination', to);
    const from = isSame
      ? to
      : named !== '' && named !== toState
        ? null
        : places.locate(source, dateIn);
    const located = from === null || isFailure(from) ? named : from.area.state;
    if (from !== null && isFailure(from) && located === '') return refuse('origin', from);
    const interstate = located !== toState;
    const state = this.#states.require(toState);
    const timeZone = this.#zoneOf(state, to);
    const date = todayIn(timeZone, instantMs);
    const sourcing = this.#sites.sourcing(state, date, interstate);
    if (sourcing === null) return refuse(null, notHeld(state));
    const origin = from === null || isFailure(from) ? null : from;
    const asks =
      origin !== null && this.#sites.isFull(sourcing, date, origin) ? 'origin' : sourcing.rule;
    const sides: readonly (readonly [Side, FoundPlace | Failure | null])[] = [
      ['origin', from],
      ['destination', to],
    ];
    for (const [side, place] of sides) {
      if (place === null || !needs(asks, side)) continue;
      if (isFailure(place)) return refuse(side, place);
      const vague = tooVague(place.situs, precisionMin);
      if (vague !== null) return refuse(side, vague);
    }
    const destination = isFailure(to) ? null : to;
    const site = this.#sites.at(state, date, sourcing, origin, destination);
    return isFailure(site)
      ? refuse(null, site)
      : { site, origin, destination, originState: located, timeZone, asks };
  }

  /**
   * The time zone of the destination: its county's, where that differs from the state's main one.
   */
  #zoneOf(state: StateRecord, to: FoundPlace | Failure): string {
    if (isFailure(to)) return state.timeZone;
    const { stateFips, countyFips } = to.area;
    return this.#facts.zones.get(stateFips + countyFips) ?? state.timeZone;
  }

  /** `byOrigin` is whether a line's tax depends on the origin, whatever the sourcing rule asks. */
  #marksOf(
    { site, origin, destination, asks }: PlacedCart,
    byOrigin: boolean,
    unruled: readonly string[],
  ): CartMarks {
    const { date, state, estimated, stale, partial } = site;
    const from = byOrigin || needs(asks, 'origin') ? origin : null;
    const to = needs(asks, 'destination') ? destination : null;
    return {
      dataset: this.#release,
      date,
      state: state.code,
      sourcing: site.sides,
      precision: PRECISIONS[Math.max(rungOf(from), rungOf(to))] ?? 'none',
      assumed: widest(from?.situs.assumed ?? null, to?.situs.assumed ?? null),
      estimated,
      stale,
      partial,
      unruled,
    };
  }
}
