/** The product table of the repository: what it speaks for, and what each row rests on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProductRules } from '../../src/engine/product/rules.js';
import type { DateInt } from '../../src/tax/date.js';
import { CONFIDENCES } from '../../src/tax/product-rule.js';
import { FACT_DOCUMENTS, FACT_STATES, factDataset } from '../support/product-facts.js';

const TODAY = 20261122 as DateInt;
const RULES = new ProductRules(factDataset([]));
const { products: PRODUCTS } = RULES.book;
const ROWS = FACT_DOCUMENTS.get('products') as readonly Readonly<Record<string, string>>[];
const NO_STATE_TAX: ReadonlySet<string> = new Set(['AK', 'DE', 'MT', 'NH', 'OR']);
/** States, the District and Puerto Rico, as far as they levy a sales tax of their own. */
const TAXING = FACT_STATES.map(({ code }) => code).filter(
  (code) => PRODUCTS.get(code) !== undefined && !NO_STATE_TAX.has(code),
);

/** A code of each kind of product. */
const KINDS: Readonly<Record<string, string>> = {
  general: '00000',
  groceries: '40030',
  candy: '40010',
  softDrinks: '40050',
  water: '40060',
  supplements: '40020',
  preparedFood: '41000',
  prescriptions: '51020',
  medicines: '51130',
  insulin: '51050',
  oxygen: '51100',
  durableEquipment: '52020',
  mobility: '53020',
  prosthetics: '54020',
  diapers: '20012',
  adultDiapers: '20011',
  feminineHygiene: '51175',
  clothing: '20010',
  footwear: '20013',
  accessories: '20020',
  handbags: '92001',
  sports: '20041',
  camping: '21317',
  protective: '20030',
  fur: '20050',
  schoolSupplies: '20070',
  schoolComputer: '20100',
  computers: '30100',
  peripherals: '93011',
  softwareMedium: '30040',
  softwareDownloaded: '30050',
  softwareCustom: '30015',
  softwareRemote: '30070',
  softwareBusiness: '93205',
  products: '31000',
  video: '31040',
  audio: '31070',
  eBooks: '31100',
  streamedVideo: '31060',
  streamedAudio: '31090',
  games: '93103',
  newspapers: '93111',
  magazines: '93116',
  childrensBooks: '92095',
  textbooks: '92090',
  giftCards: '10005',
  donations: '91030',
  petFood: '20202',
  seeds: '40031',
  firearmSafety: '70010',
  appliances: '21009',
  repair: '91090',
  installation: '10040',
  cleaning: '96103',
  paper: '96101',
  grooming: '51173',
  giftWrap: '91110',
  warranties: '93018',
  healthClubs: '91072',
  admissions: '91081',
};

function isUnknown(state: string, tic: string): boolean {
  return ROWS.some(
    (row) =>
      row['state'] === state &&
      row['taxable'] === 'unknown' &&
      row['tic']?.split(';').includes(tic) === true,
  );
}

test('every state with a sales tax has a rule, or says that it is unknown, for 40 kinds and more', () => {
  assert.equal(TAXING.length, 47);
  assert.ok(Object.keys(KINDS).length >= 40);
  for (const state of TAXING) {
    for (const [kind, tic] of Object.entries(KINDS)) {
      const rules = RULES.at(state, tic, TODAY);
      assert.ok(
        rules.length === 1 || (rules.length === 0 && isUnknown(state, tic)),
        `${state} ${kind}: ${rules.length}`,
      );
    }
  }
});

test('in every state most kinds are told', () => {
  for (const state of TAXING) {
    const told = Object.values(KINDS).filter((tic) => RULES.at(state, tic, TODAY).length > 0);
    assert.ok(told.length >= 25, `${state}: ${told.length}`);
  }
});

test('every rule has a citation, a day it holds from, a day it was read, and a confidence', () => {
  for (const row of ROWS) {
    const where = `${row['state']} ${row['category']}`;
    if (row['taxable'] === 'unknown') {
      assert.deepEqual([row['citation'], row['confidence']], ['', ''], where);
      continue;
    }
    if (NO_STATE_TAX.has(row['state'] ?? '')) continue;
    assert.notEqual(row['citation'], '', where);
    assert.ok(
      CONFIDENCES.some((each) => each === row['confidence']),
      where,
    );
    // Every rule of a law names it: no bare "see the department".
    assert.match(row['citation'] ?? '', /\d/, where);
  }
  for (const state of TAXING) {
    for (const [tic, rules] of PRODUCTS.get(state) ?? []) {
      for (const { heldFrom, basis } of rules) {
        assert.notEqual(heldFrom, null, `${state} ${tic}`);
        assert.notEqual(basis.asOf, null, `${state} ${tic}`);
      }
    }
  }
});

test('no exemption rests on low confidence: what is not sure is not told', () => {
  const bad = ROWS.filter(
    (row) =>
      row['confidence'] === 'low' &&
      (row['taxable'] !== 'Y' || row['state_rate'] !== '' || row['percent_taxable'] !== ''),
  );
  assert.deepEqual(bad, []);
});

test('the table is read whole, its codes are in the catalogue, and no two rows speak at once', () => {
  const read = new Set<object>();
  for (const state of PRODUCTS.states()) {
    assert.ok(
      FACT_STATES.some(({ code }) => code === state),
      state,
    );
    for (const [tic, rules] of PRODUCTS.get(state) ?? []) {
      assert.ok(RULES.find(tic), `${state} ${tic}`);
      assert.ok(rules.length === 0 || !isUnknown(state, tic), `${state} ${tic}`);
      for (const rule of rules) {
        read.add(rule);
        // A rate of the product's own says nothing without saying what it is a rate of.
        assert.ok(rule.rate === null || rule.scope !== 'all', `${state} ${tic}`);
      }
      assert.ok(RULES.at(state, tic, TODAY).length <= 1, `${state} ${tic}`);
    }
  }
  assert.equal(
    read.size,
    ROWS.filter(({ tic, taxable }) => tic !== '' && taxable !== 'unknown').length,
  );
});

/** States that have a rule of a kind of product that a test asks for. */
function statesWhere(tic: string, taxable: boolean): string {
  return TAXING.filter((state) =>
    RULES.at(state, tic, TODAY).some((rule) => rule.taxable === taxable),
  )
    .sort()
    .join(' ');
}

test('known lists: who exempts clothing, medicines without a prescription, hygiene, textbooks', () => {
  assert.equal(statesWhere('20010', false), 'MN NJ PA VT');
  assert.equal(statesWhere('51130', false), 'CT DC FL MD MN NJ NY PA TX VA VT');
  assert.match(
    statesWhere('51175', false),
    /^AL CA CO CT DC FL IA IL LA MA MD ME MI MN MO NE NJ NM NV NY/,
  );
  assert.equal(statesWhere('51020', true), 'IL');
  assert.equal(statesWhere('92090', false), 'AZ CT MA MN MS NM NY PR SC TN VA WV');
  assert.equal(statesWhere('10005', true), '');
});

test('known lists: who taxes groceries in full, candy, and software used from afar', () => {
  const full = TAXING.filter((state) =>
    RULES.at(state, '40030', TODAY).some((rule) => rule.taxable && rule.rate === null),
  )
    .sort()
    .join(' ');
  assert.equal(full, 'HI ID SD');
  const candyApart = TAXING.filter(
    (state) => RULES.at(state, '40010', TODAY)[0] !== RULES.at(state, '40030', TODAY)[0],
  )
    .sort()
    .join(' ');
  assert.equal(candyApart, 'AR CO CT FL IA IL IN KY MD ME MN NC ND NJ NY PR RI TN TX WI');
  assert.equal(
    statesWhere('30070', true),
    'AZ DC HI IA KY LA MA NM NY PA RI SC SD TN TX UT VT WA WV',
  );
});
