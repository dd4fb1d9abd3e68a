/** Canada in the default dataset: what names a province, and what cannot be told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askAddress, askQuery, openRecipe } from '../support/ask-dataset.js';

const { dataset } = openRecipe('default');
const NEEDS = /a Canadian address needs its postal code or its province/i;

function ask(address: string): ReturnType<typeof askAddress> {
  return askAddress(dataset, address, '&countryCode=CAN');
}

/** What provinces are called besides their names and codes, with their rates together. */
const NAMES: readonly (readonly [total: number, names: string])[] = [
  [0.15, 'PEI|P.E.I.|P. E. I. C1A|Île-du-Prince-Édouard|(Î.-P.-É.) C1A 1A1'],
  [0.15, 'NF|Nfld.|Newfoundland|Newfoundland & Labrador|Labrador A1C|T.-N.-L.|Terre-Neuve'],
  [0.15, 'N.-B.|Nouveau-Brunswick E1C'],
  [0.14, 'N.S.|Nouvelle-Écosse'],
  [0.14975, 'Que.|Qué.|PQ|P.Q. J8X|(Québec) J8X'],
  [0.13, 'Ont.|Ont. K1P|ON M5H|ON, M5H, Canada|ON M5H 2N2, CA'],
  [0.12, 'Man.|Man. R3C|C.-B.|Colombie-Britannique V6B|B.C. V6B'],
  [0.11, 'Sask.|Sask. S4P'],
  [0.05, 'Alta.|Alta T2P|NWT|N.W.T. X1A|Territoires du Nord-Ouest|Nvt.|Yukon Territory|Y.T.'],
];

for (const [total, names] of NAMES) {
  for (const name of names.split('|')) {
    test(`an address with its province as ${name}`, () => {
      const asked = ask(`5 Main St, Springfield, ${name}`);
      assert.deepEqual([asked.code, asked.total], [100, total], asked.message);
      assert.match(asked.normalizedAddress, /^Springfield, [A-Z]{2}( M5H 2N2| C1A 1A1)?, Canada$/);
    });
  }
}

test('the first half of a postal code speaks for a province, and against another', () => {
  assert.equal(ask('100 Queen St W, Toronto M5H').total, 0.13);
  for (const [address, message] of [
    ['100 Queen St W, Toronto, QC M5H', /M5H is not in QC/],
    ['100 Queen St W, Toronto M5H QC', /M5H is not in QC/],
    ['1 Main St, Rankin Inlet, NT X0C', /X0C is not in NT/],
    ['1 Main St, Nowhere, NU X2A', /X2A is in no province/],
    ['50 Victoria St, Gatineau K1A', /two provinces/],
    ['5 Main St, Ottawa, ON / QC', /names ON and QC/],
  ] as const) {
    const asked = ask(address);
    assert.equal(asked.code, 109, address);
    assert.match(asked.message, message);
  }
  assert.equal(ask('50 Victoria St, Gatineau, QC K1A').total, 0.14975);
});

test('an address without a province is told what it needs', () => {
  for (const address of [
    '100 Queen St W, Toronto',
    '100 Rue Ontario',
    '12 rue du Nunavut',
    'PO Box 12, Gatineau',
    '10 Rue Principale, bureau B2B',
    '100 Queen St W, M5H',
  ]) {
    const asked = ask(address);
    assert.equal(asked.code, 109, address);
    assert.match(asked.message, NEEDS, address);
  }
});

test('a city whose rate is not held is known on a line without commas', () => {
  for (const address of ['1234 Regional Road 25 Lloydminster SK', 'Lloydminster SK S9V']) {
    assert.equal(ask(address).code, 110, address);
  }
});

test('places of the United States stay theirs, and Canada is not among them', () => {
  for (const address of ['12 Main St, Newfoundland, PA 18445', '100 Main St, Nashville, TN']) {
    assert.equal(ask(address).code, 110, address);
  }
  assert.equal(askAddress(dataset, '12 Main St, Newfoundland, PA 18445').total, 0.06);
  assert.equal(askAddress(dataset, '5 Main St, Charlottetown, PEI').code, 109);
  for (const address of [
    '100 Queen St W, Toronto, ON M5H',
    '5 Main St, Charlottetown, PEI, Canada',
  ]) {
    const asked = askAddress(dataset, address);
    assert.equal(asked.code, 110, address);
    assert.match(asked.message, /not in USA; check countryCode/);
  }
});

test('coordinates between two provinces are told from those at sea', () => {
  for (const [point, between] of [
    ['lat=48.0167&lng=-66.6833', /between New Brunswick and Quebec/],
    ['lat=48.0&lng=-66.71', /between New Brunswick and Quebec/],
    ['lat=51.419&lng=-57.064', /between Newfoundland and Labrador and Quebec/],
  ] as const) {
    const asked = askQuery(dataset, `${point}&countryCode=CAN`);
    assert.equal(asked.code, 110, point);
    assert.match(asked.message, between);
    assert.match(asked.message, /give an address with its postal code or province/);
    assert.match(askQuery(dataset, point).message, /not in USA; check countryCode/);
  }
  for (const point of ['lat=44.0&lng=-60.0', 'lat=42.2&lng=-87.0']) {
    const asked = askQuery(dataset, `${point}&countryCode=CAN`);
    assert.match(asked.message, /in no known tax jurisdiction|not in CAN/, point);
  }
});
