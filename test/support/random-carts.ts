/** Random carts over the repository's facts, for the engine and for the oracle alike. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { CartQuery } from '../../src/engine/cart/outcome.js';
import { ROUNDING_LEVELS, ROUNDING_MODES } from '../../src/tax/exact.js';
import { oracleCart } from './cart-oracle.js';
import type { OracleCart, OracleWorld } from './oracle-sale.js';
import { CART_DOCUMENTS, cartLine, cartWorld, NOW, splitAt } from './cart-world.js';
import {
  FACT_DOCUMENTS,
  FACT_STATES,
  type FactPlace,
  FACTS_DIR,
  tableDocument,
} from './product-facts.js';
import { isFailure } from '../../src/failure.js';
import { engineOf } from './engine-of.js';

// biome-ignore format: a place with its levies is read in a row
const PLACES: readonly FactPlace[] = [
  { state: 'NY', county: '061', placeGeoid: '3651000',
    percents: [['state', '4'], ['city', '4.5'], ['district', '0.375']] },
  { state: 'NY', county: '001', percents: [['state', '4'], ['county', '4']] },
  { state: 'NY', county: '117', percents: [['state', '4'], ['county', '4']] },
  { state: 'CA', county: '059', percents: [['state', '7.25'], ['county', '0.5']] },
  { state: 'CA', county: '037',
    percents: [['state', '7.25'], ['county', '2.25'], ['city', '0.75']] },
  { state: 'TX', county: '201', percents: [['state', '6.25']] },
  { state: 'TX', county: '453', percents: [['state', '6.25'], ['city', '2']] },
  { state: 'TN', county: '037', percents: [['state', '7'], ['county', '2.25']] },
  { state: 'TN', county: '157', percents: [['state', '7'], ['county', '2.75']] },
  { state: 'MA', county: '025', percents: [['state', '6.25']] },
  { state: 'RI', county: '007', percents: [['state', '7']] },
  { state: 'OH', county: '049',
    percents: [['state', '5.75'], ['county', '1.25'], ['district', '0.5']] },
  { state: 'OH', county: '061', percents: [['state', '5.75'], ['county', '2.05']] },
  { state: 'VA', county: '059',
    percents: [['state', '4.3'], ['county', '1'], ['district', '0.7']] },
  { state: 'MD', county: '005', percents: [['state', '6']] },
  { state: 'GA', county: '121', percents: [['state', '4'], ['county', '3'], ['city', '1.9']] },
  { state: 'NC', county: '183',
    percents: [['state', '4.75'], ['county', '2'], ['district', '0.5']] },
  { state: 'MN', county: '053',
    percents: [['state', '6.875'], ['county', '0.15'], ['city', '0.5']] },
  { state: 'IL', county: '031',
    percents: [['state', '6.25'], ['county', '1.75'], ['city', '1.25']] },
  { state: 'AL', county: '073', percents: [['state', '4'], ['county', '1'], ['city', '4']] },
  { state: 'HI', county: '003', percents: [['state', '4'], ['county', '0.5']] },
  { state: 'WY', county: '021', percents: [['state', '4'], ['county', '1.3333333']] },
  { state: 'DE', county: '003', percents: [['state', '0']] },
  { state: 'FL', county: '086', percents: [['state', '6'], ['county', '1']] },
  { state: 'CT', county: '001', percents: [['state', '6.35']] },
  { state: 'AZ', county: '013', placeGeoid: '0455000',
    percents: [['state', '5.6'], ['county', '0.7'], ['city', '2.8']] },
  { state: 'AZ', county: '013', placeGeoid: '0427820',
    percents: [['state', '5.6'], ['county', '0.7'], ['city', '2.9']] },
  { state: 'AZ', county: '005', placeGeoid: '0423620',
    percents: [['state', '5.6'], ['county', '1.3'], ['city', '2.281']] },
  { state: 'VT', county: '007', placeGeoid: '5010675', percents: [['state', '6'], ['city', '1']] },
  { state: 'VT', county: '023', placeGeoid: '5046000', percents: [['state', '6'], ['city', '1']] },
  { state: 'ME', county: '005', percents: [['state', '5.5']] },
  { state: 'DC', county: '001', percents: [['state', '6']] },
  { state: 'CO', county: '031', placeGeoid: '0820000',
    percents: [['state', '2.9'], ['city', '5.15'], ['district', '1'], ['district', '0.1']] },
  { state: 'CO', county: '059', placeGeoid: '0843000',
    percents: [['state', '2.9'], ['county', '0.5'], ['city', '3'], ['district', '1.1']] },
  { state: 'MA', county: '025', placeGeoid: '2507000', percents: [['state', '6.25']] },
  { state: 'NE', county: '055', placeGeoid: '3137000',
    percents: [['state', '5.5'], ['city', '1.5']] },
  { state: 'VA', county: '770', placeGeoid: '5168000',
    percents: [['state', '4.3'], ['county', '1']] },
  { state: 'NH', county: '011', percents: [['state', '0']] },
  { state: 'UT', county: '035', placeGeoid: '4967000',
    percents: [['state', '4.85'], ['county', '1.35'], ['city', '1'], ['district', '0.55']] },
];

/** Rules of kinds that no state's facts have yet. */
const MORE_PRODUCTS = tableDocument(
  'state\ttic\ttaxable\tstate_rate\tthreshold_usd\tthreshold_kind\t' +
    'scope\tfood_drug\tcovers_children\teffective_from\teffective_to\tpercent_taxable\t' +
    'per_volume_usd\tper_volume_unit\tcap_per_unit_usd\n' +
    'WY\t30040\tY\t\t\t\tall\tno\tno\t\t\t0.333333333\t\t\t\n' +
    'WY\t30050\tY\t\t\t\tall\tno\tno\t\t\t\t\t\t30\n' +
    'WY\t30060\tY\t\t\t\tall\tno\tno\t\t\t\t0.185\tgallon\t\n' +
    'WY\t30035\tN\t\t\t\tall\tno\tno\t\t\t\t0.32\tgallon\t\n' +
    'WY\t30100\tY\t\t50\tabove_exempt\tstate\tno\tno\t\t\t\t\t\t\n' +
    'WY\t20020\tY\t0.0125\t200\tabove_excess\tstate\tno\tno\t\t\t0.6\t\t\t\n',
);

// biome-ignore format: codes of a kind stand in a row
const TICS = [
  null, null, '00000', '20010', '20010', '40030', '40030', '51020', '31000', '20070', '20110',
  '30100', '10001', '10001', '11000', '11010', '11098', '30040', '30050', '30060', '30035', '20020',
  '20013', '20020', '92001', '92100', '20161', '21001', '30015', '92005', '93011', '10005', '20011',
  '20012', '20021', '20041',
  '30025', '30070', '31040', '31060', '31100', '40010', '40015', '40020', '40031', '40050', '40060',
  '41000', '41000', '41000', '41041', '51010', '51050', '51060', '51175', '52020', '53020', '54020',
  '70011', '90103', '90011', '91030',
  '91072', '91081', '91090', '92062', '92090', '93018', '93103', '93111', '93116', '93205', '96102',
] as const;
// biome-ignore format: prices of a kind stand in a row
const PRICES = [
  '0', '0.01', '0.005', '1', '9.99', '49.99', '50', '75', '99.99', '100', '100.01', '109.99', '110',
  '175', '175.01', '250.01', '1600', '1600.01', '2500', '3200', '3200.01', '7654.321', '12345678.9',
  '1000',
  '1000.01', '5000', '5000.01', '14338', '14338.01', '20000',
] as const;
const QUANTITIES = ['1', '1', '2', '3', '0', '0.5', '1.5', '12', '0.3333', '99999.9999'] as const;
// biome-ignore format: days of a kind stand in a row
const DAYS = [
  20260115, 20260221, 20260718, 20260725, 20260731, 20260803, 20260808, 20260809, 20260810,
  20260820,
  20261121, 20270717,
] as const;

// biome-ignore format: products of a kind stand in a row
const PRODUCTS = [
  ...tableDocument(readFileSync(join(FACTS_DIR, 'products.tsv'), 'utf8')).filter(({ state, tic }) =>
    state !== 'WY' || !MORE_PRODUCTS.some((more) => `;${tic};`.includes(`;${more['tic']};`))),
  ...MORE_PRODUCTS,
];

/** A number of 0 or more, below 1. */
type Chance = () => number;

/** A cart as both sides read it. */
interface RandomCart {
  readonly asked: CartQuery;
  readonly told: OracleCart;
}

function pick<T>(next: Chance, list: readonly T[]): T {
  return list[Math.floor(next() * list.length)]!;
}

function price(next: Chance): string {
  return next() < 0.6 ? pick(next, PRICES) : (Math.floor(next() * 50_000) / 100).toFixed(2);
}

/** Midday of a day in the United States. */
function noon(day: number): number {
  return Date.UTC(Math.floor(day / 10_000), (Math.floor(day / 100) % 100) - 1, day % 100, 19);
}

export class RandomCarts {
  readonly dataset: Dataset;
  readonly #world: OracleWorld;

  constructor() {
    this.dataset = cartWorld(PLACES, [], { products: PRODUCTS });
    const states = new Map(
      ['freight', 'sourcing'].map((name) => {
        const rows = tableDocument(readFileSync(join(FACTS_DIR, `${name}.tsv`), 'utf8'));
        return [name, new Map(rows.map((row) => [row['state'] ?? '', row]))];
      }),
    );
    const documents: Readonly<Record<string, object>> = {
      ...Object.fromEntries(FACT_DOCUMENTS),
      ...CART_DOCUMENTS,
      products: PRODUCTS,
    };
    const tables = new Map<string, Record<string, string>[]>();
    for (const [name, document] of Object.entries(documents)) {
      for (const row of document as readonly Record<string, string>[]) {
        const key = `${name}|${row['state'] ?? ''}`;
        const rows = tables.get(key) ?? [];
        tables.set(key, rows);
        rows.push(row);
      }
    }
    this.#world = {
      places: PLACES,
      fips: (state) => FACT_STATES.find(({ code }) => code === state)?.fips ?? '',
      table: (name, state) => tables.get(`${name}|${state}`) ?? [],
      freight: (state) => states.get('freight')?.get(state) ?? {},
      sourcing: (state) => states.get('sourcing')?.get(state) ?? {},
      parents: new Map(tables.get('tic|')?.map((row) => [row['tic'] ?? '', row['parent'] ?? ''])),
    };
  }

  cart(next: Chance, explain = false): RandomCart {
    const origin = Math.floor(next() * PLACES.length);
    const near = PLACES.flatMap(({ state }, at) => (state === PLACES[origin]!.state ? [at] : []));
    const destination = next() < 0.5 ? pick(next, near) : Math.floor(next() * PLACES.length);
    const date = pick(next, DAYS);
    const count = 1 + Math.floor(next() * 6);
    const lines = Array.from({ length: count }, () => ({
      price: price(next),
      quantity: pick(next, QUANTITIES),
      tic: pick(next, TICS),
    }));
    const mode = pick(next, ROUNDING_MODES);
    const level = pick(next, ROUNDING_LEVELS);
    const digits = next() < 0.7 ? 2 : 5;
    const place = (at: number) => splitAt(PLACES[at]!.state, at);
    return {
      asked: {
        instantMs: noon(date),
        origin: place(origin),
        destination: place(destination),
        explain,
        lines: lines.map(({ price: each, quantity, tic }, index) =>
          cartLine([each, Number(quantity), tic], index),
        ),
        rounding: { mode, level, digits },
      },
      told: {
        origin,
        destination,
        date,
        mode,
        level,
        digits,
        items: lines.map(({ tic, ...line }, index) => ({ ...line, index, tic: tic ?? '00000' })),
      },
    };
  }

  /** Whether the engine has amounts for a cart. */
  isAnswered({ asked }: RandomCart): boolean {
    return !isFailure(engineOf(this.dataset).calculate(asked, NOW));
  }

  /** "" where engine and oracle agree; else what each says. */
  compare({ asked, told }: RandomCart): string {
    const outcome = engineOf(this.dataset).calculate(asked, NOW);
    const unit = 10n ** BigInt(9 - told.digits);
    const said = isFailure(outcome)
      ? outcome.field === 'origin' || outcome.field === 'destination'
        ? `cannot tell the ${outcome.field}`
        : 'cannot tell'
      : outcome.lines.map(({ amount }) => BigInt(amount) / unit).join(' ');
    const expected = oracleCart(this.#world, told)?.join(' ') ?? 'cannot tell';
    if (said === expected) return '';
    const why = isFailure(outcome) ? ` (${outcome.detail})` : '';
    const [from, to] = [PLACES[told.origin], PLACES[told.destination]];
    const cart = JSON.stringify({ ...told, from, to });
    return `engine ${said}${why}; oracle ${expected}; cart ${cart}`;
  }
}
