/** The facts of a sale as the oracle of carts reads them, straight from their tables. */
import { cell, inForce, isTierFor, type MealSale, type Row, tierTax } from './oracle-rules.js';
import type { FactPlace } from './product-facts.js';
import { add, compare, divided, rational, type Rational, ZERO } from './rational.js';

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

/** What one jurisdiction levies. */
interface Due {
  readonly isState: boolean;
  readonly level: string;
  readonly rate: Rational;
  readonly place: FactPlace;
}

const HUNDRED = rational('100');

/** Whose tax is asked about, and where. */
interface LocalTax {
  readonly level: string;
  readonly place: FactPlace;
  readonly fips: string;
}

/**
 * The row of the localities' table, of those of a code, for a tax: of the one who levies it, else
 * of all taxes at the place.
 */
function localRow(rows: readonly Row[], { level, place, fips }: LocalTax): Row | null {
  const { county = '', placeGeoid = '' } = place;
  const said = (code: string, isOwn: boolean): Row | undefined =>
    rows.find(
      (row) =>
        code !== '' &&
        cell(row, 'jurisdiction_code') === code &&
        (cell(row, 'locals') === 'own') === isOwn,
    );
  const own = level === 'county' ? fips + county : level === 'city' ? placeGeoid : '';
  return (
    said(own, true) ??
    said(placeGeoid, false) ??
    said(fips + county, false) ??
    said(fips, false) ??
    null
  );
}

/** Whether a local tax follows the state's rule, and its rate else; null where nobody says. */
function localTax(
  rows: readonly Row[],
  tax: LocalTax & { readonly rate: Rational },
): { readonly follows: boolean; readonly rate: Rational } | null {
  const row = localRow(rows, tax);
  const kind = row === null ? '' : cell(row, 'locals');
  if (kind === 'unlisted' || (row === null && tax.rate.over > 0n)) return null;
  const own = row === null ? '' : cell(row, 'rate');
  return { follows: kind === 'follow', rate: own === '' ? tax.rate : rational(own) };
}

/** Whether a county or city without a rate on general goods may tax a code all the same. */
function mayTaxUnseen(rows: readonly Row[], place: FactPlace, fips: string): boolean {
  const { county = '', placeGeoid = '', percents = [] } = place;
  return [
    ['county', county],
    ['city', placeGeoid],
  ].some(([level = '', code = '']) => {
    if (code === '' || percents.some(([each]) => each === level)) return false;
    const row = localRow(rows, { level, place, fips });
    if (row === null || cell(row, 'locals') === 'unlisted') return row !== null;
    return cell(row, 'locals') === 'own' && Number(cell(row, 'rate')) > 0;
  });
}

/** What the facts say of one sale: who levies, by which rules, and what follows them. */
/** Whether a rule taxes something in another way than general goods. */
function isShaped(rule: Row | null): boolean {
  return (
    rule !== null &&
    (cell(rule, 'taxable') === 'N' ||
      cell(rule, 'scope') !== 'all' ||
      cell(rule, 'threshold_usd') !== '')
  );
}

export class OracleSale {
  readonly world: OracleWorld;
  readonly cart: OracleCart;
  readonly #from: FactPlace;
  readonly #to: FactPlace;
  readonly due: readonly Due[];
  /** For the rules of meals. */
  readonly meal: MealSale;

  constructor(world: OracleWorld, cart: OracleCart) {
    this.world = world;
    this.cart = cart;
    this.#from = world.places[cart.origin]!;
    this.#to = world.places[cart.destination]!;
    this.due = this.#sourced();
    const rows = world.table('meal-tax', '');
    this.meal = { rows, fips: world.fips, from: this.#from, to: this.#to, date: cart.date };
  }

  get state(): string {
    return this.#to.state;
  }

  get #interstate(): boolean {
    return this.#from.state !== this.#to.state;
  }

  first(document: string, fits: (row: Row) => boolean): Row | null {
    return (
      this.world
        .table(document, this.state)
        .find((row) => inForce(row, this.cart.date) && fits(row)) ?? null
    );
  }

  ofState(document: string): Row | null {
    return this.first(document, (row) => cell(row, 'state') === this.state);
  }

  #levied(place: FactPlace): readonly Due[] {
    return (place.percents ?? []).map(([level, percent]) => ({
      isState: level === 'state',
      level,
      rate: divided(rational(percent), HUNDRED),
      place,
    }));
  }

  #sourced(): readonly Due[] {
    if (this.#interstate) return this.#levied(this.#to);
    const special = this.ofState('sourcing-cases');
    const value = cell(this.world.sourcing(this.state), 'value');
    const plain = value === 'O' ? 'origin' : 'destination';
    const rule = special === null ? plain : cell(special, 'rule');
    if (rule === 'origin') return this.#levied(this.#from);
    if (rule !== 'origin-to-cap') return this.#levied(this.#to);
    const own = this.#levied(this.#from);
    // Worlds of the tests have one city at most, and nothing else, below a capped state.
    const local = own.filter(({ isState }) => !isState);
    const sum = local.reduce((all, { rate }) => add(all, rate), ZERO);
    const cap = rational(cell(special!, 'local_cap'));
    const more = this.#levied(this.#to).filter(
      ({ isState, rate }) => !isState && local.length === 0 && compare(add(sum, rate), cap) <= 0,
    );
    return [...own, ...more];
  }

  /** The row of a code, else of the nearest code above it whose row covers the codes below. */
  rule(tic: string): Row | null {
    for (let code = tic; code !== ''; ) {
      const own = (row: Row): boolean =>
        cell(row, 'state') === this.state && `;${cell(row, 'tic')};`.includes(`;${code};`);
      const isUnknown = (row: Row): boolean => own(row) && cell(row, 'taxable') === 'unknown';
      if (this.first('products', isUnknown)) return null;
      const found = this.first(
        'products',
        (row) => own(row) && (code === tic || cell(row, 'covers_children') === 'yes'),
      );
      if (found !== null) return found;
      code = this.#above(code);
    }
    return null;
  }

  #above(code: string): string {
    return this.world.parents.get(code) ?? '';
  }

  /** Whether a tax follows a rule, and its rate else; null where nobody says. */
  said(rule: Row | null, due: Due): { readonly follows: boolean; readonly rate: Rational } | null {
    const { isState, rate, place } = due;
    const scope = rule === null ? 'all' : cell(rule, 'scope');
    const [tic = ''] = rule === null ? [] : cell(rule, 'tic').split(';');
    const fips = this.world.fips(this.state);
    const rows =
      scope === 'varies'
        ? this.world
            .table('product-localities', this.state)
            .filter((row) => cell(row, 'tic') === tic && inForce(row, this.cart.date))
        : [];
    if (mayTaxUnseen(rows, place, fips)) return null;
    if (isState || scope !== 'varies') return { follows: isState || scope !== 'state', rate };
    return localTax(rows, { ...due, fips });
  }

  /** Whether an article has a rule of its own and costs more than the local taxes on one go. */
  isUntoldArticle(tic: string, rule: Row | null, price: Rational): boolean {
    const article = isShaped(rule) ? this.article(tic, null) : null;
    return article !== null && compare(price, article('local_tax_applies_to_first_usd')) > 0;
  }

  /** Local taxes on one article end where the state's additional tax begins. */
  article(tic: string, rule: Row | null): ((item: string) => Rational) | null {
    if (isShaped(rule) || /^410(?:00|41)$/.test(tic)) return null;
    const apart = this.first(
      'single-article',
      (row) => cell(row, 'state') === this.state && cell(row, 'item') === 'codes_of_no_article',
    );
    if (apart === null) return null;
    if (
      cell(apart, 'value')
        .split(';')
        .some((code) => tic.startsWith(code))
    )
      return null;
    return (item) =>
      rational(
        cell(
          this.first(
            'single-article',
            (row) => cell(row, 'state') === this.state && cell(row, 'item') === item,
          )!,
          'value',
        ),
      );
  }

  tiered(due: Due, tic: string, price: Rational): Rational | 'own' | null {
    const county = this.world.fips(this.state) + (due.place.county ?? '');
    const row = this.first('price-tiers', (each) => isTierFor(each, due, county, tic));
    return tierTax(row, due.rate, price);
  }
}
