/**
 * Cart taxes by the rules as they are written, in plain fractions, jurisdiction by jurisdiction.
 * It reads the fact tables itself and shares nothing with the engine.
 */
import {
  cell, holidayOn, inForce, isReplaced, isTierFor, localTax, mayTaxUnseen, type MealSale, mealsOf,
  mealTax, onHoliday, type Row, shape, type Taxed, tierTax,
} from './oracle-rules.js';
import type { FactPlace } from './product-facts.js';
import {
  add, apportioned, compare, divided, least, rational, rounded, subtract, times, ZERO,
  type Rational,
} from './rational.js';

export interface OracleWorld {
  readonly places: readonly FactPlace[];
  readonly fips: (state: string) => string;
  /** Rows of a document for a state, or "" for those of no state. */
  readonly table: (document: string, state: string) => readonly Row[];
  /** A state's row of freight.tsv and of sourcing.tsv. */
  readonly freight: (state: string) => Row;
  readonly sourcing: (state: string) => Row;
  /** The code above each, "" at the top. */
  readonly parents: ReadonlyMap<string, string>;
}

export interface OracleItem {
  readonly index: number;
  readonly price: string;
  readonly quantity: string;
  readonly tic: string;
}

export interface OracleCart {
  readonly origin: number;
  readonly destination: number;
  /** YYYYMMDD at the destination. */
  readonly date: number;
  readonly items: readonly OracleItem[];
  readonly mode: string;
  readonly level: string;
  readonly digits: number;
}

/** Units of 10^-digits dollars a line; null where the rules do not tell. */
export type OracleAnswer = readonly bigint[] | null;

interface Due {
  readonly isState: boolean;
  readonly level: string;
  readonly rate: Rational;
  readonly place: FactPlace;
}

const HUNDRED = rational('100');

class CartOracle {
  readonly #world: OracleWorld;
  readonly #cart: OracleCart;
  readonly #from: FactPlace;
  readonly #to: FactPlace;
  readonly #due: readonly Due[];
  readonly #sale: MealSale;

  constructor(world: OracleWorld, cart: OracleCart) {
    this.#world = world;
    this.#cart = cart;
    this.#from = world.places[cart.origin]!;
    this.#to = world.places[cart.destination]!;
    this.#due = this.#sourced();
    const rows = world.table('meal-tax', '');
    this.#sale = { rows, fips: world.fips, from: this.#from, to: this.#to, date: cart.date };
  }

  get #state(): string {
    return this.#to.state;
  }

  get #interstate(): boolean {
    return this.#from.state !== this.#to.state;
  }

  #first(document: string, fits: (row: Row) => boolean): Row | null {
    return this.#world.table(document, this.#state)
      .find((row) => inForce(row, this.#cart.date) && fits(row)) ?? null;
  }

  #ofState(document: string): Row | null {
    return this.#first(document, (row) => cell(row, 'state') === this.#state);
  }

  #levied(place: FactPlace): readonly Due[] {
    return (place.percents ?? []).map(([level, percent]) => ({
      isState: level === 'state', level, rate: divided(rational(percent), HUNDRED), place,
    }));
  }

  #sourced(): readonly Due[] {
    if (this.#interstate) return this.#levied(this.#to);
    const special = this.#ofState('sourcing-cases');
    const value = cell(this.#world.sourcing(this.#state), 'value');
    const plain = value === 'O' ? 'origin' : 'destination';
    const rule = special === null ? plain : cell(special, 'rule');
    if (rule === 'origin') return this.#levied(this.#from);
    if (rule !== 'origin-to-cap') return this.#levied(this.#to);
    const own = this.#levied(this.#from);
    // Worlds of the tests have one city at most, and nothing else, below a capped state.
    const local = own.filter(({ isState }) => !isState);
    const sum = local.reduce((all, { rate }) => add(all, rate), ZERO);
    const cap = rational(cell(special!, 'local_cap'));
    const more = this.#levied(this.#to).filter(({ isState, rate }) => !isState && local.length === 0
      && compare(add(sum, rate), cap) <= 0);
    return [...own, ...more];
  }

  /** The row of a code, else of the nearest code above it whose row covers the codes below. */
  #rule(tic: string): Row | null {
    for (let code = tic; code !== '';) {
      const own = (row: Row): boolean => cell(row, 'state') === this.#state
        && `;${cell(row, 'tic')};`.includes(`;${code};`);
      const isUnknown = (row: Row): boolean => own(row) && cell(row, 'taxable') === 'unknown';
      if (this.#first('products', isUnknown)) return null;
      const found = this.#first('products', (row) =>
        own(row) && (code === tic || cell(row, 'covers_children') === 'yes'));
      if (found !== null) return found;
      code = this.#above(code);
    }
    return null;
  }

  #above(code: string): string {
    return this.#world.parents.get(code) ?? '';
  }

  /** Whether a tax follows a rule, and its rate else; null where nobody says. */
  #said(rule: Row | null, due: Due): { readonly follows: boolean; readonly rate: Rational } | null {
    const { isState, rate, place } = due;
    const scope = rule === null ? 'all' : cell(rule, 'scope');
    const [tic = ''] = rule === null ? [] : cell(rule, 'tic').split(';');
    const fips = this.#world.fips(this.#state);
    const rows = scope === 'varies' ? this.#world.table('product-localities', this.#state)
      .filter((row) => cell(row, 'tic') === tic && inForce(row, this.#cart.date)) : [];
    if (mayTaxUnseen(rows, place, fips)) return null;
    if (isState || scope !== 'varies') return { follows: isState || scope !== 'state', rate };
    return localTax(rows, { ...due, fips });
  }

  /** Local taxes on one article end where the state's additional tax begins. */
  #article(tic: string, rule: Row | null): ((item: string) => Rational) | null {
    const shaped = rule !== null && (cell(rule, 'taxable') === 'N' || cell(rule, 'scope') !== 'all'
      || cell(rule, 'threshold_usd') !== '');
    if (shaped || /^410(?:00|41)$/.test(tic)) return null;
    const apart = this.#first('single-article', (row) => cell(row, 'state') === this.#state
      && cell(row, 'item') === 'codes_of_no_article');
    if (apart === null) return null;
    if (cell(apart, 'value').split(';').some((code) => tic.startsWith(code))) return null;
    return (item) => rational(cell(this.#first('single-article', (row) =>
      cell(row, 'state') === this.#state && cell(row, 'item') === item)!, 'value'));
  }

  #tiered(due: Due, tic: string, price: Rational): Rational | 'own' | null {
    const county = this.#world.fips(this.#state) + (due.place.county ?? '');
    const row = this.#first('price-tiers', (each) => isTierFor(each, due, county, tic));
    return tierTax(row, due.rate, price);
  }

  #goods(price: Rational, quantity: Rational, tic: string): Taxed | null {
    const meals = mealsOf(this.#sale, tic);
    if (meals === null) return null;
    const rule = this.#rule(tic);
    const article = this.#article(tic, rule);
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
      const plain = rule === null || (rate === '' && scope === 'all' && !exempt
        && ['threshold_usd', 'percent_taxable', 'per_volume_usd', 'cap_per_unit_usd']
          .every((column) => cell(rule, column) === ''));
      const isAsked = bites || cell(rule ?? {}, 'threshold_usd') === '';
      for (const due of this.#due) {
        if (isReplaced(meals, due, this.#sale)) continue;
        const { isState, rate: ordinary } = due;
        const said = this.#said(rule, due);
        if (said === null && isAsked) return null;
        const { follows, rate: levied } = said ?? { follows: null, rate: ordinary };
        let base = follows === true ? (exempt ? ZERO : shaped) : price;
        if (!isState && article !== null) {
          base = least(base, article('local_tax_applies_to_first_usd'));
        }
        const tier = plain || (follows === false && compare(levied, ordinary) === 0)
          ? this.#tiered(due, tic, price) : 'own';
        if (tier === null) return null;
        const tax = tier === 'own' ? times(base, isState && rate !== '' ? rational(rate) : levied)
          : tier;
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
    if (rule !== null && cell(rule, 'cap_per_unit_usd') !== '' && scope === 'all') {
      const all = add(state, local);
      const cap = rational(cell(rule, 'cap_per_unit_usd'));
      // The state's part comes first; only the whole counts for the amount.
      if (compare(all, cap) > 0) [state, local] = [least(state, cap), ZERO];
      local = compare(all, cap) > 0 ? subtract(cap, state) : local;
    }
    if (rule !== null && cell(rule, 'per_volume_usd') !== '') {
      state = add(state, rational(cell(rule, 'per_volume_usd')));
    }
    const holiday = holidayOn(this.#world, this.#state, this.#cart.date, { tic, price });
    return onHoliday(holiday, times(state, quantity), times(local, quantity));
  }

  #freight(gross: Rational, tic: string, goods: readonly [Taxed, Rational][]): Taxed | null {
    const none = { state: ZERO, local: ZERO };
    const own = tic === '11000' ? this.#ofState('handling') : null;
    const row = this.#world.freight(this.#state);
    const shipping = cell(row, 'rule');
    const said = own === null ? '' : cell(own, 'rule');
    const rule = said === '' || said === 'AS_SHIPPING' ? shipping : said;
    // A law that exempts shipping may tax handling all the same.
    const isUntold = tic === '11000' && said === ''
      && /^(?:EXEMPT_WHEN_SEPARATELY_STATED|CONDITIONAL)$/.test(shipping);
    if (isUntold) return gross.over > 0n ? null : none;
    const ordinary = (): Taxed | null => {
      let { state, local } = none;
      for (const { isState, rate } of this.#due) {
        if (isState) state = add(state, times(gross, rate));
        else local = add(local, times(gross, rate));
      }
      return { state, local };
    };
    if (rule === 'TAXABLE') return ordinary();
    const isTaxed = cell(row, 'taxable') === 'Y';
    if (rule !== 'ITEM_SPECIFIC') return isTaxed && rule === 'CONDITIONAL' ? ordinary() : none;
    const paid = goods.filter(([, value]) => value.over > 0n);
    if (paid.length === 0) return isTaxed || tic === '11000' ? ordinary() : none;
    const share = ([{ state, local }, value]: readonly [Taxed, Rational]): Rational =>
      divided(add(state, local), value);
    const mixed = paid.some((each) => compare(share(each), share(paid[0]!)) !== 0);
    const state = paid.reduce((sum, [tax]) => add(sum, tax.state), ZERO);
    const local = paid.reduce((sum, [tax]) => add(sum, tax.local), ZERO);
    const value = paid.reduce((sum, [, each]) => add(sum, each), ZERO);
    const how = mixed ? this.#ofState('freight-mixed') : null;
    if (mixed && how === null) return gross.over > 0n ? null : none;
    if (how !== null && cell(how, 'mixed') === 'whole') {
      const whole = ordinary()!;
      return {
        state: state.over > 0n ? whole.state : ZERO, local: local.over > 0n ? whole.local : ZERO,
      };
    }
    const part = divided(gross, value);
    return { state: times(state, part), local: times(local, part) };
  }

  answer(): OracleAnswer {
    const { items, level, mode, digits } = this.#cart;
    const exact = new Map<number, Rational>();
    const goods: [Taxed, Rational][] = [];
    const isFreight = ({ tic }: OracleItem): boolean => tic === '10001' || tic === '11000';
    for (const pass of [false, true]) {
      for (const [at, item] of items.entries()) {
        if (isFreight(item) !== pass) continue;
        const gross = times(rational(item.price), rational(item.quantity));
        const tax = pass ? this.#freight(gross, item.tic, goods)
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
    const units = { over: 10n ** BigInt(digits), under: 1n };
    const scaled = items.map((_, at) => times(exact.get(at)!, units));
    return level === 'line' ? scaled.map((each) => rounded(each, mode))
      : apportioned(scaled, mode, (at) => items[at]!.index);
  }
}

/** What a cart comes to. */
export function oracleCart(world: OracleWorld, cart: OracleCart): OracleAnswer {
  return new CartOracle(world, cart).answer();
}
