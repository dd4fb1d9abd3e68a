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
import type { Rate } from '../../tax/rate.js';
import { fiveDecimals, roundAmounts, roundLine, roundRate } from '../../tax/round-lines.js';
import type { PlaceLocator } from '../locate/place-locator.js';
import { unruledSentence, type ProductRules } from '../product/rules.js';
import type { RatesByArea, States } from '../rate/on-day.js';
import { PRECISIONS, tooVague, widest, type Precision, type RateRange } from '../situs.js';
import { CartExplainer, type ExplainedPlaces } from './explain-cart.js';
import type { SourceNotes } from '../rate/explain.js';
import {
  readCartFacts,
  singleArticleOn,
  type SingleArticle,
  type SourcingRule,
} from './cart-facts.js';
import { bentByDelivery, overLimit } from './delivered-price.js';
import { aboveLimit } from './not-supported.js';
import {
  codesOf,
  isTaxed,
  locallyTaxed,
  NO_GOODS,
  totalOf,
  type TaxedLine,
  unruledOf,
  UNTAXED,
} from './taxed-line.js';
import { isFreight, LineTaxer } from './taxed-lines.js';
import { Localities } from './locality.js';
import {
  type CartLine,
  type CartMarks,
  type CartOutcome,
  type CartQuery,
  type LineOutcome,
  QUANTITY_ONE,
} from './outcome.js';
import { CartPlaces, isSamePlace, type FoundPlace, type KeptPlace } from './cart-place.js';
import { needs, notHeld, Sites, type Side, type Site } from './site.js';
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

/**
 * The refusal of a cart, with the member at fault: a place or a line, or null for the cart as a
 * whole.
 */
function refuse(field: Side | `lineItems[${number}]` | null, failure: Failure): Failure {
  return { ...failure, field };
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
    const taxed = this.#tax(site, cart.lines);
    if (isFailure(taxed)) return taxed;
    if (site.saleLimit !== null && locallyTaxed(taxed) > site.saleLimit) {
      return refuse(null, aboveLimit(site.state.name, site.saleLimit));
    }
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
        rate: this.#rateOf(site, line, taxed[at]!),
        explain: notes?.[at] ?? null,
      });
    }
    return {
      kind: 'cart',
      marks: this.#marksOf(placed, codesOf(cart.lines, unruled)),
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

  /** The exact tax of every line. Goods come first, since delivery charges depend on them. */
  #tax(site: Site, lines: readonly CartLine[]): readonly TaxedLine[] | Failure {
    const taxed: TaxedLine[] = [];
    const charges: number[] = [];
    let onHoliday = false;
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at]!;
      if (isFreight(line)) {
        charges.push(at);
        taxed.push(UNTAXED);
        continue;
      }
      const tax = this.#lines.goods(site, line);
      if (!isTaxed(tax)) return refuse(`lineItems[${at}]`, tax);
      if (tax.holiday !== null) onHoliday = true;
      taxed.push(tax);
    }
    const over = onHoliday ? overLimit(lines, taxed) : null;
    if (over !== null) return refuse(`lineItems[${over.at}]`, fail('no-result', over.why));
    if (charges.length === 0) return taxed;
    const goods = this.#lines.followsGoods(site) ? totalOf(taxed) : NO_GOODS;
    for (const at of charges) {
      const tax = this.#lines.freight(site, lines[at]!, goods);
      if (!isTaxed(tax)) return refuse(`lineItems[${at}]`, tax);
      taxed[at] = tax;
    }
    const bent = bentByDelivery(lines, taxed);
    return bent === null ? taxed : refuse(`lineItems[${bent.at}]`, fail('no-result', bent.why));
  }

  /** For a line whose price or quantity is zero: the tax of one item for a dollar. */
  #rateOfNothing(site: Site, line: CartLine): TaxedLine | null {
    const price = line.price > 0 ? line.price : 1;
    const one = { ...line, price, quantity: QUANTITY_ONE };
    const tax = isFreight(line)
      ? this.#lines.freight(site, one, totalOf([]))
      : this.#lines.goods(site, one);
    return isFailure(tax) ? null : tax;
  }

  /** The effective rate of a line, to five decimals. */
  #rateOf(site: Site, line: CartLine, tax: TaxedLine): Rate {
    if (line.price <= 0 || line.quantity === 0) return roundRate(this.#rateOfNothing(site, line));
    return tax.flat === null ? roundRate(tax) : fiveDecimals(tax.flat);
  }

  #marksOf({ site, origin, destination, asks }: PlacedCart, unruled: readonly string[]): CartMarks {
    const { date, state, estimated, stale, partial } = site;
    const rung = (side: Side, place: FoundPlace | null): number =>
      place === null || !needs(asks, side) ? 0 : PRECISIONS.indexOf(place.situs.precision);
    const weakest = Math.max(rung('origin', origin), rung('destination', destination));
    const rangeOf = (side: Side, place: FoundPlace | null): RateRange | null =>
      place === null || !needs(asks, side) ? null : (place.situs.assumed ?? null);
    return {
      dataset: this.#release,
      date,
      state: state.code,
      sourcing: site.sides,
      precision: PRECISIONS[weakest] ?? 'none',
      assumed: widest(rangeOf('origin', origin), rangeOf('destination', destination)),
      estimated,
      stale,
      partial,
      unruled,
    };
  }
}
