import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ParsedAddress } from '../../src/address/parsed.js';
import { CellIndex } from '../../src/dataset/cell-index.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type {
  AreaRecord, CityRecord, ComponentRecord, StateRecord, UnknownRecord, ZipRecord,
} from '../../src/dataset/records.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import { Doubts } from '../../src/engine/locate/doubt.js';
import { DatasetGazetteer } from '../../src/engine/locate/gazetteer.js';
import { PostalLocator } from '../../src/engine/locate/postal.js';
import { RatesByArea } from '../../src/engine/rate/area-rates.js';
import { ZipLists, type PostalQuery } from '../../src/engine/rate/zip-list.js';
import { foldCounty, foldName, plainName } from '../../src/address/place-name.js';
import { fail, isFailure } from '../../src/failure.js';
import { DATE_MIN, DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { parsePercent, type Rate } from '../../src/tax/rate.js';
import { streetTableOf } from '../support/street-table.js';

const DAY = 20260701 as DateInt;
const dateOf = (): DateInt => DAY;

function rate(percent: string): Rate {
  return parsePercent(percent) ?? assert.fail(percent);
}

const components: ComponentRecord[] = [];

function component(
  level: ComponentRecord['level'],
  jurName: string,
  percent: string,
  from: number = DATE_MIN,
  to: number = DATE_OPEN,
): number {
  const sales = rate(percent);
  const id = components.length;
  components.push({
    id, level, jurName, jurCode: null, kind: null,
    periods: [
      { from: from as DateInt, to: to as DateInt, sales, use: sales, source: 0, asOf: DAY },
    ],
  });
  return id;
}

const areas: AreaRecord[] = [];

function area(
  state: string,
  county: string,
  place: string,
  ids: readonly number[],
  unknown: readonly UnknownRecord[] = [],
): number {
  const id = areas.length;
  areas.push({
    id, country: 'USA', state, stateName: state === 'XA' ? 'Exaland' : 'Wyeland',
    stateFips: state === 'XA' ? '90' : '91', countyFips: county, countyName: `C${county}`, countyFullName: `C${county}`,
    placeName: place, placeGeoid: place === '' ? '' : '9000001', incorporated: place !== '',
    components: ids, unknown, staleAfter: 99991231 as DateInt, estimated: false,
  });
  return id;
}

const XA = component('state', 'XA', '5');
const YB = component('state', 'YB', '4');
const C1 = component('county', 'C001', '1');
const OAK = component('city', 'OAK', '2');
const ELM = component('city', 'ELM', '1');
const BUS = component('district', 'BUS', '1');
const OLD = component('district', 'OLD', '3', 20200101, 20251231);
const GAP: UnknownRecord = {
  level: 'city', from: DATE_MIN, to: DATE_OPEN, reason: 'city rates of Exaland are not held',
};
const REST = area('XA', '001', '', [XA, C1, OLD]);
const IN_OAK = area('XA', '001', 'St. Oak', [XA, C1, OAK]);
const IN_ELM = area('XA', '001', 'Elm', [XA, C1, ELM, BUS]);
const DARK = area('XA', '002', 'Dark', [XA], [GAP]);
const DIM = area('XA', '002', '', [XA], [GAP]);
const OVER = area('YB', '001', '', [YB]);

function zip(
  number: number,
  city: string,
  parts: readonly (readonly [number, string])[],
): ZipRecord {
  return {
    zip: number, state: 'XA', cities: [city],
    parts: parts.map(([id, label]) => ({
      area: id, weight: null, city: label, incorporated: areas[id]?.incorporated ?? false,
      land: null, lat: 0, lng: 0,
    })),
    reach: [],
  };
}

const zips = [
  zip(10001, 'HILLS', [[REST, 'HILLS']]),
  zip(10002, 'SAINT OAK', [[IN_OAK, 'ST. OAK'], [REST, 'SAINT OAK']]),
  zip(10003, 'HILLS', [[IN_OAK, 'ST. OAK'], [IN_ELM, 'ELM']]),
  zip(10004, 'HILLS', [[IN_OAK, 'ST. OAK'], [OVER, 'HILLS']]),
  zip(10005, 'DARK', [[REST, 'HILLS'], [DARK, 'DARK']]),
  zip(10006, 'DARK', [[DARK, 'DARK'], [DIM, 'DARK']]),
  zip(10007, 'APO', []),
];
const cities = new Map<string, CityRecord>([
  ['XA|SAINT OAK', { name: 'Saint Oak', zips: [10002], areas: [IN_OAK] }],
  ['XA|ELM', { name: 'Elm', zips: [10003], areas: [IN_ELM] }],
  ['XA|HILLS', { name: 'Hills', zips: [10001], areas: [] }],
  ['XA|TWIN', { name: 'Twin', zips: [], areas: [IN_OAK, REST] }],
]);
const states = ['XA', 'YB'].map((code): StateRecord => ({
  code, fips: '', name: code === 'XA' ? 'Exaland' : 'Wyeland', country: 'USA',
  timeZone: 'America/Denver', rules: [],
}));
const empty = { get: (): null => null };
const dataset: Dataset = {
  id: 'test',
  hasLayer: () => false,
  area: (id) => areas[id] ?? assert.fail(`area ${id}`),
  component: (id) => components[id] ?? assert.fail(`component ${id}`),
  source: (id) => ({
    id, name: 'list', publisher: '', licence: '', asOf: DAY, estimated: false,
  }),
  states: () => states,
  state: (code) => states.find((state) => state.code === code) ?? null,
  zip: (number) => zips.find((record) => record.zip === number) ?? null,
  city: (state, name) => cities.get(`${state}|${name}`) ?? null,
  document: () => null,
  cells: new CellIndex(empty, empty),
  streets: new StreetIndex(streetTableOf(() => null)),
  close: () => undefined,
};

function read(fields: Partial<ParsedAddress>): ParsedAddress {
  return {
    number: '12', numberValue: 12, numberSuffix: '', numberHigh: -1, preDirection: '',
    name: 'MAIN', suffix: 'ST', postDirection: '', unit: '', city: '', state: '', zip: '',
    zip4: '', country: '', canadianPostalCode: '', otherState: '', kind: 'street', ...fields,
  };
}

const RATES = new RatesByArea(dataset);

/** One that was never asked before. */
function freshLocator(): PostalLocator {
  return new PostalLocator(dataset, new Doubts(dataset, RATES, new DatasetGazetteer(dataset)));
}

const LOCATOR = freshLocator();
const LISTS = new ZipLists(dataset, RATES);

function located(fields: Partial<ParsedAddress>): number | string {
  const found = LOCATOR.locate(read(fields), dateOf);
  return isFailure(found) ? found.failure : found.area;
}

test('names of one place fold alike', () => {
  assert.equal(foldName('St. Paul'), foldName('SAINT PAUL'));
  assert.equal(foldName('Ft. Worth'), 'FORT WORTH');
  assert.equal(plainName("Coeur d'Alene"), 'COEUR DALENE');
  assert.equal(plainName('Añasco'), 'ANASCO');
  assert.equal(foldCounty('Orange County'), 'ORANGE');
  assert.equal(foldCounty('St. Mary Parish'), 'SAINT MARY');
});

test('a district without a period on the day does not apply, a zero city row stays', () => {
  const now = RATES.at(REST, DAY);
  assert.ok(!isFailure(now));
  assert.deepEqual(now.rows.map((row) => row.component.jurName), ['XA', 'C001']);
  assert.equal(now.sales, rate('6'));
  const before = RATES.at(REST, 20250101 as DateInt);
  assert.ok(!isFailure(before));
  assert.equal(before.sales, rate('9'));
  assert.deepEqual(RATES.at(DARK, DAY), fail('no-result', GAP.reason));
});

test('a ZIP within one area is answered, with the address as normalized', () => {
  const found = LOCATOR.locate(
    read({ city: 'HILLS', state: 'XA', zip: '10001', zip4: '0042' }), dateOf,
  );
  assert.ok(!isFailure(found));
  assert.equal(found.area, REST);
  assert.equal(found.precision, 'postal');
  assert.equal(found.normalizedAddress, '12 Main St, Hills, XA 10001-0042, United States');
  assert.equal(found.postalCode, '10001-0042');
  assert.deepEqual([found.lat, found.lng], [0, 0]);
});

test('a ZIP of unequal rates needs the name of an incorporated city', () => {
  assert.equal(located({ zip: '10002', city: 'ST OAK', state: 'XA' }), IN_OAK);
  assert.equal(located({ zip: '10002', city: '', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ zip: '10002', city: 'NOWHERE', state: 'XA' }), 'address-incomplete');
});

test('equal totals answer the named city, else the first part', () => {
  assert.equal(located({ zip: '10003', city: 'ELM', state: 'XA' }), IN_ELM);
  assert.equal(located({ zip: '10003', city: 'HILLS', state: 'XA' }), IN_OAK);
});

test('a named city of the county that is not known to reach the ZIP makes it uncertain', () => {
  assert.equal(located({ zip: '10001', city: 'ELM', state: 'XA' }), 'address-incomplete');
});

test('never across a state line', () => {
  assert.equal(located({ zip: '10001', state: 'YB' }), 'address-incomplete');
  assert.equal(located({ zip: '10004' }), 'address-incomplete');
  assert.equal(located({ zip: '10004', state: 'YB' }), OVER);
  assert.equal(located({ zip: '10004', state: 'XA' }), IN_OAK);
});

test('an unknown area equals no other', () => {
  assert.equal(located({ zip: '10005', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ zip: '10005', state: 'XA', city: 'DARK' }), DARK);
  assert.equal(located({ zip: '10006', state: 'XA' }), 'no-result');
});

test('without a ZIP an incorporated city and its state suffice', () => {
  assert.equal(located({ city: 'ELM', state: 'XA' }), IN_ELM);
  assert.equal(located({ city: 'HILLS', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ city: 'TWIN', state: 'XA' }), 'address-incomplete');
  assert.equal(located({ city: 'ELM' }), 'address-incomplete');
});

test('incomplete addresses are refused', () => {
  assert.equal(located({ number: '', zip: '10001' }), 'address-incomplete');
  assert.equal(located({ kind: 'military', zip: '10007' }), 'address-incomplete');
  assert.equal(located({ zip: '10007' }), 'address-incomplete');
  assert.equal(located({ zip: '99999' }), 'address-incomplete');
});

function listed(fields: Partial<PostalQuery>): readonly string[] | string {
  const query = { zip: '10003', state: '', stateCode: '', city: '', county: '', ...fields };
  const found = LISTS.list(query, dateOf);
  return isFailure(found) ? found.failure : found.map((row) => row.city);
}

test('a postal lookup lists every area of the ZIP and narrows', () => {
  assert.deepEqual(listed({}), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ city: 'Saint Oak' }), ['ST. OAK']);
  assert.deepEqual(listed({ state: 'exaland', county: 'c001' }), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ stateCode: 'XA', county: '001' }), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ zip: '10004', state: 'Wyeland' }), ['HILLS']);
  assert.deepEqual(listed({ zip: '10002', city: 'SAINT OAK' }), ['ST. OAK', 'SAINT OAK']);
});

test('a postal lookup that cannot be complete is refused', () => {
  assert.equal(listed({ zip: '10005' }), 'no-result');
  assert.deepEqual(listed({ zip: '10005', city: 'HILLS' }), ['HILLS']);
  assert.equal(listed({ zip: '10007' }), 'no-result');
  assert.equal(listed({ zip: '99999' }), 'no-result');
  assert.equal(listed({ county: 'Other' }), 'no-result');
  assert.equal(listed({ state: 'Nowhere' }), 'invalid-state');
  assert.equal(listed({ stateCode: 'ZZ' }), 'invalid-state');
});

test('an answer is the same whatever was asked before, on every day', () => {
  const places = [10001, 10002, 10003, 10004, 10005, 10006, 10007, 10009]
    .flatMap((number) => [String(number), '']);
  const asked = fc.record({
    zip: fc.constantFrom(...places),
    city: fc.constantFrom('', 'HILLS', 'ST OAK', 'SAINT OAK', 'ELM', 'TWIN', 'DARK', 'NOWHERE'),
    state: fc.constantFrom('', 'XA', 'YB'),
    number: fc.constantFrom('12', '7', ''),
    day: fc.constantFrom(DAY, 20250101 as DateInt),
  });
  fc.assert(fc.property(fc.array(asked, { minLength: 1, maxLength: 12 }), (list) => {
    for (const { day, ...fields } of list) {
      const reading = read(fields);
      const fresh = freshLocator().locate(reading, () => day);
      assert.deepEqual(LOCATOR.locate(reading, () => day), fresh);
    }
  }));
});
