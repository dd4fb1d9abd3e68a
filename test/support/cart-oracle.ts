/**
 * Cart taxes by the rules as they are written, in plain fractions, jurisdiction by jurisdiction.
 * It reads the fact tables itself and shares nothing with the engine.
 */
import { cell, isReplaced, mealsOf, mealTax, type Row, shape, type Taxed } from './oracle-rules.js';
import { holidayOn, onHoliday } from './oracle-holidays.js';
import {
  add,
  apportioned,
  compare,
  divided,
  least,
  rational,
  rounded,
  subtract,
  times,
  ZERO,
  type Rational,
} from './rational.js';
import { type OracleCart, type OracleItem, OracleSale, type OracleWorld } from './oracle-sale.js';

/** Units of 10^-digits dollars a line; null where the rules do not tell. */
type OracleAnswer = readonly bigint[] | null;

/** A tax on one item within the cap of its rule, and with what is taken by volume. */
function withinCap(rule: Row, scope: string, tax: Taxed): Taxed {
  let { state, local } = tax;
  if (cell(rule, 'cap_per_unit_usd') !== '' && scope === 'all') {
    const all = add(state, local);
    const cap = rational(cell(rule, 'cap_per_unit_usd'));
    // The state's part comes first; only the whole counts for the amount.
    if (compare(all, cap) > 0) [state, local] = [least(state, cap), ZERO];
    local = compare(all, cap) > 0 ? subtract(cap, state) : local;
  }
  const volume = cell(rule, 'per_volume_usd');
  return { state: volume === '' ? state : add(state, rational(volume)), local };
}

/** Whether a holiday covers an item even where delivery charges may be part of its price. */
function isWithinDelivered(
  holiday: Row | 'unclear' | null,
  price: Rational,
  delivery: Rational,
): boolean {
  if (holiday === null || holiday === 'unclear') return true;
  const limit = cell(holiday, 'max_item_usd');
  if (limit === '' || cell(holiday, 'delivery_in_price') === 'no') return true;
  const side = compare(add(price, delivery), rational(limit));
  return side < 0 || (side === 0 && cell(holiday, 'limit_kind') === 'up_to');
}

const ONE: Rational = { over: 1n, under: 1n };

/** Shipping and handling. */
function isCharge({ tic }: OracleItem): boolean {
  return tic === '10001' || tic === '11000';
}

class CartOracle {
  readonly #of: OracleSale;

  constructor(world: OracleWorld, cart: OracleCart) {
    this.#of = new OracleSale(world, cart);
  }

  /** All charges of the cart for delivery. */
  #delivery(): Rational {
    return this.#of.cart.items
      .filter(({ tic }) => tic === '10001' || tic.startsWith('110'))
      .map(({ price, quantity }) => times(rational(price), rational(quantity)))
      .reduce(add, ZERO);
  }

  #goods(price: Rational, quantity: Rational, tic: string): Taxed | null {
    const meals = mealsOf(this.#of.meal, tic);
    if (meals === null) return null;
    const rule = this.#of.rule(tic);
    const article = this.#of.article(tic, rule);
    const shaped = rule === null ? price : shape(rule, price);
    const rate = rule === null ? '' : cell(rule, 'state_rate');
    const scope = rule === null ? 'all' : cell(rule, 'scope');
    const exempt = rule !== null && cell(rule, 'taxable') === 'N';
    const bites = exempt || rate !== '' || compare(shaped, price) !== 0;
    let state = ZERO;
    let local = ZERO;
    if (rate !== '' && (scope === 'total' || scope === 'all') && !exempt) {
      state = times(shaped, rational(rate));
    } else {
      const plain =
        rule === null ||
        (rate === '' &&
          scope === 'all' &&
          !exempt &&
          ['threshold_usd', 'percent_taxable', 'per_volume_usd', 'cap_per_unit_usd'].every(
            (column) => cell(rule, column) === '',
          ));
      const isAsked = bites || cell(rule ?? {}, 'threshold_usd') === '';
      for (const due of this.#of.due) {
        if (isReplaced(meals, due, this.#of.meal)) continue;
        const { isState, rate: ordinary } = due;
        const said = this.#of.said(rule, due);
        if (said === null && isAsked) return null;
        const { follows, rate: levied } = said ?? { follows: null, rate: ordinary };
        let base = follows === true ? (exempt ? ZERO : shaped) : price;
        if (!isState && article !== null) {
          base = least(base, article('local_tax_applies_to_first_usd'));
        }
        const tier =
          plain || (follows === false && compare(levied, ordinary) === 0)
            ? this.#of.tiered(due, tic, price)
            : 'own';
        if (tier === null) return null;
        const tax =
          tier === 'own' ? times(base, isState && rate !== '' ? rational(rate) : levied) : tier;
        if (isState) state = add(state, tax);
        else local = add(local, tax);
      }
    }
    const meal = mealTax(meals, price);
    [state, local] = [add(state, meal.state), add(local, meal.local)];
    if (article !== null) {
      const start = article('local_tax_applies_to_first_usd');
      const end = least(price, article('single_article_to_usd'));
      if (compare(end, start) > 0) {
        state = add(state, times(subtract(end, start), article('state_single_article_rate')));
      }
    }
    if (rule !== null) ({ state, local } = withinCap(rule, scope, { state, local }));
    const holiday = holidayOn(this.#of.world, this.#of.state, this.#of.cart.date, { tic, price });
    const isPaid = quantity.over > 0n && state.over + local.over > 0n;
    if (isPaid && !this.#isTold(tic, rule, price, holiday)) return null;
    return onHoliday(holiday, times(state, quantity), times(local, quantity));
  }

  #isTold(
    tic: string,
    rule: Row | null,
    price: Rational,
    holiday: Row | 'unclear' | null,
  ): boolean {
    const isUntold = this.#of.isUntoldArticle(tic, rule, price);
    return !isUntold && isWithinDelivered(holiday, price, this.#delivery());
  }

  /** The rule for a charge: an empty one where a law that exempts shipping may tax handling. */
  #chargeRule(tic: string): string {
    const shipping = cell(this.#of.world.freight(this.#of.state), 'rule');
    const own = tic === '11000' ? this.#of.ofState('handling') : null;
    const said = own === null ? '' : cell(own, 'rule');
    const isUntold = /^(?:EXEMPT_WHEN_SEPARATELY_STATED|CONDITIONAL)$/.test(shipping);
    if (tic === '11000' && said === '' && isUntold) return '';
    return said === '' || said === 'AS_SHIPPING' ? shipping : said;
  }

  /** Whether the same share of an item's price is taxed with charges that are taxed in it. */
  #isStraight({ price, quantity, tic }: OracleItem): boolean {
    const { world, state, cart } = this.#of;
    const isTaxed = cell(world.freight(state), 'taxable') === 'Y';
    const delivery = cart.items
      .filter(isCharge)
      .filter((charge) => {
        const rule = this.#chargeRule(charge.tic);
        return /^(?:TAXABLE|ITEM_SPECIFIC)$/.test(rule) || (rule === 'CONDITIONAL' && isTaxed);
      })
      .map((charge) => times(rational(charge.price), rational(charge.quantity)))
      .reduce(add, ZERO);
    const own = rational(price);
    if (delivery.over === 0n || own.over === 0n || rational(quantity).over === 0n) return true;
    if (holidayOn(world, state, cart.date, { tic, price: own }) !== null) return true;
    const whole = add(own, delivery);
    const [tax, more] = [this.#goods(own, ONE, tic), this.#goods(whole, ONE, tic)];
    if (tax === null || more === null) return false;
    const [at, above] = [add(tax.state, tax.local), add(more.state, more.local)];
    return compare(times(at, whole), times(above, own)) === 0;
  }

  #freight(gross: Rational, tic: string, goods: readonly [Taxed, Rational][]): Taxed | null {
    const none = { state: ZERO, local: ZERO };
    const rule = this.#chargeRule(tic);
    if (rule === '') return gross.over > 0n ? null : none;
    const ordinary = (): Taxed | null => {
      let { state, local } = none;
      for (const { isState, rate } of this.#of.due) {
        if (isState) state = add(state, times(gross, rate));
        else local = add(local, times(gross, rate));
      }
      return { state, local };
    };
    if (rule === 'TAXABLE') return ordinary();
    const isTaxed = cell(this.#of.world.freight(this.#of.state), 'taxable') === 'Y';
    if (rule !== 'ITEM_SPECIFIC') return isTaxed && rule === 'CONDITIONAL' ? ordinary() : none;
    const paid = goods.filter(([, value]) => value.over > 0n);
    if (paid.length === 0) return isTaxed || tic === '11000' ? ordinary() : none;
    const share = ([{ state, local }, value]: readonly [Taxed, Rational]): Rational =>
      divided(add(state, local), value);
    const mixed = paid.some((each) => compare(share(each), share(paid[0]!)) !== 0);
    const state = paid.reduce((sum, [tax]) => add(sum, tax.state), ZERO);
    const local = paid.reduce((sum, [tax]) => add(sum, tax.local), ZERO);
    const value = paid.reduce((sum, [, each]) => add(sum, each), ZERO);
    const how = mixed ? this.#of.ofState('freight-mixed') : null;
    if (mixed && how === null) return gross.over > 0n ? null : none;
    if (how !== null && cell(how, 'mixed') === 'whole') {
      const whole = ordinary()!;
      return {
        state: state.over > 0n ? whole.state : ZERO,
        local: local.over > 0n ? whole.local : ZERO,
      };
    }
    const part = divided(gross, value);
    return { state: times(state, part), local: times(local, part) };
  }

  answer(): OracleAnswer {
    const { items, level, mode, digits } = this.#of.cart;
    const exact = new Map<number, Rational>();
    const goods: [Taxed, Rational][] = [];
    for (const pass of [false, true]) {
      for (const [at, item] of items.entries()) {
        if (isCharge(item) !== pass) continue;
        const gross = times(rational(item.price), rational(item.quantity));
        const tax = pass
          ? this.#freight(gross, item.tic, goods)
          : this.#goods(rational(item.price), rational(item.quantity), item.tic);
        if (tax === null) {
          if (gross.over > 0n) return null;
          exact.set(at, ZERO);
          continue;
        }
        if (!pass) goods.push([tax, gross]);
        exact.set(at, add(tax.state, tax.local));
      }
    }
    if (!items.every((item) => isCharge(item) || this.#isStraight(item))) return null;
    const units = { over: 10n ** BigInt(digits), under: 1n };
    const scaled = items.map((_, at) => times(exact.get(at)!, units));
    return level === 'line'
      ? scaled.map((each) => rounded(each, mode))
      : apportioned(scaled, mode, (at) => items[at]!.index);
  }
}

/** What a cart comes to. */
export function oracleCart(world: OracleWorld, cart: OracleCart): OracleAnswer {
  return new CartOracle(world, cart).answer();
}
