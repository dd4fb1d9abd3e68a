/**
 * Single lookups, rows of bulk files and carts of ordinary goods agree on a place and a day: the
 * combined rate, each level, the precision, and why they refuse. Where carts rightly differ the
 * property says so.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { openDataset } from '../../src/dataset/open.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe } from '../support/built-dataset.js';
import {
  byCalculation,
  byLookup,
  byMerchantCart,
  byRow,
  CALCULATED_DIGITS,
  lineOf,
  MERCHANT_DIGITS,
  type Told,
  type Written,
} from '../support/three-ways.js';
import { assertAgrees } from '../support/ways-agree.js';

const built = buildRecipe('fixture');
const dataset = openDataset(built.dir);

after(() => {
  dataset.close();
  built.remove();
});

/** Places that CI asks about, each three ways. */
const PLACES = 3_000;
/** Different ones among them. */
const PLACES_LEAST = 2_000;
const SHIPMENTS = 2_000;
const DOORLESS = 300;
/** The only state of the fixture that sources at the origin (its sourcing.tsv). */
const ORIGIN_STATE = 'QB';

const DOORS = readFileSync(join(packageRoot(), 'datasets/fixture/points.csv'), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((row): Written => {
    const [, , number = '', street = '', , city = '', , state = '', zip = ''] = row.split(',');
    return { street: `${number} ${street}`, city, state, zip };
  });
const STREETS = [
  ...new Set(DOORS.map(({ street }) => street.replace(/^\S+ /, ''))),
  'ALDER WAY',
  'TWELFTH ST',
  'NOWHERE LN',
];
const TOWNS: readonly Omit<Written, 'street'>[] = [
  ['ELMTON', 'QA', '91010'],
  ['ELMTON', 'QA', '91011'],
  ['GORSE', 'QA', '91012'],
  ['BIRCHWOOD', 'QA', '91020'],
  ['FERNVILLE', 'QA', '91010'],
  ['ST. HAZEL', 'QB', '92010'],
  ['JUNIPER', 'QB', '92020'],
  ['CEDARVILLE', 'QB', '92030'],
  ['KELP HARBOR', 'QC', '93010'],
  ['FIRTON', 'QD', '94010'],
  ['NOSUCHTOWN', 'QA', '91012'],
  ['ELMTON', 'QA', '91099'],
].map(([city = '', state = '', zip = '']) => ({ city, state, zip }));

/** Doors that are listed, numbers beside them, streets that are nowhere, with ZIP+4 and without. */
const places: fc.Arbitrary<Written> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...DOORS) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.integer({ min: 1, max: 420 }),
        fc.constantFrom(...STREETS),
        fc.constantFrom(...TOWNS),
        fc.constantFrom('', '-0001'),
        fc.boolean(),
      )
      .map(([number, street, town, plus, whole]) => ({
        ...town,
        street: `${number} ${street}`,
        city: whole ? town.city : 'ELMTON',
        zip: town.zip + plus,
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.integer({ min: 1, max: 420 }),
        fc.constantFrom(...STREETS),
        fc.constantFrom(...TOWNS),
      )
      .map(([number, street, town]) => ({ ...town, street: `${number} ${street}`, zip: '' })),
  },
);
const prices = fc.integer({ min: 1, max: 100_000_000 });
/** Today, months before and after Birch County's change, and one without lists. */
const months = fc.constantFrom('', '', '', '202610', '202501', '202412', '202001', '201912');

function sameRefusal(one: Told, other: Told, what: string): void {
  assert.deepEqual([other.refusal, other.code], [one.refusal, one.code], what);
}

interface Asked {
  readonly place: Written;
  readonly month: string;
}

function lookupAt({ place, month }: Asked): Told {
  return byLookup(dataset, lineOf(place), month);
}

/** A cart from a place to another by the endpoint that can say it. */
function ship(from: Written, to: Written, cents: number, month: string) {
  return from.zip !== '' && to.zip !== ''
    ? { digits: MERCHANT_DIGITS, cart: byMerchantCart(dataset, from, to, cents, month) }
    : { digits: CALCULATED_DIGITS, cart: byCalculation(dataset, lineOf(from), lineOf(to), cents) };
}

test(`a lookup, a bulk row and a cart within a place agree, ${PLACES} times`, () => {
  const seen = new Set<string>();
  let answered = 0;
  fc.assert(
    fc.property(places, prices, months, (place, cents, drawn) => {
      // Only the merchants' endpoint knows other days, and it wants a ZIP.
      const month = place.zip === '' ? '' : drawn;
      const line = lineOf(place);
      const lookup = lookupAt({ place, month });
      const row = byRow(dataset, { address: line, historical: month });
      sameRefusal(lookup, row, line);
      assert.deepEqual(row, lookup, line);
      const { cart, digits } = ship(place, place, cents, month);
      assertAgrees(cart, lookup, cents, digits, `${line} ${month}`);
      if (month === '') {
        const calculated = byCalculation(dataset, line, line, cents);
        assertAgrees(calculated, lookup, cents, CALCULATED_DIGITS, line);
      }
      seen.add(line);
      if (lookup.refusal === '') answered += 1;
    }),
    { numRuns: PLACES, includeErrorInReport: true },
  );
  assert.ok(answered > PLACES / 3 && answered < PLACES, `${answered} answered`);
  assert.ok(seen.size >= PLACES_LEAST, `${seen.size} places`);
});

test(`a cart agrees with the lookup where its sourcing points, ${SHIPMENTS} times`, () => {
  let told = 0;
  fc.assert(
    fc.property(places, places, prices, months, (from, to, cents, drawn) => {
      const month = from.zip === '' || to.zip === '' ? '' : drawn;
      const { cart, digits } = ship(from, to, cents, month);
      const atOrigin = lookupAt({ place: from, month });
      const atDestination = lookupAt({ place: to, month });
      const what = `${lineOf(from)} -> ${lineOf(to)} ${month}`;
      if (/\.(?:origin|destination)$/.test(cart.location)) {
        // A place that was not found: the lookup there says the same.
        const [lookup] = cart.location.endsWith('origin') ? [atOrigin] : [atDestination];
        assert.equal(cart.refusal, lookup!.refusal, what);
        return;
      }
      // Origin sourcing is for sales within the state; all others are taxed where they arrive.
      const atSeller = from.state === to.state && from.state === ORIGIN_STATE;
      assertAgrees(cart, atSeller ? atOrigin : atDestination, cents, digits, what);
      if (cart.refusal === '') told += 1;
    }),
    { numRuns: SHIPMENTS, includeErrorInReport: true },
  );
  assert.ok(told > SHIPMENTS / 4, `${told} answered`);
});

test('an address without a door is refused by lookups and taxed by carts as its ZIP is', () => {
  const doorless = fc.constantFrom('PO BOX 5', 'BORDER AVE', 'GENERAL DELIVERY');
  let answered = 0;
  fc.assert(
    fc.property(doorless, fc.constantFrom(...TOWNS), prices, (street, town, cents) => {
      const place = { ...town, street };
      const line = lineOf(place);
      const lookup = lookupAt({ place, month: '' });
      sameRefusal(lookup, byRow(dataset, { address: line }), line);
      assert.equal(lookup.code, 109, line);
      // A door that is nowhere is found by ZIP and city too.
      const byZip = lookupAt({ place: { ...town, street: '9999 NOSUCH WAY' }, month: '' });
      const { cart, digits } = ship(place, place, cents, '');
      if (cart.refusal === '') {
        answered += 1;
        assertAgrees(cart, byZip, cents, digits, line);
      } else if (cart.location === 'body.items[0]') {
        assert.equal(cart.refusal, byZip.refusal, line);
      } else {
        assert.equal(cart.refusal, lookup.refusal, line);
        assert.notEqual(byZip.refusal, '', line);
      }
    }),
    { numRuns: DOORLESS, includeErrorInReport: true },
  );
  assert.ok(answered > 50, `${answered} answered`);
});
