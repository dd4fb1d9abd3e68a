import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWire } from '../../src/api/lookup/context.js';
import { FACT_STATES, factDataset } from '../support/product-facts.js';
import { ask } from './ask.js';

const TODAY = 20261121;
const NO_TAX = /^No general sales tax applies to delivery charges/;

/** What each rule means for a charge that is stated separately. */
const RULES = new Map([
  ['EXEMPT', { taxable: 'N', separately: 'false', text: NO_TAX }],
  [
    'EXEMPT_WHEN_SEPARATELY_STATED',
    { taxable: 'N', separately: 'true', text: /exempt when stated/ },
  ],
  ['CONDITIONAL', { taxable: 'N', separately: 'true', text: /exempt under conditions/ }],
  ['ITEM_SPECIFIC', { taxable: 'Y', separately: 'false', text: /taxed as the goods/ }],
  ['TAXABLE', { taxable: 'Y', separately: 'false', text: /are taxable/ }],
]);

const RULED = FACT_STATES.filter(
  ({ country, rules }) =>
    country === 'USA' && rules.some(({ from, to }) => from <= TODAY && TODAY <= to),
);
const DATASET = factDataset(RULED.map(({ code }) => ({ state: code, percents: [['state', '1']] })));
const CONTEXT = openWire();

interface Freight {
  readonly taxable: string;
  readonly shippingExtended: Readonly<Record<string, string>>;
}

function freight(place: number): Freight {
  const { code, text } = ask(60, `lat=10.5&lng=${place}.5&shippingExtended=true`, {
    dataset: DATASET,
    context: CONTEXT,
  });
  assert.equal(code, 100, text);
  const { shipping }: { readonly shipping: Freight } = JSON.parse(text);
  return shipping;
}

test('every state has one of the five rules, and what surrounds it agrees', () => {
  const seen = new Set<string>();
  assert.equal(RULED.length, 51);
  RULED.forEach((state, place) => {
    const { taxable, shippingExtended } = freight(place);
    const { rule = '', description = '', exemptWhenSeparatelyStated } = shippingExtended;
    const meant = RULES.get(rule);
    assert.ok(meant, `${state.code} ${rule}`);
    assert.deepEqual(
      [taxable, exemptWhenSeparatelyStated],
      [meant.taxable, meant.separately],
      state.code,
    );
    assert.match(description, meant.text, state.code);
    assert.deepEqual(Object.keys(shippingExtended), [
      'description',
      'exemptWhenSeparatelyStated',
      'rule',
      'stateCode',
      'stateName',
    ]);
    assert.deepEqual(
      [shippingExtended['stateCode'], shippingExtended['stateName']],
      [state.code, state.name],
    );
    seen.add(rule);
  });
  assert.deepEqual([...seen].sort(), [...RULES.keys()].sort());
});

test('a month whose freight rule is not held is refused and not guessed', () => {
  const codeOf = (state: string, month: string): number => {
    const place = RULED.findIndex(({ code }) => code === state);
    return ask(60, `lat=10.5&lng=${place}.5&historical=${month}`, {
      dataset: DATASET,
      context: CONTEXT,
    }).code;
  };
  assert.equal(codeOf('KS', '202306'), 110);
  assert.equal(codeOf('KS', '202307'), 100);
  // The rule begins within the month, and a month is answered by its first day.
  assert.equal(codeOf('MI', '202304'), 110);
  assert.equal(codeOf('MI', '202305'), 100);
});

test('service and sourcing are those of the first day of the month asked for', () => {
  const taxable = (month: string): string =>
    /"service":\{"adjustmentType":"SERVICE_TAXABLE","taxable":"(.)"/.exec(
      ask(60, `lat=10.5&lng=0.5&historical=${month}`).text,
    )?.[1] ?? '';
  assert.deepEqual(['202112', '202201'].map(taxable), ['L', 'N']);
});
