/** A country of a few ZIPs, for locating by ZIP and city. */
import assert from 'node:assert/strict';
import { CellIndex } from '../../src/dataset/cell-index.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type {
  AreaRecord,
  CityRecord,
  ComponentRecord,
  StateRecord,
  UnknownRecord,
  ZipFringe,
  ZipRecord,
} from '../../src/dataset/records.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import { DATE_MIN, DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { parsePercent, type Rate } from '../../src/tax/rate.js';
import { streetTableOf } from './street-table.js';

export const DAY = 20260701 as DateInt;
export const dateOf = (): DateInt => DAY;

export function rate(percent: string): Rate {
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
    id,
    level,
    jurName,
    jurCode: null,
    kind: null,
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
    id,
    country: 'USA',
    state,
    stateName: state === 'XA' ? 'Exaland' : 'Wyeland',
    stateFips: state === 'XA' ? '90' : '91',
    countyFips: county,
    countyName: `C${county}`,
    countyFullName: `C${county}`,
    placeName: place,
    placeGeoid: place === '' ? '' : '9000001',
    incorporated: place !== '',
    components: ids,
    unknown,
    staleAfter: 99991231 as DateInt,
    estimated: false,
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
export const GAP: UnknownRecord = {
  level: 'city',
  from: DATE_MIN,
  to: DATE_OPEN,
  reason: 'city rates of Exaland are not held',
};
export const REST = area('XA', '001', '', [XA, C1, OLD]);
export const IN_OAK = area('XA', '001', 'St. Oak', [XA, C1, OAK]);
export const IN_ELM = area('XA', '001', 'Elm', [XA, C1, ELM, BUS]);
export const DARK = area('XA', '002', 'Dark', [XA], [GAP]);
export const DIM = area('XA', '002', '', [XA], [GAP]);
export const OVER = area('YB', '001', '', [YB]);
/** St. Oak's part in another county, taxed as C001's land is. */
export const FAR_OAK = area('XA', '003', 'St. Oak', [XA, component('city', 'FAR OAK', '1')]);

/** A city without a tax of its own. */
export const IN_FIR = area('XA', '001', 'Fir', [XA, C1]);

function zip(
  number: number,
  city: string,
  parts: readonly (readonly [area: number, label: string, land?: number])[],
  reach: readonly ZipFringe[] = [],
): ZipRecord {
  return {
    zip: number,
    state: 'XA',
    cities: [city],
    parts: parts.map(([id, label, land = null]) => ({
      area: id,
      weight: null,
      city: label,
      incorporated: areas[id]?.incorporated ?? false,
      land,
      lat: 1_000_000 + id,
      lng: 2_000_000,
    })),
    reach,
  };
}

const zips = [
  zip(10001, 'HILLS', [[REST, 'HILLS']]),
  zip(10002, 'SAINT OAK', [
    [IN_OAK, 'ST. OAK'],
    [REST, 'SAINT OAK'],
  ]),
  zip(10003, 'HILLS', [
    [IN_OAK, 'ST. OAK'],
    [IN_ELM, 'ELM'],
  ]),
  zip(10004, 'HILLS', [
    [IN_OAK, 'ST. OAK'],
    [OVER, 'HILLS'],
  ]),
  zip(10005, 'DARK', [
    [REST, 'HILLS'],
    [DARK, 'DARK'],
  ]),
  zip(10006, 'DARK', [
    [DARK, 'DARK'],
    [DIM, 'DARK'],
  ]),
  zip(10007, 'APO', []),
  zip(10008, 'OAK', [
    [IN_OAK, 'ST. OAK', 333_333],
    [REST, 'OAK', 666_667],
  ]),
  zip(10009, 'OAK', [
    [IN_OAK, 'ST. OAK', 333_332],
    [REST, 'OAK', 666_668],
  ]),
  zip(10010, 'HILLS', [[REST, 'HILLS', 1_000_000]]),
  zip(10011, 'HILLS', [[REST, 'HILLS', 650_000]], [{ area: IN_OAK, land: 350_000 }]),
  zip(10013, 'HILLS', [[REST, 'HILLS', 520_000]], [{ area: IN_OAK, land: 480_000 }]),
  zip(10014, 'OAK', [
    [IN_OAK, 'ST. OAK', 100_000],
    [REST, 'OAK', 900_000],
  ]),
  zip(10015, 'HILLS', [
    [REST, 'HILLS', 500_000],
    [OVER, 'HILLS', 500_000],
  ]),
  zip(10016, 'HILLS', [
    [REST, 'HILLS', 900_000],
    [OVER, 'HILLS', 100_000],
  ]),
  zip(10026, 'HILLS', [
    [REST, 'HILLS', 750_000],
    [OVER, 'HILLS', 250_000],
  ]),
  zip(10020, 'HILLS', [
    [REST, 'HILLS', 1_000_000],
    [OVER, 'HILLS'],
  ]),
  zip(10017, 'HILLS', [
    [REST, 'HILLS', 520_000],
    [DARK, 'DARK', 480_000],
  ]),
  zip(10018, 'ST. OAK', [
    [IN_OAK, 'ST. OAK', 250_000],
    [REST, 'ST. OAK', 750_000],
  ]),
  zip(10019, 'ST. OAK', [
    [IN_OAK, 'ST. OAK', 230_000],
    [REST, 'ST. OAK', 770_000],
  ]),
  zip(10021, 'ST. OAK', [
    [IN_OAK, 'ST. OAK', 590_000],
    [FAR_OAK, 'ST. OAK', 410_000],
  ]),
  zip(10022, 'ST. OAK', [
    [IN_OAK, 'ST. OAK', 410_000],
    [FAR_OAK, 'ST. OAK', 590_000],
  ]),
  zip(
    10023,
    'ST. OAK',
    [
      [IN_OAK, 'ST. OAK', 490_000],
      [FAR_OAK, 'ST. OAK', 480_000],
    ],
    [{ area: DARK, land: 30_000 }],
  ),
  zip(10024, 'ST. OAK', [
    [IN_OAK, 'ST. OAK', 300_000],
    [FAR_OAK, 'ST. OAK', 100_000],
    [REST, 'ST. OAK', 600_000],
  ]),
  zip(10025, 'ST. OAK', [
    [IN_OAK, 'ST. OAK', 10_000],
    [IN_FIR, 'FIR', 980_000],
    [REST, 'ST. OAK', 10_000],
  ]),
  zip(10012, 'OAK', [[IN_OAK, 'ST. OAK', 600_000]], [{ area: IN_ELM, land: 400_000 }]),
];
const cities = new Map<string, CityRecord>([
  ['XA|SAINT OAK', { name: 'Saint Oak', zips: [10002], areas: [IN_OAK] }],
  ['XA|ELM', { name: 'Elm', zips: [10003], areas: [IN_ELM] }],
  ['XA|HILLS', { name: 'Hills', zips: [10001], areas: [] }],
  ['XA|TWIN', { name: 'Twin', zips: [], areas: [IN_OAK, REST] }],
]);
const states = ['XA', 'YB'].map(
  (code): StateRecord => ({
    code,
    fips: '',
    name: code === 'XA' ? 'Exaland' : 'Wyeland',
    country: 'USA',
    timeZone: 'America/Denver',
    rules: [],
  }),
);
const empty = { get: (): null => null };
export const dataset: Dataset = {
  id: 'test',
  hasLayer: () => false,
  area: (id) => areas[id] ?? assert.fail(`area ${id}`),
  component: (id) => components[id] ?? assert.fail(`component ${id}`),
  source: (id) => ({
    id,
    name: 'list',
    publisher: '',
    licence: '',
    asOf: DAY,
    estimated: false,
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
