/**
 * Carts over the repository's facts: places of real states with percentages that the test says.
 * Place n has the door "1 Main St" in a town of its own, with a ZIP of its own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../../src/dataset/dataset.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import type {
  CartLine,
  CartOutcome,
  CartPlace,
  CartQuery,
  CartRounding,
} from '../../src/engine/cart/outcome.js';
import { StreetIndexBuilder } from './street-table.js';
import { parseUsd } from '../../src/tax/amount.js';
import {
  FACT_STATES,
  factDataset,
  type FactPlace,
  FACTS_DIR,
  tableDocument,
} from './product-facts.js';
import { streetTableOf } from './street-table.js';
import { isFailure, type Failure } from '../../src/failure.js';
import { engineOf } from './engine-of.js';

export const CART_DOCUMENTS: Readonly<Record<string, object>> = Object.fromEntries(
  [
    ['sourcing-cases', 'sourcing_cases'],
    ['product-localities', 'product_localities'],
    ['holidays', 'holidays'],
    ['holiday-categories', 'holiday_categories'],
    ['freight-mixed', 'freight_mixed'],
    ['handling', 'handling'],
    ['single-article', 'single_article'],
    ['price-tiers', 'price_tiers'],
    ['county-time-zones', 'county_time_zones'],
    ['rules-not-supported', 'rate_rules_not_supported'],
  ].map(([name, file]) => [
    name,
    tableDocument(readFileSync(join(FACTS_DIR, `${file}.tsv`), 'utf8')),
  ]),
);

/** Midday of 2026-11-21 in UTC. */
export const NOW = Date.UTC(2026, 10, 21, 17);

const TOWNS = [
  'Ashford',
  'Birchton',
  'Cedarville',
  'Dunmore',
  'Elmhurst',
  'Fernley',
  'Granby',
  'Hadley',
  'Irvona',
  'Jasper',
  'Kelton',
  'Lyndon',
  'Milford',
  'Norwell',
  'Orford',
  'Pelham',
  'Quincy',
  'Ripley',
  'Selden',
  'Tilden',
  'Upton',
  'Vernon',
  'Wendell',
  'Yarrow',
  'Zeeland',
  'Alden',
  'Berne',
  'Corfu',
  'Delhi',
  'Eaton',
  'Felton',
  'Gorham',
  'Harvard',
  'Ithaca',
  'Jewett',
  'Kirby',
  'Laurel',
  'Monroe',
  'Nassau',
  'Oakdale',
] as const;
const FIRST_ZIP = 10_001;

/** A ZIP of a world: the places it overlaps. */
export interface WorldZip {
  readonly zip: number;
  readonly state: string;
  readonly places: readonly number[];
}

/** The dataset of some places; `zips` are shared by several of them and have no doors. */
export function cartWorld(
  places: readonly FactPlace[],
  zips: readonly WorldZip[] = [],
  documents: Readonly<Record<string, object | null>> = {},
): Dataset {
  const base = factDataset(places, { documents: { ...CART_DOCUMENTS, ...documents } });
  const builder = new StreetIndexBuilder((lat, lng) => base.cells.locate(lat, lng), {
    stateOf: (words) => FACT_STATES.find(({ code }) => code === words)?.code ?? '',
    isCity: () => false,
  });
  places.forEach(({ state }, at) =>
    builder.addPoint({
      number: '1',
      street: 'Main St',
      unit: '',
      city: TOWNS[at] ?? '',
      municipality: '',
      county: '',
      state,
      zip: String(FIRST_ZIP + at),
      zip4: '',
      lat: 10_500_000,
      lng: at * 1e6 + 500_000,
      source: 'invented',
    }),
  );
  const bytes = new Map(builder.entries());
  const part = (area: number) => ({
    area,
    weight: null,
    land: null,
    city: TOWNS[area] ?? '',
    incorporated: false,
    lat: 0,
    lng: 0,
  });
  return {
    ...base,
    streets: new StreetIndex(streetTableOf((key) => bytes.get(key) ?? null)),
    city: () => null,
    zip: (zip) => {
      const shared = zips.find((each) => each.zip === zip);
      if (shared !== undefined) {
        const { state, places: ids } = shared;
        return { zip, state, cities: ['SHARED'], parts: ids.map(part), reach: [] };
      }
      const at = zip - FIRST_ZIP;
      const place = places[at];
      if (place === undefined) return null;
      return {
        zip,
        state: place.state,
        cities: [(TOWNS[at] ?? '').toUpperCase()],
        parts: [part(at)],
        reach: [],
      };
    },
  };
}

/** The address of a place, in its parts. */
export function splitAt(state: string, at: number): CartPlace {
  return {
    kind: 'split',
    line1: '1 Main St',
    line2: '',
    city: TOWNS[at] ?? '',
    state,
    zip: String(FIRST_ZIP + at),
  };
}

/** A line: price in dollars, items, code. */
export type Item = readonly [price: string, quantity?: number, tic?: string | null];

export function cartLine([price, quantity = 1, tic = null]: Item, index: number): CartLine {
  const amount = parseUsd(price);
  if (amount === null) throw new Error(`no price: ${price}`);
  return {
    index,
    itemId: `item-${index}`,
    price: amount,
    quantity: Math.round(quantity * 10_000),
    tic,
  };
}

export const ROUNDING: CartRounding = { mode: 'half-up', level: 'line', digits: 2 };

export interface CartWish {
  readonly at?: number;
  readonly rounding?: Partial<CartRounding>;
  readonly explain?: boolean;
}

/** A cart between two places. */
export function cartOf(
  origin: CartPlace,
  destination: CartPlace,
  items: readonly Item[],
  wish: CartWish = {},
): CartQuery {
  return {
    instantMs: wish.at ?? null,
    origin,
    destination,
    lines: items.map(cartLine),
    rounding: { ...ROUNDING, ...wish.rounding },
    explain: wish.explain ?? false,
  };
}

/** Calculates a cart that has an answer. */
export function calculated(dataset: Dataset, cart: CartQuery): CartOutcome {
  const outcome = engineOf(dataset).calculate(cart, NOW);
  if (isFailure(outcome)) throw new Error(`${outcome.field}: ${outcome.detail}`);
  return outcome;
}

/** Calculates a cart that has none. */
export function refused(dataset: Dataset, cart: CartQuery): Failure {
  const outcome = engineOf(dataset).calculate(cart, NOW);
  if (!isFailure(outcome)) throw new Error(`answered ${outcome.total}`);
  return outcome;
}

/** Amounts of a cart as dollars and cents. */
export function amountsOf(outcome: CartOutcome): readonly string[] {
  return outcome.lines.map(({ amount }) => (Number(amount) / 1e9).toFixed(2));
}

/** The tax of each line of a cart within a place. */
export function taxAt(
  place: FactPlace,
  items: readonly Item[],
  wish: CartWish = {},
): readonly string[] {
  const at = splitAt(place.state, 0);
  return amountsOf(calculated(cartWorld([place]), cartOf(at, at, items, wish)));
}

/** Midday in the United States. */
export function noon(day: number): CartWish {
  return {
    at: Date.UTC(Math.floor(day / 10_000), (Math.floor(day / 100) % 100) - 1, day % 100, 18),
  };
}
