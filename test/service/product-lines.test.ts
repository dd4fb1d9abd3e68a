/** What a lookup of the command line prints of a product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { productLines } from '../../src/cli/lookup.js';
import type { MealRule } from '../../src/engine/product/meal-tax.js';
import type { NoProduct, ProductFinding } from '../../src/engine/product/rules.js';
import type { KnownRates } from '../../src/engine/lookup-query.js';
import { parseUsd } from '../../src/tax/amount.js';
import type { DateInt } from '../../src/tax/date.js';
import type { ProductRule } from '../../src/tax/product-rule.js';
import { parsePercent, type Rate } from '../../src/tax/rate.js';
import { PLAIN_RULE } from '../support/plain-rule.js';

function rate(percent: string): Rate {
  return parsePercent(percent) ?? assert.fail(percent);
}

function usd(text: string): bigint {
  return parseUsd(text) ?? assert.fail(text);
}

const RATES: KnownRates = { sales: rate('7'), use: rate('7'), rows: [] };

const RULE: ProductRule = { ...PLAIN_RULE, rate: rate('6.25') };

const MEAL: MealRule = {
  component: 'STATE_SPECIAL_TOTAL',
  code: '91',
  name: 'QA',
  type: 'STATE',
  extent: 'whole',
  rate: rate('9'),
  replacesStateRate: true,
  replacesLocalRates: 'no',
  sourcingBasis: '',
  taxName: 'Meals',
  from: null,
  to: null,
  heldFrom: null,
};

function found(
  changes: readonly Partial<ProductRule>[],
  meals: readonly MealRule[] = [],
): string[] {
  const finding: ProductFinding = {
    kind: 'found',
    code: { tic: '1', title: 'A', label: 'A' },
    rules: changes.map((change) => ({ ...RULE, ...change })),
    meal: { combined: null, reasons: [], rules: meals, complete: true },
  };
  return [...productLines('1', finding, RATES)];
}

test('the terms of a product stand beside its rate', () => {
  assert.deepEqual(
    found([
      {
        threshold: { kind: 'above_excess', amount: usd('175') },
        from: 20260101 as DateInt,
        to: 20261231 as DateInt,
      },
    ]),
    ['', '1 A: 6.25 %, on what an item costs above $175, from 20260101, to 20261231'],
  );
  assert.deepEqual(
    found([
      {
        scope: 'state',
        threshold: { kind: 'below_exempt', amount: usd('110') },
        percentTaxable: rate('50'),
      },
    ]),
    [
      '',
      "1 A: 6.25 %, the state's part; local rates as above, exempt below $110 an item, " +
        'on 50 % of the price',
    ],
  );
  assert.deepEqual(
    found([
      {
        taxable: false,
        threshold: { kind: 'above_exempt', amount: usd('1600.5') },
        perVolume: { amount: usd('0.15'), unit: 'per gallon' },
        capPerUnit: usd('300'),
      },
    ]).slice(1),
    ['1 A: 0 %, exempt above $1600.5 an item, $0.15 per gallon, at most $300 an item'],
  );
  assert.deepEqual(found([{}], [MEAL, { ...MEAL, replacesStateRate: false }]).slice(1), [
    '1 A: 6.25 %',
    '1 A: 9 % Meals of QA, in place of its rate above',
    '1 A: 9 % Meals of QA',
  ]);
  assert.deepEqual(found([]), ['', '1 A: no rule of its own; the rates above']);
});

test('a code that is none is told so, and nothing where no catalogue is held', () => {
  const none = (kind: NoProduct['kind']): readonly string[] => productLines('12', { kind }, RATES);
  assert.deepEqual(none('unknown'), ['', '12: there is no such product code (T02)']);
  assert.deepEqual(none('malformed'), ['', '12: there is no such product code (T03)']);
  assert.deepEqual(none('no-catalogue'), []);
});
