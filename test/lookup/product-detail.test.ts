import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openWire } from '../../src/api/lookup/context.js';
import { factDataset, type FactPlace, levies, tableDocument } from '../support/product-facts.js';
import { ask } from './ask.js';

const NEW_YORK: FactPlace = {
  state: 'NY',
  county: '061',
  placeGeoid: '3651000',
  percents: levies('state 4, city 4.5, district 0.375'),
};
const BOSTON: FactPlace = {
  state: 'MA',
  county: '025',
  placeGeoid: '2507000',
  percents: [['state', '6.25']],
};
const NASHVILLE: FactPlace = {
  state: 'TN',
  county: '037',
  percents: levies('state 7, county 2.75'),
};
const AUSTIN: FactPlace = {
  state: 'TX',
  county: '453',
  percents: levies('state 6.25, city 1, district 1'),
};
const RALEIGH: FactPlace = {
  state: 'NC',
  county: '183',
  percents: levies('state 4.75, county 2, district 0.5'),
};
const PORTLAND: FactPlace = { state: 'ME', county: '005', percents: [['state', '5.5']] };
const TORONTO: FactPlace = { state: 'ON', percents: [['state', '13']] };

const DATASET = factDataset([NEW_YORK, BOSTON, NASHVILLE, AUSTIN, RALEIGH, PORTLAND, TORONTO]);
const AT = { newYork: 0, boston: 1, nashville: 2, austin: 3, raleigh: 4, portland: 5, toronto: 6 };
const CONTEXT = openWire();

function text(place: number, code: string, more = '', dataset: Dataset = DATASET): string {
  const query = `lat=10.5&lng=${place}.5&taxabilityCode=${code}${more}`;
  // What a worker keeps is of one release, and the names of these are the same.
  const context = dataset === DATASET ? CONTEXT : openWire();
  const answer = ask(60, query, { dataset, context });
  assert.equal(answer.code, 100, answer.text);
  return answer.text;
}

function detail(place: number, code: string, more = '', dataset: Dataset = DATASET): string {
  const found = /"productDetail":\{"taxabilityCode":(\{.*\})\},"addressDetail"/.exec(
    text(place, code, more, dataset),
  );
  return found?.[1] ?? '';
}

/** The rules of an answer, as their members were printed. */
function rules(place: number, code: string, more = ''): string {
  return /"rateRules":(\[.*?\])/.exec(detail(place, code, more))?.[1] ?? '';
}

test('the whole member, byte for byte: clothing under $110 in New York', () => {
  assert.equal(
    detail(AT.newYork, '20010'),
    '{"countyFIPS":"061","stateFIPS":"36","id":"20010",' +
      '"title":"Clothing","label":"Clothing","rateActionCode":"T00",' +
      '"rateActionMessage":"Valid tic, rules listed.","rateRules":[{"effectiveDt":null,' +
      '"effectiveTaxRate":0.04,"exemptOver":null,"exemptUnder":110,"expiresDt":null,' +
      '"isDestinationTaxType":true,"isFoodDrug":false,"jurTaxCode":"36","percentTaxable":null,' +
      '"taxablePortionOver":null}]}',
  );
});

test('Massachusetts clothing is taxed on the excess over $175', () => {
  assert.match(
    rules(AT.boston, '20010'),
    /"effectiveTaxRate":0.0625,"exemptOver":null,"exemptUnder":null,.*"taxablePortionOver":175\}/,
  );
});

test('Tennessee groceries: a reduced state part, local parts as usual', () => {
  assert.match(
    rules(AT.nashville, '40030'),
    /"effectiveTaxRate":0.04,.*"isDestinationTaxType":false,"isFoodDrug":true,"jurTaxCode":"47"/,
  );
});

test('North Carolina groceries: a rate that is all that is taken', () => {
  assert.match(rules(AT.raleigh, '40030'), /"effectiveTaxRate":0.02,.*"jurTaxCode":null/);
});

test('exempt groceries and prescription drugs have rate zero of the whole', () => {
  for (const code of ['40030', '51020']) {
    assert.match(
      rules(AT.austin, code),
      /"effectiveTaxRate":0,.*"isFoodDrug":true,"jurTaxCode":null/,
    );
  }
});

test('taxable digital goods have the combined rate', () => {
  assert.match(rules(AT.austin, '31000'), /"effectiveTaxRate":0.0825,.*"jurTaxCode":null/);
});

test('a valid code without rules is T01, also below a code with rules', () => {
  assert.match(
    detail(AT.portland, '20011'),
    /"title":"Diapers - Adult","label":"Diapers - Adult","rateActionCode":"T01",.*"rateRules":\[\]/,
  );
  assert.match(detail(AT.austin, '90103'), /"T01","rateActionMessage":"Valid tic, no applicable/);
});

test('an unknown five-digit code is T02, other digits are T03', () => {
  assert.match(
    detail(AT.austin, '99900'),
    /"id":"99900","title":"","label":"","rateActionCode":"T02",.*"rateRules":\[\]/,
  );
  for (const code of ['123', '200100', '0']) {
    assert.match(
      detail(AT.austin, code),
      /"rateActionCode":"T03","rateActionMessage":"Invalid tic f/,
    );
  }
  assert.match(detail(AT.austin, 'CIR00001'), /"id":"CIR00001",.*"rateActionCode":"T02"/);
});

test('a code outside the pattern is refused', () => {
  for (const code of ['20-10', '12345678901', 'caf%C3%A9']) {
    const { code: answer, status } = ask(60, `lat=10.5&lng=0.5&taxabilityCode=${code}`, {
      dataset: DATASET,
      context: CONTEXT,
    });
    assert.deepEqual([answer, status], [105, 422], code);
  }
});

test('an override code stands for a standard one and keeps its own name', () => {
  const documents = {
    'override-codes': tableDocument(
      'code\ttic\ttitle\tlabel\nCIR00001\t20010\t\t\nSKU7\t41041\tPizza box\tHot pizza to go\n' +
        'LOST1\t99900\t\t\n',
    ),
  };
  const dataset = factDataset([NEW_YORK], { documents });
  const plain = detail(0, '20010', '', dataset);
  assert.equal(
    detail(0, 'CIR00001', '', dataset),
    plain.replace('"id":"20010"', '"id":"CIR00001"'),
  );
  assert.equal(
    detail(0, 'cir00001', '', dataset),
    plain.replace('"id":"20010"', '"id":"cir00001"'),
  );
  assert.match(
    detail(0, 'SKU7', '', dataset),
    /"id":"SKU7","title":"Pizza box","label":"Hot pizza to go",.*"mealTax"/,
  );
  assert.match(detail(0, 'LOST1', '', dataset), /"rateActionCode":"T02"/);
});

test('a dataset without a catalogue cannot judge a code and says nothing of it', () => {
  const dataset = factDataset([NEW_YORK], { documents: { tic: null } });
  assert.doesNotMatch(text(0, '20010', '', dataset), /productDetail/);
});

test('without a code the member is absent, and answers with one do not change those without', () => {
  const plain = ask(60, 'lat=10.5&lng=0.5', { dataset: DATASET, context: CONTEXT }).text;
  text(AT.newYork, '20010');
  const again = ask(60, 'lat=10.5&lng=0.5', { dataset: DATASET, context: CONTEXT }).text;
  assert.doesNotMatch(plain, /productDetail/);
  assert.equal(again, plain);
});

test("codes, places and days do not take each other's members", () => {
  const seen = new Set<string>();
  for (const code of ['20010', '40030', '41041']) {
    for (const place of [AT.newYork, AT.boston, AT.portland]) {
      const early = code === '41041' ? ['&historical=201309'] : [];
      for (const month of ['', ...early, '&historical=202601']) {
        const first = detail(place, code, month);
        assert.equal(detail(place, code, month), first);
        seen.add(`${place} ${first}`);
      }
    }
  }
  // Meal taxes of Maine and of Boston are not held for 2013.
  assert.equal(seen.size, 3 * 3 + 2);
});

test('Maine prepared food shows the meal tax that stands in for the state rate', () => {
  assert.match(
    detail(AT.portland, '41000'),
    new RegExp(
      '"rateActionCode":"T00".*' +
        '"specialRules":\\{"mealTax":\\{"combinedMealRate":0.08,"reasonCodes":\\[\\],"rules":\\[' +
        '\\{"componentType":"STATE_SPECIAL_TOTAL","jurisdictionCode":"23",' +
        '"jurisdictionName":"Maine","jurisdictionType":"STATE","rate":0.08,' +
        '"replacesStateRate":true,"sourcingBasis":"DESTINATION","taxName":"Prepared food rate",' +
        '"effectiveDt":20131001,"expiresDt":null\\}\\]\\}\\}\\}$',
    ),
  );
  assert.match(
    detail(AT.portland, '41041', '&historical=201309'),
    /"mealTax":\{"combinedMealRate":null,"reasonCodes":\["STATE_NOT_COVERED"\],"rules":\[\]\}/,
  );
});

test('rules that were read without their first day say nothing of the years before', () => {
  assert.match(rules(AT.newYork, '20010', '&historical=202601'), /"effectiveDt":null/);
  for (const [place, code] of [
    [AT.newYork, '20010'],
    [AT.nashville, '40030'],
  ] as const) {
    const query = `lat=10.5&lng=${place}.5&taxabilityCode=${code}&historical=202512`;
    const answer = ask(60, query, { dataset: DATASET, context: CONTEXT });
    assert.equal(answer.code, 110, answer.text);
    assert.match(answer.text, /rules of this product code are held from 2026-01-01 on/);
  }
  // A code that no rule is held for has none then either, and the rates are not in doubt.
  assert.match(detail(AT.newYork, '41010', '&historical=202512'), /"T01"/);
});

test('a meal tax alone makes a code one with rules; no other code shows meal taxes', () => {
  const boston = detail(AT.boston, '41041');
  assert.match(boston, /"rateActionCode":"T00",.*"rateRules":\[\],"specialRules"/);
  assert.match(boston, /"combinedMealRate":0.0075,"reasonCodes":\["UNMAPPED_SCOPES_IN_STATE"\]/);
  assert.match(
    detail(AT.austin, '41041'),
    /"T01",.*"combinedMealRate":null,"reasonCodes":\["STATE_NOT_COVERED"\],"rules":\[\]/,
  );
  assert.doesNotMatch(detail(AT.boston, '41010'), /specialRules/);
});

test('a Canadian place has no product rules and empty FIPS codes', () => {
  assert.match(
    detail(AT.toronto, '41000', '&countryCode=CAN'),
    /^\{"countyFIPS":"","stateFIPS":"","id":"41000",.*"T01",.*"STATE_NOT_COVERED"/,
  );
});

interface ProductXml {
  readonly response: { readonly productDetail: { readonly taxabilityCode: object } };
}

test('XML says the same', () => {
  const xml = text(AT.portland, '41000', '&format=xml');
  const { response }: ProductXml = new XMLParser({ parseTagValue: false }).parse(xml);
  assert.deepEqual(response.productDetail.taxabilityCode, {
    countyFIPS: '005',
    stateFIPS: '23',
    id: '41000',
    title: 'Prepared Food',
    label: 'Prepared Food',
    rateActionCode: 'T00',
    rateActionMessage: 'Valid tic, rules listed.',
    rateRules: {
      effectiveDt: '',
      effectiveTaxRate: '0.055',
      exemptOver: '',
      exemptUnder: '',
      expiresDt: '',
      isDestinationTaxType: 'true',
      isFoodDrug: 'false',
      jurTaxCode: '',
      percentTaxable: '',
      taxablePortionOver: '',
    },
    specialRules: {
      mealTax: {
        combinedMealRate: '0.08',
        rules: {
          componentType: 'STATE_SPECIAL_TOTAL',
          jurisdictionCode: '23',
          jurisdictionName: 'Maine',
          jurisdictionType: 'STATE',
          rate: '0.08',
          replacesStateRate: 'true',
          sourcingBasis: 'DESTINATION',
          taxName: 'Prepared food rate',
          effectiveDt: '20131001',
          expiresDt: '',
        },
      },
    },
  });
  assert.match(
    text(AT.boston, '41000', '&format=xml'),
    /<reasonCodes>UNMAPPED_SCOPES_IN_STATE<\/reasonCodes><rules>/,
  );
});
