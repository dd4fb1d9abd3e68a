/** What a lookup of the command line prints of a product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { productLines } from '../../src/cli/product-lines.js';

test('the terms of a product stand beside its rate', () => {
  const rule = {
    effectiveDt: null,
    effectiveTaxRate: 0.0625,
    exemptOver: null,
    exemptUnder: null,
    expiresDt: null,
    jurTaxCode: null,
    percentTaxable: null,
    taxablePortionOver: null,
  };
  const lines = (change: object, special: object = {}): readonly string[] =>
    productLines({
      taxabilityCode: {
        id: '1',
        title: 'A',
        rateActionCode: 'T00',
        rateRules: [{ ...rule, ...change }],
        ...special,
      },
    });
  const meal = { jurisdictionName: 'QA', taxName: 'Meals', rate: 0.09, replacesStateRate: true };
  assert.deepEqual(lines({ taxablePortionOver: 175, expiresDt: '2026-12-31' }), [
    '',
    '1 A: 6.25 %, on what an item costs above $175, to 2026-12-31',
  ]);
  assert.deepEqual(lines({ jurTaxCode: '91', exemptUnder: 110, percentTaxable: 0.5 }), [
    '',
    "1 A: 6.25 %, the state's part; local rates as above, exempt below $110 an item, " +
      'on 50 % of the price',
  ]);
  assert.deepEqual(lines({}, { specialRules: { mealTax: { rules: [meal] } } }).slice(1), [
    '1 A: 6.25 %',
    '1 A: 9 % Meals of QA, in place of its rate above',
  ]);
  assert.deepEqual(lines({}, { rateRules: [] }), ['', '1 A: no rule of its own; the rates above']);
});
