/**
 * Tax for every line of a cart. All amounts are exact fractions until `roundLines`, the one place
 * where a cart is rounded.
 */
import { RecentCache } from '../../base/recent-cache.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { StateRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import type { Rate } from '../../tax/rate.js';
import { fiveDecimals, roundAmounts, roundRate } from '../../tax/round-lines.js';
import { todayIn } from '../rate/state-day.js';
import { sharedOf } from '../shared.js';
import { PRECISIONS, type Precision } from '../situs.js';
import { explainCart, explainLines } from './explain.js';
import { cartFacts, type SourcingRule } from './facts.js';
import {
  followsGoods, isFreight, isUnknown, NO_GOODS, taxFreight, taxGoods, totalOf, type TaxedLine,
  type UnknownLine,
} from './line.js';
import type { CartMarks, CartOutcome, CartRefusal, LineOutcome } from './outcome.js';
import {
  certainState, isSamePlace, locatePlace, tooVague, type FoundPlace,
} from './place.js';
import { QUANTITY_ONE, type CartLine, type CartQuery } from './query.js';
import {
  isFull, needs, notHeld, readSite, sourcingOf, type Side, type Site, type Sourcing,
} from './site.js';

/** Pairs of places and days kept a dataset. */
const SITES_MAX = 4_096;

const SITES = new WeakMap<Dataset, RecentCache<string, Site | Failure>>();

/** The places of a cart, as far as they were needed, and the site that taxes it. */
export interface PlacedCart {
  readonly site: Site;
  readonly origin: FoundPlace | null;
  readonly destination: FoundPlace | null;
  /** States of the two, which are known even where the place is not. */
  readonly originState: string;
  /** Whose calendar the date of the sale is of. */
  readonly timeZone: string;
  /** The rule as far as places go: the origin's alone where nothing of the destination joins. */
  readonly asks: SourcingRule;
}

function refuse(
  reason: CartRefusal['reason'], failure: Failure, line: number | null = null,
): CartRefusal {
  return { kind: 'refusal', reason, line, failure };
}

/** Areas and, where the door is not known, the ZIP that decides what may be told. */
function placeKey(place: FoundPlace | null): string {
  if (place === null) return '';
  const { area, precision, postalCode } = place.situs;
  return precision === 'postal' ? `${area}z${postalCode.slice(0, 5)}` : String(area);
}

function siteOf(
  dataset: Dataset, state: StateRecord, date: DateInt, sourcing: Sourcing,
  origin: FoundPlace | null, destination: FoundPlace | null,
): Site | Failure {
  let cache = SITES.get(dataset);
  if (cache === undefined) {
    cache = new RecentCache(SITES_MAX);
    SITES.set(dataset, cache);
  }
  const within = sourcing.interstate ? '>' : '=';
  const key = `${state.code}${date}${within}${placeKey(origin)}|${placeKey(destination)}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const site = readSite(dataset, state, date, sourcing, origin, destination);
  cache.set(key, site);
  return site;
}

/** The time zone of the destination: of its county, where that is not the state's main one. */
function zoneOf(dataset: Dataset, state: StateRecord, to: FoundPlace | Failure): string {
  if (isFailure(to)) return state.timeZone;
  const { stateFips, countyFips } = to.area;
  return cartFacts(dataset).zones.get(stateFips + countyFips) ?? state.timeZone;
}

/** Locates what the tax depends on, and reads the rates there. */
function placeCart(
  dataset: Dataset, cart: CartQuery, instantMs: number, precisionMin: Precision,
): PlacedCart | CartRefusal {
  const { states } = sharedOf(dataset);
  const dateIn = (code: string): DateInt => states.today(code, instantMs);
  const to = locatePlace(dataset, cart.destination, dateIn, instantMs);
  const toState = isFailure(to) ? certainState(dataset, cart.destination) : to.area.state;
  const isSame = isSamePlace(cart.origin, cart.destination);
  const named = isSame ? toState : certainState(dataset, cart.origin);
  if (isFailure(to) && (toState === '' || named !== toState)) return refuse('destination', to);
  const from = isSame ? to
    : named !== '' && named !== toState ? null
      : locatePlace(dataset, cart.origin, dateIn, instantMs);
  const located = from === null || isFailure(from) ? named : from.area.state;
  if (from !== null && isFailure(from) && located === '') return refuse('origin', from);
  const interstate = located !== toState;
  const state = states.require(toState);
  const timeZone = zoneOf(dataset, state, to);
  const date = todayIn(timeZone, instantMs);
  const sourcing = sourcingOf(cartFacts(dataset), state, date, interstate);
  if (sourcing === null) {
    return refuse('rate', notHeld(state));
  }
  const origin = from === null || isFailure(from) ? null : from;
  const asks = origin !== null && isFull(dataset, sourcing, date, origin)
    ? 'origin' : sourcing.rule;
  const sides: readonly (readonly [Side, FoundPlace | Failure | null])[] =
    [['origin', from], ['destination', to]];
  for (const [side, place] of sides) {
    if (place === null || !needs(asks, side)) continue;
    if (isFailure(place)) return refuse(side, place);
    const vague = tooVague(place, precisionMin);
    if (vague !== null) return refuse(side, vague);
  }
  const destination = isFailure(to) ? null : to;
  const site = siteOf(dataset, state, date, sourcing, origin, destination);
  return isFailure(site)
    ? refuse('rate', site)
    : { site, origin, destination, originState: located, timeZone, asks };
}

/** The exact tax of every line, or the position of one that cannot be told and why. */
function taxLines(
  dataset: Dataset, site: Site, lines: readonly CartLine[],
): readonly TaxedLine[] | CartRefusal {
  const { catalogue } = sharedOf(dataset).products.book;
  const taxed: (TaxedLine | null)[] = [];
  let delivery = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (isFreight(line)) {
      taxed.push(null);
      delivery = true;
      continue;
    }
    if (line.tic !== null && catalogue !== null && !catalogue.has(line.tic)) {
      return untold({ unknown: `The catalogue has no product code ${line.tic}.` }, at);
    }
    const tax = taxGoods(dataset, site, line);
    if (isUnknown(tax)) return untold(tax, at);
    taxed.push(tax);
  }
  const goods = delivery && followsGoods(dataset, site) ? totalOf(taxed) : NO_GOODS;
  const all: TaxedLine[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const tax = taxed[at] ?? taxFreight(dataset, site, lines[at]!, goods);
    if (isUnknown(tax)) return untold(tax, at);
    all.push(tax);
  }
  return all;
}

function untold({ unknown }: UnknownLine, at: number): CartRefusal {
  return refuse('rate', fail('no-result', unknown), at);
}

/** What the rules would take of a line whose price or quantity is zero: its tax for one item. */
function rateOfNothing(dataset: Dataset, site: Site, line: CartLine): TaxedLine | null {
  const price = line.price > 0n ? line.price : 1n;
  const one = { ...line, price, quantity: QUANTITY_ONE };
  const tax = isFreight(line)
    ? taxFreight(dataset, site, one, totalOf([])) : taxGoods(dataset, site, one);
  return isUnknown(tax) ? null : tax;
}

/** The effective rate of a line, to five decimals. */
function rateOf(dataset: Dataset, site: Site, line: CartLine, tax: TaxedLine): Rate {
  if (line.price === 0n || line.quantity === 0) {
    return roundRate(rateOfNothing(dataset, site, line));
  }
  return tax.flat === null ? roundRate(tax) : fiveDecimals(tax.flat);
}

function marksOf(dataset: Dataset, placed: PlacedCart): CartMarks {
  const { site, origin, destination, asks } = placed;
  const { date, state, estimated, stale } = site;
  const rung = (side: Side, place: FoundPlace | null): number =>
    (place === null || !needs(asks, side) ? 0 : PRECISIONS.indexOf(place.situs.precision));
  const weakest = Math.max(rung('origin', origin), rung('destination', destination));
  return {
    dataset: dataset.id, date, state: state.code, sourcing: site.sides,
    precision: PRECISIONS[weakest] ?? 'none', estimated, stale,
  };
}

/**
 * Calculates a cart at `nowMs` (milliseconds since 1970 UTC). A place that is found less precisely
 * than `precisionMin` is refused where the tax rests on it. What is not known is refused: an
 * amount is never a guess.
 */
export function calculateCart(
  dataset: Dataset, cart: CartQuery, nowMs: number, precisionMin: Precision = 'postal',
): CartOutcome | CartRefusal {
  const placed = placeCart(dataset, cart, cart.instantMs ?? nowMs, precisionMin);
  if ('kind' in placed) return placed;
  const { site } = placed;
  const taxed = taxLines(dataset, site, cart.lines);
  if ('kind' in taxed) return taxed;
  const amounts = roundAmounts(cart.lines, taxed, cart.rounding);
  const notes = cart.explain ? explainLines(dataset, site, cart, taxed, amounts) : null;
  let total = 0n;
  const lines = taxed.map((tax, at): LineOutcome => {
    const line = cart.lines[at]!;
    const amount = amounts[at]!;
    total += amount;
    return {
      index: line.index, itemId: line.itemId, amount, rate: rateOf(dataset, site, line, tax),
      explain: notes?.[at] ?? null,
    };
  });
  return {
    kind: 'cart', marks: marksOf(dataset, placed), lines, total,
    explain: notes === null ? null : explainCart(dataset, cart, placed, total),
  };
}
