/** The default dataset: published rates, Canada, territories, and what it cannot tell. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readManifest } from '../../src/dataset/manifest.js';
import { isFailure } from '../../src/failure.js';
import { formatRate } from '../../src/tax/rate.js';
import { askAddress, askQuery, openRecipe } from '../support/ask-dataset.js';
import { engineOf } from '../support/engine-of.js';
import {
  assertGolden,
  assertOneCounty,
  goldenAddresses,
  ONE_COUNTY,
} from '../support/golden-places.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';

const { built, dataset } = openRecipe('default');

const PROVINCES: readonly (readonly [
  address: string,
  rows: readonly [string, number][],
  total: number,
])[] = [
  ['100 Queen St W, Toronto, ON M5H 2N2', [['HST', 0.13]], 0.13],
  [
    '1 Rue Notre-Dame, Montreal, QC H2Y 1C6',
    [
      ['GST', 0.05],
      ['QST', 0.09975],
    ],
    0.14975,
  ],
  [
    '453 W 12th Ave, Vancouver, BC V5Y 1V4',
    [
      ['GST', 0.05],
      ['PST', 0.07],
    ],
    0.12,
  ],
  ['800 Macleod Trail, Calgary, AB T2G 2M3', [['GST', 0.05]], 0.05],
];

for (const [address, rows, total] of PROVINCES) {
  test(address, () => {
    const asked = askAddress(dataset, address, '&countryCode=CAN');
    assert.equal(asked.code, 100, asked.message);
    assert.equal(asked.precision, 'postal');
    assert.deepEqual(
      asked.rows.map(({ jurType, rate }) => [jurType, rate]),
      rows,
    );
    assert.equal(asked.total, total);
    // No list of streets tells that there is such a street.
    const [, city, place] = address.split(', ');
    assert.equal(asked.normalizedAddress, `${city}, ${place}, Canada`);
    const named = askAddress(dataset, address.slice(0, -' M5H 2N2'.length), '&countryCode=CAN');
    assert.deepEqual([named.code, named.total], [100, total], named.message);
  });
}

test('a tax that others have replaced is answered for its time, and is no row of today', () => {
  const then = (month: string): readonly unknown[] => {
    const asked = askAddress(
      dataset,
      'Vancouver, BC V5Y 1V4',
      `&countryCode=CAN&historical=${month}`,
    );
    const rows = asked.rows.map(({ jurType, rate }) => [jurType, rate]);
    return [asked.code, ...rows];
  };
  assert.deepEqual(then('201006'), [110]);
  assert.deepEqual(then('201007'), [100, ['HST', 0.12]]);
  assert.deepEqual(then('201303'), [100, ['HST', 0.12]]);
  assert.deepEqual(then('201304'), [100, ['GST', 0.05], ['PST', 0.07]]);
});

test('a province that its postal code contradicts is 109, the wrong country 110', () => {
  assert.equal(askAddress(dataset, '1 Main St, Toronto, QC M5H 2N2', '&countryCode=CAN').code, 109);
  assert.equal(askAddress(dataset, '100 Queen St W, Toronto, ON M5H 2N2').code, 110);
  assert.equal(askAddress(dataset, '100 Queen St W, Toronto, Ontario').code, 110);
  assert.equal(
    askAddress(dataset, '100 Queen St W, Toronto, Canada', '&countryCode=CAN').code,
    109,
  );
  assert.equal(askAddress(dataset, '1 Main St, Irvine, CA 92618', '&countryCode=CAN').code, 110);
});

/** Points whose rates authorities publish for their cities and counties. */
const POINTS: readonly (readonly [where: string, point: string, total: number, city: string])[] = [
  ['Irvine', 'lat=33.65253&lng=-117.74794', 0.0775, 'Irvine, CA'],
  [
    'West Allis, whose post office is Milwaukee',
    'lat=43.0167&lng=-88.007',
    0.059,
    'West Allis, WI',
  ],
  ['Lakewood, whose post office is Denver', 'lat=39.7047&lng=-105.0814', 0.075, 'Lakewood, CO'],
  [
    'Cobb County, whose post office is Atlanta',
    'lat=33.8908&lng=-84.4678',
    0.06,
    'Cobb County, GA',
  ],
  ['Sacramento County', 'lat=38.6&lng=-121.4', 0.0775, 'Sacramento County, CA'],
  ['Burbank, also the name of a settlement', 'lat=34.1808&lng=-118.309', 0.105, 'Burbank, CA'],
  ['Mesquite, also the name of a settlement', 'lat=32.7668&lng=-96.5992', 0.0825, 'Mesquite, TX'],
  ['Alexandria, an independent city', 'lat=38.8048&lng=-77.0469', 0.06, 'Alexandria, VA'],
  ['Cordova, once in another census area', 'lat=60.5424&lng=-145.7525', 0.07, 'Cordova, AK'],
];

for (const [where, point, total, city] of POINTS) {
  test(`a point in ${where}`, () => {
    const asked = askQuery(dataset, point);
    assert.equal(asked.code, 100, asked.message);
    assert.deepEqual(
      [asked.precision, asked.total, asked.normalizedAddress],
      ['polygon', total, `${city}, United States`],
    );
  });
}

test('a city is the same however its name is spaced', () => {
  for (const city of ['Mc Gregor', 'McGregor', 'MCGREGOR', 'mc gregor']) {
    const asked = askAddress(dataset, `1 Main St, ${city}, TX 76657`);
    assert.deepEqual([asked.code, asked.total], [100, 0.0825], city);
    assert.deepEqual(
      asked.rows.map(({ jurName, rate }) => [jurName, rate]),
      [
        ['TX', 0.0625],
        ['MCLENNAN', 0.005],
        ['MCGREGOR', 0.015],
      ],
      city,
    );
    const list = `postalcode=76657&city=${encodeURIComponent(city)}`;
    assert.equal(askQuery(dataset, list).text, askQuery(dataset, 'postalcode=76657').text, city);
  }
});

test('a ZIP lists its city and what lies outside it, each with its rate', () => {
  const found = engineOf(dataset).lookup(
    {
      kind: 'postal',
      zip: '99574',
      state: '',
      stateCode: '',
      city: '',
      county: '',
      options: NO_OPTIONS,
    },
    Date.UTC(2026, 10, 21, 18),
  );
  assert.ok(!isFailure(found) && found.kind === 'postal');
  assert.deepEqual(
    found.rows.map(({ city, incorporated, rates }) => [
      city,
      incorporated,
      formatRate(rates.sales),
    ]),
    [
      ['CORDOVA', true, '0.07'],
      ['CORDOVA', false, '0'],
    ],
  );
});

test('around a listed city whose boundary nobody holds a point is not told', () => {
  for (const [state, point] of [
    ['Oklahoma', 'lat=34.17&lng=-94.75'],
    ['Arizona', 'lat=33.19&lng=-111.56'],
  ] as const) {
    const { code, message } = askQuery(dataset, point);
    assert.equal(code, 110, state);
    assert.match(message, new RegExp(`${state}.*place boundaries would fill it`));
  }
  const alike = askQuery(dataset, 'lat=37.7744&lng=-121.545');
  assert.deepEqual(
    [alike.code, alike.total],
    [100, 0.0775],
    'Mountain House is taxed as around it',
  );
});

test('an address and coordinates of a territory name it alike', () => {
  const address = askAddress(dataset, '151 Calle Fortaleza, San Juan, PR 00901');
  assert.equal(address.normalizedAddress, 'San Juan, PR 00901, Puerto Rico');
  for (const [line, municipality] of [
    ['150 Calle A, San Juan, PR 00926', 'SAN JUAN'],
    ['1 Calle A, Guaynabo, PR 00969', 'GUAYNABO'],
  ] as const) {
    const { rows } = askAddress(dataset, line);
    assert.deepEqual(
      rows.map(({ jurName }) => jurName),
      ['PR', municipality],
      line,
    );
  }
  const point = askQuery(dataset, 'lat=18.4655&lng=-66.1057&countryCode=PRI');
  assert.match(point.normalizedAddress, /, PR, Puerto Rico$/);
});

test('what is found by its ZIP or city alone has the coordinates of a point in the area', () => {
  for (const [line, country, area] of [
    ['151 Calle Fortaleza, San Juan, PR 00901', 'PRI', 'SAN JUAN'],
    ['1 Main St, Hagatna, GU 96910', 'GUM', 'GUAM'],
    // A name that the lists of ZIPs do not have.
    ['1 Main St, New York City, NY', 'USA', 'METROPOLITAN COMMUTER TRANSPORTATION DISTRICT'],
  ] as const) {
    const { text } = askAddress(dataset, line);
    const [, lat = '', lng = ''] = /"geoLat":([\d.-]+),"geoLng":([\d.-]+)/.exec(text) ?? [];
    const { rows } = askQuery(dataset, `lat=${lat}&lng=${lng}&countryCode=${country}`);
    assert.equal(rows.at(-1)?.jurName, area, `${line}: ${lat}, ${lng}`);
  }
});

/** Places that the lists of ZIPs do not tell, and what is said of them. */
const WITHOUT_BORDERS: Readonly<Record<string, RegExp>> = {
  // Most of the ZIP's land lies outside the city, and not enough to assume so.
  '1 Main St, Seldovia, AK 99663': /99663 overlaps several tax areas/,
  // The rates of the ZIP's cities are not held.
  '1 Main St, Branson West, MO 65737': /Branson West city/,
};

for (const place of goldenAddresses()) {
  const untold = WITHOUT_BORDERS[place.address];
  test(`${place.address}: ${untold ? 'not told' : 'as the authority publishes it'}`, () => {
    if (untold === undefined) {
      assertGolden(dataset, place, false);
      return;
    }
    const { code, message } = askAddress(dataset, place.address);
    assert.ok(code === 109 || code === 110, String(code));
    assert.match(message, untold);
  });
}

for (const [city, total] of ONE_COUNTY) {
  test(`1 Main St, ${city}: one county`, () => assertOneCounty(dataset, city, total));
}

test('where a county is taxed alike everywhere an address is certain in whichever of its cities', () => {
  // Linn County, Iowa: 18 cities and the land outside, each with the local option of 1 percent.
  for (const place of [
    'Marion, IA 52302',
    'Cedar Rapids, IA 52302',
    'Cedar Rapids, IA 52402',
    'Hiawatha, IA 52233',
    'Cedar Rapids, IA 52233',
  ]) {
    const asked = askAddress(dataset, `999 Nowhere St, ${place}`);
    assert.deepEqual(
      [asked.code, asked.precision, asked.total],
      [100, 'postal', 0.07],
      `${place}: ${asked.message}`,
    );
  }
});

test("an address outside its postal city has the county's rates, whatever adjustment says", () => {
  // Denver is the post office, Lakewood the city that most of the ZIP is in.
  const ask = (adjustment: string): string => {
    const asked = askAddress(dataset, '480 S Allison Pkwy, Denver, CO 80226', adjustment);
    assert.deepEqual([asked.code, asked.total], [100, 0.075], asked.message);
    assert.ok(asked.rows.every(({ jurName }) => jurName !== 'DENVER'));
    return asked.text;
  };
  for (const name of ['auto', 'origin', 'destination']) {
    assert.equal(ask(`&adjustment=${name}`), ask(''));
  }
});

test('what a rate lacks is told to callers: no command, no setting', () => {
  const { counts } = readManifest(built.dir);
  for (let id = 0; id < counts['areas']!; id += 1) {
    for (const { reason } of dataset.area(id).unknown) {
      assert.doesNotMatch(reason, /npx|situs|SITUS_| --\w/i);
    }
  }
});

test('a point in the Aleutians west of the antimeridian is in its county', () => {
  const { code, rows } = askQuery(dataset, 'lat=52.87&lng=173.17');
  assert.equal(code, 100);
  assert.deepEqual(
    rows.map(({ jurName }) => jurName),
    ['AK', 'ALEUTIANS WEST'],
  );
});
