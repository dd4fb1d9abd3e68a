/** Addresses in an invented state, for tests of locating them. */
import assert from 'node:assert/strict';
import { CellIndex } from '../../src/dataset/cell-index.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { CityRecord, StateRecord, ZipRecord } from '../../src/dataset/records.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import { PlaceLocator } from '../../src/engine/locate/place-locator.js';
import { RatesByArea } from '../../src/engine/rate/on-day.js';
import type { Situs } from '../../src/engine/situs.js';
import { isFailure } from '../../src/failure.js';
import type { AddressPoint } from '../../src/ingest/source/points.js';
import type { StreetRange } from '../../src/ingest/source/ranges.js';
import { stateGazetteer } from '../../src/ingest/street/source-names.js';
import { StreetIndexBuilder } from './street-table.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { memoryDataset } from './memory-dataset.js';
import { streetTableOf } from './street-table.js';

/**
 * The world: state QZ. Areas are columns of one degree: the n-th is area n of the memory dataset.
 * Brookmere (ZIP 97001, area 0) has a remainder (area 1); Fenway is ZIP 97002 (area 3).
 */
export const LAT = 10_500_000;
const BORDER = 1_000_000;

function door(
  number: string,
  street: string,
  lng: number,
  more: Partial<AddressPoint> = {},
): AddressPoint {
  return {
    number,
    street,
    unit: '',
    city: 'Brookmere',
    municipality: '',
    county: '',
    state: 'QZ',
    zip: '97001',
    zip4: '',
    lat: LAT,
    lng,
    source: 'invented',
    ...more,
  };
}

const FENWAY = { city: 'Fenway', zip: '97002' };
const TOWN = { city: '', municipality: 'MOSSFORD TOWN', zip: '' };
const CITY = { city: '', municipality: 'MOSSFORD CITY', zip: '' };
/** Another place, area 1, in Brookmere's ZIP. */
const DALE = { city: '', municipality: 'DALE' };

const DOORS: readonly AddressPoint[] = [
  door('200', 'SPINDLE CENTER DR', 100, { zip4: '5003' }),
  door('12', 'MAIN ST', 200),
  door('14', 'MAIN ST', 210),
  door('12', 'N MAIN ST', 300),
  door('40', 'N MAIN ST', BORDER + 300),
  door('12', 'ALDER AVE', 400),
  door('12', 'ALDER ST', BORDER + 400),
  door('5', 'BIRCH ST', 500),
  door('5', 'BIRCH LN', 510),
  door('7', 'CEDAR CT', 600),
  door('9', 'CEDAR CT', BORDER + 600),
  door('8', 'CEDAR CT', 700),
  door('8', 'CEDAR CT', BORDER + 700),
  door('3', 'LONGMEADOW RD', 800),
  door('3', 'LONGMEADON RD', BORDER + 800),
  door('4', 'HOLLYHOCK RD', 900),
  door('21A', 'HOLLYHOCK RD', 910),
  door('12-34', 'QUINCE ST', 920),
  door('N12W345', 'PLUM RD', 930),
  door('7', 'LEVEE LN', 3_000_100, FENWAY),
  door('12', 'MAIN ST', 3_000_200, FENWAY),
  door('66', 'WILLOW RD', 3_000_300, FENWAY),
  door('66', 'SORREL RD', 100),
  door('66', 'SORREL RD', 3_000_400, FENWAY),
  door('1', 'PINE ST', 9_000_000, TOWN),
  door('2', 'OAK ST', 9_000_100, TOWN),
  door('66', 'WILLOW RD', 9_000_200, TOWN),
  door('5', 'TERN CT', 9_000_300, TOWN),
  door('5', 'TERN ST', 3_000_500, FENWAY),
  door('1', 'PINE ST', 2_000_000, CITY),
  door('13', 'N HEATH ST', 1_000),
  door('13', 'HEATH ST', BORDER + 1_000, DALE),
  door('15', 'N TARN AVE', 1_100),
  door('17', 'TARN AVE', BORDER + 1_100),
  door('19', 'N TARN AVE', 1_120),
  door('19', 'TARN AVE', BORDER + 1_120),
  door('86', 'FAIRWAY ST', 1_300),
  door('86', 'FAIRWAY HILL RD', BORDER + 1_300),
  door('24', 'N 42ND ST', 1_400),
  door('230', 'LAKE BROOK DR', 1_200),
  door('230', 'LAKE ST', BORDER + 1_200, DALE),
  door('9', 'OSIER LN', 1_800, { zip: '97002' }),
  door('13', 'TEASEL CT', BORDER + 1_950, DALE),
  door('15', 'TEASEL CT', 3_000_600, FENWAY),
  door('11', 'TEASEL LN', 1_900),
  door('11', 'TEASEL LN', BORDER + 1_900, DALE),
  door('31', 'SEDGE RD', 1_500),
  door('33', 'SEDGE DR', BORDER + 1_500),
  door('41', 'FENVIEW DR', 1_510),
  door('41', 'FERNVIEW AVE', BORDER + 1_510),
  door('43', 'FENVIEW DR', 1_520),
  door('45', 'FENVIEW DR', 1_530),
  door('45', 'FERNVIEW AVE', 1_540),
  door('51', 'YARROW RD', BORDER + 1_560, DALE),
  door('53', 'YARROW RD', 1_560),
  door('55', 'YARROW RD', BORDER + 1_570, DALE),
  door('55', 'YARROW ST', 1_570),
  door('31', 'US ROUTE 4 E', 1_600),
  door('33', 'US ROUTE 4 E', BORDER + 1_600),
  door('71', 'US ROUTE 4', BORDER + 1_700),
];

const SIDE = { zip: '97001', zip4: '', wideSetback: false } as const;
const RANGES: readonly StreetRange[] = [
  {
    street: 'ELDER WAY',
    city: 'Brookmere',
    municipality: '',
    state: 'QZ',
    left: { ...SIDE, from: 100, to: 198, parity: 'even' },
    right: { ...SIDE, from: 199, to: 101, parity: 'odd' },
    geometry: [LAT, 10_000, LAT, 20_000],
    area: null,
    begin: null,
    source: 'invented',
  },
  {
    street: 'BORDER RD',
    city: 'Brookmere',
    municipality: '',
    state: 'QZ',
    left: { ...SIDE, from: 2, to: 98, parity: 'even' },
    right: null,
    geometry: [LAT, BORDER - 50_000, LAT, BORDER + 50_000],
    area: null,
    begin: null,
    source: '',
  },
  {
    street: 'LISTED RD',
    city: '',
    municipality: '',
    state: 'QZ',
    left: { ...SIDE, from: 1, to: 99_999, parity: 'both' },
    right: null,
    geometry: [],
    area: 1,
    begin: 20240101 as DateInt,
    source: 'list',
  },
  {
    street: 'N BORDER RD',
    city: 'Brookmere',
    municipality: '',
    state: 'QZ',
    left: { ...SIDE, from: 2, to: 98, parity: 'even' },
    right: null,
    geometry: [LAT, BORDER - 50_000, LAT, BORDER + 50_000],
    area: null,
    begin: null,
    source: '',
  },
];

/** Doors of one street that take more than the cursor's own memory has at first. */
export const LONG_STREET = 'LONGFELLOW PIKE';
const LONG_DOORS = Array.from({ length: 900 }, (_, at) =>
  door(String(at * 3 + 1), LONG_STREET, 10_000 + at, { zip4: String(1000 + at) }),
);

const BASE = memoryDataset();
const MORE_CITIES = new Map<string, CityRecord>([
  ['QZ|MOSSFORD', { name: 'Mossford', zips: [97009, 97005], areas: [2] }],
  ['QZ|MOSS JUNCTION', { name: 'Moss Junction', zips: [97009], areas: [] }],
  ['QZ|DALE', { name: 'Dale', zips: [97001, 97002], areas: [1] }],
  ['QZ|HARBOROUGH', { name: 'Harborough', zips: [97005, 97006], areas: [2] }],
]);
const MORE_STATES: readonly StateRecord[] = [
  ...BASE.states(),
  { code: 'QB', fips: '98', name: 'Borealis', country: 'USA', timeZone: 'UTC', rules: [] },
];
const MOSSFORD_ZIP: ZipRecord = {
  zip: 97009,
  state: 'QZ',
  cities: ['MOSSFORD', 'MOSS JUNCTION'],
  parts: [
    {
      area: 9,
      weight: null,
      land: 1_000_000,
      city: 'MOSSFORD',
      incorporated: true,
      lat: LAT,
      lng: 9_000_000,
    },
  ],
  reach: [],
};

/** One buffer for every answer, as the store behind does it: views are overwritten. */
const SHARED = new Uint8Array(65_536);

/** Cells whose reads take the buffer too. */
class TakingCells extends CellIndex {
  override locate(lat: number, lng: number): number {
    SHARED.fill(255);
    return BASE.cells.locate(lat, lng);
  }
}

function world(): Dataset {
  const cells = new TakingCells({ get: () => null }, { get: () => null });
  const builder = new StreetIndexBuilder(
    (lat, lng) => cells.locate(lat, lng),
    stateGazetteer(MORE_STATES),
  );
  for (const one of [...DOORS, ...LONG_DOORS]) builder.addPoint(one);
  for (const range of RANGES) builder.addRange(range);
  builder.addZips({
    kind: 'zip9',
    state: 'QZ',
    zipLow: 97001,
    zipHigh: 97001,
    plus4Low: 100,
    plus4High: 199,
    area: 1,
    begin: 20240101 as DateInt,
    end: DATE_OPEN,
  });
  const table = new Map(builder.entries());
  const streets = new StreetIndex(
    streetTableOf((key) => {
      const bytes = table.get(key);
      SHARED.fill(255);
      if (bytes === undefined) return null;
      SHARED.set(bytes);
      return SHARED.subarray(0, bytes.length);
    }),
  );
  return {
    ...BASE,
    streets,
    cells,
    states: () => MORE_STATES,
    zip: (zip) => (zip === 97009 ? MOSSFORD_ZIP : BASE.zip(zip)),
    city: (state, name) => {
      SHARED.fill(255);
      return MORE_CITIES.get(`${state}|${name}`) ?? BASE.city(state, name);
    },
  };
}

const WORLD = world();
export const PLACES = new PlaceLocator(WORLD, new RatesByArea(WORLD));
export const LOCATOR = PLACES.addresses;
export const dateOf = (): DateInt => 20260101 as DateInt;

export function situs(text: string): Situs {
  const found = LOCATOR.locate(text, dateOf);
  assert.ok(!isFailure(found), `${text}: ${JSON.stringify(found)}`);
  return found;
}

export function refusal(text: string): string {
  const found = LOCATOR.locate(text, dateOf);
  assert.ok(isFailure(found), `${text}: ${JSON.stringify(found)}`);
  assert.equal(found.failure, 'address-incomplete');
  return found.detail ?? '';
}

export function expect(text: string, precision: string, area: number): Situs {
  const found = situs(text);
  assert.deepEqual([found.precision, found.area], [precision, area], text);
  return found;
}
