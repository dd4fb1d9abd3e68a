import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { ProductRules } from '../../src/engine/product/rules.js';
import { formatUsd, parseUsd } from '../../src/tax/amount.js';
import {
  codeForm,
  effectiveRate,
  type OrdinaryRates,
  type ProductRule,
} from '../../src/tax/product-rule.js';
import { parsePercent, type Rate } from '../../src/tax/rate.js';
import type { DateInt } from '../../src/tax/date.js';
import { memoryDataset } from '../support/memory-dataset.js';
import { tableDocument } from '../support/product-facts.js';

const TODAY = 20261121 as DateInt;

function day(date: number): DateInt {
  return date as DateInt;
}

function percent(text: string): Rate {
  const rate = parsePercent(text);
  if (rate === null) throw new Error(text);
  return rate;
}

const CATALOGUE =
  'tic\ttitle\tparent\n10000\tTop\t\n11000\tMiddle\t10000\n11100\tLow\t11000\n' +
  '12000\tLoop\t12500\n12500\tLoop too\t12000\n';
const COLUMNS =
  'state\ttic\ttaxable\tstate_rate\tthreshold_usd\tthreshold_kind\tscope\tfood_drug' +
  '\tcovers_children\teffective_from\teffective_to\tpercent_taxable\tper_volume_usd' +
  '\tper_volume_unit\tcap_per_unit_usd\n';

/** A dataset of a product table alone; cells are separated by commas here. */
function invented(...rows: readonly string[]): Dataset {
  const products = COLUMNS + rows.map((row) => `${row.replaceAll(',', '\t')}\n`).join('');
  const documents = new Map([
    ['tic', CATALOGUE],
    ['products', products],
  ]);
  return {
    ...memoryDataset(),
    document: (name) => {
      const text = documents.get(name);
      return text === undefined ? null : tableDocument(text);
    },
  };
}

function read(dataset: Dataset): ProductRules {
  const rules = new ProductRules(dataset);
  assert.ok(rules.book.products.states().length > 0);
  return rules;
}

function book(...rows: readonly string[]): ProductRules {
  return read(invented(...rows));
}

function rulesOf(of: ProductRules, tic: string, date = TODAY): readonly ProductRule[] {
  return of.at('QZ', tic, date);
}

test('a rule covers child codes only where its row says so', () => {
  const own = book('QZ,11000,N,,,,all,no,no');
  assert.equal(rulesOf(own, '11000').length, 1);
  assert.equal(rulesOf(own, '11100').length, 0);
  const covering = book('QZ,10000,N,,,,all,no,yes');
  assert.equal(rulesOf(covering, '11100')[0]?.tic, '10000');
  const nearest = book('QZ,10000,N,,,,all,no,yes', 'QZ,11000,Y,,,,all,no,yes', 'QP,11100,N,,,,all');
  assert.equal(rulesOf(nearest, '11100')[0]?.tic, '11000');
});

test('a row of several codes is the rule of each, made for the first', () => {
  const several = book('QZ,12500;11000,N,,,,all,no,yes');
  assert.equal(rulesOf(several, '11100')[0]?.tic, '12500');
  assert.equal(rulesOf(several, '12000')[0], rulesOf(several, '11000')[0]);
});

test('a code that is known to be unknown inherits nothing, nor does a code below it', () => {
  const some = book('QZ,10000,N,,,,all,no,yes', 'QZ,11000,unknown,,,,all');
  assert.equal(rulesOf(some, '10000').length, 1);
  assert.deepEqual(rulesOf(some, '11000'), []);
  assert.deepEqual(rulesOf(some, '11100'), []);
  assert.equal(some.heldFrom('QZ', '11100', day(20000101)), null);
});

test('parents that lead in a circle end', () => {
  assert.deepEqual(rulesOf(book('QZ,10000,N,,,,all,no,yes'), '12000'), []);
});

test('rules hold from their first to their last day', () => {
  const dated = book(
    'QZ,11000,Y,0.03,,,state,yes,no,20200101,20251231',
    'QZ,11000,Y,0.02,,,state,yes,no,20260101,',
  );
  const rates = (date: number): readonly (Rate | null)[] =>
    rulesOf(dated, '11000', day(date)).map(({ rate }) => rate);
  assert.deepEqual(rates(20191231), []);
  assert.deepEqual(rates(20200101), [percent('3')]);
  assert.deepEqual(rates(20251231), [percent('3')]);
  assert.deepEqual(rates(20260101), [percent('2')]);
});

test('a table speaks for the days from its first rule of a code on', () => {
  const held = (of: ProductRules, date: number): DateInt | null =>
    of.heldFrom('QZ', '11100', day(date));
  const dated = book('QZ,10000,Y,0.03,,,state,yes,yes,20200101,20251231');
  assert.equal(held(dated, 20191231), 20200101);
  assert.equal(held(dated, 20200101), null);
  // After its last day a rule has ended, which is no gap.
  assert.equal(held(dated, 20260101), null);
  assert.equal(held(book('QZ,10000,N,,,,all,no,no'), 20000101), null);
  const table = tableDocument('state\ttic\ttaxable\tas_of\nQZ\t11100\tN\t20260531\n');
  const undated = read({
    ...memoryDataset(),
    document: (name) => (name === 'products' ? table : null),
  });
  assert.equal(held(undated, 20251231), 20260101);
  assert.equal(held(undated, 20260101), null);
});

test('the effective rate is that of what the rule speaks for', () => {
  const ordinary: OrdinaryRates = { state: percent('4'), combined: percent('8.875') };
  const cases: readonly (readonly [row: string, expected: string])[] = [
    ['QZ,11000,N,,,,all', '0'],
    ['QZ,11000,N,,,,varies', '0'],
    ['QZ,11000,Y,,,,all', '8.875'],
    ['QZ,11000,Y,,110.00,below_exempt,varies', '4'],
    ['QZ,11000,Y,,110.00,below_exempt,', '4'],
    ['QZ,11000,Y,,175,above_excess,all', '8.875'],
    ['QZ,11000,Y,0.0175,,,state', '1.75'],
    ['QZ,11000,Y,0,,,state', '0'],
    ['QZ,11000,Y,0.02,,,total', '2'],
  ];
  for (const [row, expected] of cases) {
    const [rule] = rulesOf(book(row), '11000');
    assert.ok(rule, row);
    assert.equal(effectiveRate(rule, ordinary), percent(expected), row);
  }
});

test('every column is read exactly', () => {
  const [rule] = rulesOf(
    book('QZ,11000,Y,0.005,5000.01,above_exempt,state,yes,yes,,,0.8,0.0125,gallon,1600'),
    '11000',
  );
  assert.deepEqual(rule, {
    tic: '11000',
    coversChildren: true,
    taxable: true,
    rate: 5_000_000,
    scope: 'state',
    threshold: { kind: 'above_exempt', amount: 5_000_010_000_000n },
    percentTaxable: 800_000_000,
    perVolume: { amount: 12_500_000n, unit: 'gallon' },
    capPerUnit: 1_600_000_000_000n,
    foodDrug: true,
    from: null,
    to: null,
    heldFrom: null,
    basis: { citation: '', source: '', asOf: null, confidence: 'low', condition: '' },
  });
});

test('a cell that cannot be read names its document and row', () => {
  const bad = (row: string, column: RegExp): void => {
    assert.throws(() => rulesOf(book('QZ,11000,N,,,,all', row), '11000'), column);
  };
  bad('QZ,11000,M,,,,all', /document products, row 2: bad taxable "M"/);
  bad('QZ,11000,Y,5%,,,all', /bad state_rate/);
  bad('QZ,11000,Y,,110,under,all', /bad threshold_kind/);
  bad('QZ,11000,Y,,,,both', /bad scope/);
  bad('QZ,11000,Y,,,,all,maybe', /bad food_drug/);
  bad('QZ,11000,Y,,,,all,no,no,20260231', /bad effective_from/);
});

test('dollars are exact and print shortest', () => {
  for (const [text, printed] of [
    ['110.00', '110'],
    ['0.5', '0.5'],
    ['1600.01', '1600.01'],
    ['0', '0'],
    ['0.000000001', '0.000000001'],
  ] as const) {
    const amount = parseUsd(text);
    assert.notEqual(amount, null, text);
    assert.equal(formatUsd(amount ?? -1n), printed);
  }
  for (const text of ['', '.5', '1e3', '-1', '0.0000000001', '1,000', '5.']) {
    assert.equal(parseUsd(text), null, text);
  }
});

test('the form of a code', () => {
  assert.deepEqual(['20010', '123', '200100', 'CIR00001', '2001O', 'A'].map(codeForm), [
    'standard',
    'malformed',
    'malformed',
    'override',
    'override',
    'override',
  ]);
});
