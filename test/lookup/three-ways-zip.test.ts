/**
 * Single lookups, rows of bulk files and carts agree on places of the default dataset, which are
 * known by their ZIP alone: no door and no border is held. Where carts rightly differ from lookups
 * the property says so.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { ZipRecord } from '../../src/dataset/records.js';
import { openDataset } from '../../src/dataset/open.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe } from '../support/built-dataset.js';
import {
  byCalculation,
  byLookup,
  byMerchantCart,
  byRow,
  byZip,
  CALCULATED_DIGITS,
  lineOf,
  MERCHANT_DIGITS,
  type Told,
  type ToldCart,
  type Written,
} from '../support/three-ways.js';
import { assertAgrees } from '../support/ways-agree.js';

const built = buildRecipe('default');
const dataset = openDataset(built.dir);

after(() => {
  dataset.close();
  built.remove();
});

const ADDRESSES = 2_000;
const ZIPS = 2_000;
const SHIPMENTS = 2_000;
const ZIP_END = 100_000;
/** The date of the facts: no row of the two tables below ends after it. */
const OPEN = '';

const held = Array.from({ length: ZIP_END }, (_, zip) => dataset.zip(zip)).filter(
  (record): record is ZipRecord => record !== null && record.parts.length > 0,
);
const records = fc.integer({ min: 0, max: held.length - 1 }).map((at) => held[at]!);
const prices = fc.integer({ min: 1, max: 100_000_000 });

/**
 * Above them a state taxes an article otherwise (facts single_article.tsv and price_tiers.tsv), or a
 * sale (rate_rules_not_supported.tsv).
 */
const ARTICLE_CENTS: Readonly<Record<string, number>> = {
  TN: 160_000,
  FL: 500_000,
  AZ: 500_000,
  ID: 99_999,
  AK: 14_500,
};

/** A price that the ordinary rates hold for. */
function ordinary({ state }: Written, cents: number): number {
  const most = ARTICLE_CENTS[state];
  return most === undefined ? cents : 1 + (cents % most);
}

/** A part of a ZIP: its state, and a city of it or none. */
const places: fc.Arbitrary<Written> = fc
  .tuple(records, fc.nat(), fc.nat(), fc.boolean())
  .map(([{ zip, parts, cities }, part, city, named]) => ({
    street: '1 Nosuch Way',
    city: named ? (cities[city % cities.length] ?? '') : '',
    state: dataset.area(parts[part % parts.length]!.area).state,
    zip: String(zip).padStart(5, '0'),
  }));

function lookupAt(place: Written): Told {
  return byLookup(dataset, lineOf(place), '');
}

test(`a lookup, a bulk row and a cart within a ZIP agree, ${ADDRESSES} times`, () => {
  let answered = 0;
  fc.assert(
    fc.property(places, prices, (place, drawn) => {
      const cents = ordinary(place, drawn);
      const line = lineOf(place);
      const lookup = lookupAt(place);
      assert.deepEqual(byRow(dataset, { address: line }), lookup, line);
      const cart = byCalculation(dataset, line, line, cents);
      assertAgrees(cart, lookup, cents, CALCULATED_DIGITS, line);
      if (place.city !== '') {
        const merchant = byMerchantCart(dataset, place, place, cents, '');
        assertAgrees(merchant, lookup, cents, MERCHANT_DIGITS, line);
      }
      if (lookup.refusal === '') answered += 1;
    }),
    { numRuns: ADDRESSES, includeErrorInReport: true },
  );
  assert.ok(answered > ADDRESSES / 4 && answered < ADDRESSES, `${answered} answered`);
});

test(`a ZIP alone is taxed as its list says, ${ZIPS} times`, () => {
  let answered = 0;
  fc.assert(
    fc.property(places, prices, (place, drawn) => {
      const cents = ordinary(place, drawn);
      const { zip, state } = place;
      const list = byZip(dataset, zip, state);
      const row = byRow(dataset, { zip, state });
      const line = `${state} ${zip}`;
      const cart = byCalculation(dataset, line, line, cents);
      if ('refusal' in list) {
        assert.deepEqual([row.code, row.refusal], [list.refusal.code, list.refusal.refusal], line);
        assert.notEqual(cart.refusal, '', line);
        return;
      }
      const [first] = list.rows;
      if (list.rows.some(({ rate }) => rate !== first!.rate)) {
        assert.equal(row.code, 109, line);
        assert.notEqual(cart.refusal, '', line);
        return;
      }
      assert.deepEqual([row.code, row.rate, row.precision], [100, first!.rate, 'postal'], line);
      if (cart.refusal === '') {
        answered += 1;
        // Areas of one combined rate may share it out otherwise: the cart names one of them.
        const same = list.rows.find(({ levels }) => String(levels) === String(cart.levels));
        const found = { ...(same ?? first!), precision: row.precision };
        assertAgrees(cart, found, cents, CALCULATED_DIGITS, line);
        return;
      }
      // A list names land outside of cities; no address can be told to lie there without their
      // borders. So the cart is refused, as is the lookup of a door in the ZIP.
      assert.notEqual(lookupAt({ ...place, city: '' }).refusal, '', line);
    }),
    { numRuns: ZIPS, includeErrorInReport: true },
  );
  assert.ok(answered > ZIPS / 4, `${answered} answered`);
});

interface Fact {
  readonly state: string;
  readonly to: string;
  readonly rule: string;
}

function facts(file: string, column: number): readonly Fact[] {
  const text = readFileSync(join(packageRoot(), 'datasets/facts', file), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split('\t'))
    .map((cells) => ({ state: cells[0]!, to: cells[2]!, rule: cells[column]! }));
}

const PLAIN: Readonly<Record<string, string>> = { O: 'origin', D: 'destination' };

/** How the tables say that a state sources sales within it, today. */
function ruleOf(state: string): string {
  const ofState = (fact: Fact): boolean => fact.state === state && fact.to === OPEN;
  const special = facts('sourcing_cases.tsv', 3).find(ofState);
  const plain = facts('sourcing.tsv', 3).find(ofState);
  return special?.rule ?? PLAIN[plain?.rule ?? ''] ?? '';
}

const rules = new Map(dataset.states().map(({ code }) => [code, ruleOf(code)]));
const byState = new Map<string, readonly ZipRecord[]>();
for (const record of held) {
  const { state } = dataset.area(record.parts[0]!.area);
  byState.set(state, [...(byState.get(state) ?? []), record]);
}

const SPECIAL = [...rules]
  .filter(([code, rule]) => rule !== 'destination' && byState.has(code))
  .map(([code]) => code);

/** Two ZIPs of a state that does not simply tax at the destination, or of any two. */
const shipments: fc.Arbitrary<readonly [Written, Written]> = fc.oneof(
  fc.tuple(places, places),
  fc.tuple(fc.constantFrom(...SPECIAL), fc.nat(), fc.nat()).map(([state, one, other]) => {
    const zips = byState.get(state)!;
    const at = (index: number): Written => {
      const {
        zip,
        cities: [city = ''],
      } = zips[index % zips.length]!;
      return { street: '1 Nosuch Way', city, state, zip: String(zip).padStart(5, '0') };
    };
    return [at(one), at(other)] as const;
  }),
);

/** The most that local taxes come to in Texas, in parts per billion (34 TAC 3.334). */
const LOCAL_CAP = 20_000_000;

/**
 * Local taxes of the delivery join those of the seller below the cap; which districts exclude each
 * other is not held, so such a cart may be refused.
 */
function toppedUp(
  cart: ToldCart,
  atOrigin: Told,
  atDestination: Told,
  cents: number,
  what: string,
): void {
  const [state = 0] = atOrigin.levels;
  const full = atOrigin.rate >= state + LOCAL_CAP;
  if (cart.refusal !== '') {
    const reasons = [atOrigin.refusal, atDestination.refusal].filter((reason) => reason !== '');
    const untold = !full && /depends on their kind/.test(cart.refusal);
    assert.ok(untold || reasons.includes(cart.refusal), `${what}: ${cart.refusal}`);
    return;
  }
  assert.equal(atOrigin.refusal, '', what);
  assert.ok(cart.rate >= atOrigin.rate && cart.rate <= state + LOCAL_CAP, what);
  if (full) assertAgrees(cart, atOrigin, cents, CALCULATED_DIGITS, what);
}

test(`a shipped cart is taxed where the tables point, ${SHIPMENTS} times`, () => {
  const told = new Map<string, number>();
  fc.assert(
    fc.property(shipments, prices, ([from, to], drawn) => {
      const cents = ordinary(to, drawn);
      const what = `${lineOf(from)} -> ${lineOf(to)}`;
      const cart = byCalculation(dataset, lineOf(from), lineOf(to), cents);
      const atOrigin = lookupAt(from);
      const atDestination = lookupAt(to);
      const rule = from.state === to.state ? (rules.get(to.state) ?? '') : 'interstate';
      if (rule === 'origin-to-cap') {
        toppedUp(cart, atOrigin, atDestination, cents, what);
        return;
      }
      const lookup = rule === 'origin' ? atOrigin : atDestination;
      if (/\.(?:origin|destination)$/.test(cart.location)) {
        const side = cart.location.endsWith('origin') ? atOrigin : atDestination;
        assert.equal(cart.refusal, side.refusal, what);
        return;
      }
      if (rule === 'interstate' && to.state === 'MO' && cart.refusal !== lookup.refusal) {
        // Its local use taxes are not held.
        assert.match(cart.refusal, /^not supported in missouri/i, what);
        assert.ok(lookup.rate > lookup.levels[0]!, what);
        return;
      }
      assertAgrees(cart, lookup, cents, CALCULATED_DIGITS, what);
      if (cart.refusal === '') told.set(rule, (told.get(rule) ?? 0) + 1);
    }),
    { numRuns: SHIPMENTS, includeErrorInReport: true },
  );
  for (const rule of ['interstate', 'origin', 'base-at-origin']) {
    assert.ok((told.get(rule) ?? 0) > 20, `${rule}: ${told.get(rule)}`);
  }
});
