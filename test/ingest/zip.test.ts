/** How ZIPs are bound to counties and places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon, type Polygon } from '../../src/geo/polygon.js';
import type { AreaTuple, PlaceFact } from '../../src/ingest/model.js';
import { placeNames } from '../../src/ingest/zip/names.js';
import type { StateFact } from '../../src/ingest/state-facts.js';
import { bindZips, type ZipBinding } from '../../src/ingest/zip/bind.js';
import type { ZipInput, ZipPoint } from '../../src/ingest/zip/zip-facts.js';

const tuples: AreaTuple[] = [];

function intern(tuple: AreaTuple): number {
  const same = (one: AreaTuple): boolean =>
    one.county === tuple.county && one.place === tuple.place && one.town === tuple.town;
  const index = tuples.findIndex(same);
  return index >= 0 ? index : tuples.push(tuple) - 1;
}

function state(code: string, fips: string, allMunicipal = false): StateFact {
  return { code, fips, name: code, country: 'USA', timeZone: 'America/Denver', allMunicipal };
}

function place(geoid: string, name: string, counties: readonly string[]): PlaceFact {
  const code = geoid.startsWith('90') ? 'XA' : geoid.startsWith('91') ? 'YB' : 'ZC';
  const independent = counties.some((county) => county.slice(2) >= '510');
  return { geoid, name, fullName: `${name} city`, state: code, counties, independent };
}

function point(zip: number, name: string, code: string, county: string, lat = 40): ZipPoint {
  return { zip, name, state: code, county, lat: lat * 1e6, lng: -100e6 };
}

const BASE: ZipInput = {
  states: [state('XA', '90'), state('YB', '91'), state('ZC', '92', true)],
  counties: ['90001', '90003', '90510', '91001', '92001'].map((fips) => ({
    fips,
    state: '',
    fullName: fips,
    code: '',
  })),
  places: [],
  placesLoaded: new Set(['XA', 'YB', 'ZC']),
  unplaced: [],
  points: [],
  delivered: [],
  tabulated: [],
  cities: [],
  counts: [],
  countedStates: new Set(),
  facts: { aliases: [], municipal: [], territories: [] },
  intern,
};

function bind(input: Partial<ZipInput>): ZipBinding {
  return bindZips({ ...BASE, ...input });
}

function partsOf(binding: ZipBinding, zip: number): readonly string[] {
  const record = binding.zips.find((one) => one.zip === zip) ?? assert.fail(`no ZIP ${zip}`);
  return record.parts.map(({ area, city, weight, incorporated }) => {
    const tuple = tuples[area] ?? assert.fail('no tuple');
    const spot = [tuple.county, tuple.place, tuple.town].filter((code) => code !== '').join('/');
    return `${city} ${spot}${incorporated ? ' inc' : ''}${weight === null ? '' : ` ${weight}`}`;
  });
}

/** A tuple of the first state. */
function tuple(county: string, more: Partial<AreaTuple> = {}): AreaTuple {
  return { state: '90', county, place: '', town: '', districts: [], ...more };
}

const within = (county: string, ...zips: readonly number[]): ZipInput['delivered'] =>
  zips.map((zip) => ({ zip, county }));

const both = (zip: number, county: string): Partial<ZipInput> => ({
  delivered: within(county, zip),
  tabulated: within(county, zip),
});

test('a place answers to its second name, and a consolidated city to its own', () => {
  const named = (name: string, fullName = name): readonly string[] =>
    placeNames({ ...place('9000001', name, []), fullName });
  assert.deepEqual(named('San Alto (Alto)'), ['San Alto', 'Alto']);
  assert.deepEqual(named('Elm-Oak County unified government (balance)')[0], 'Elm');
  assert.deepEqual(named('Elm/Oak County metro government (balance)')[0], 'Elm');
  assert.deepEqual(named('Elm city (balance)')[0], 'Elm');
  assert.deepEqual(named('Elm-on-Hudson', 'Elm-on-Hudson village'), ['Elm-on-Hudson']);
});

test('a postal city is an incorporated one only by name and county', () => {
  const places = [place('9000001', 'St. Elm', ['90001'])];
  const binding = bind({
    places,
    points: [point(501, 'Saint Elm', 'XA', '90001'), point(502, 'Saint Elm', 'XA', '90003')],
    delivered: [
      { zip: 501, county: '90001' },
      { zip: 502, county: '90003' },
    ],
  });
  assert.deepEqual(partsOf(binding, 501), ['ST. ELM 90001/9000001 inc', 'SAINT ELM 90001']);
  assert.deepEqual(partsOf(binding, 502), ['SAINT ELM 90003']);
  assert.deepEqual(binding.cities.get('XA|SAINT ELM')?.zips, [501, 502]);
  assert.equal(binding.cities.get('XA|ST ELM'), binding.cities.get('XA|SAINT ELM'));
  assert.equal(binding.cities.get('XA|ST ELM')?.areas.length, 1);
});

test('both crosswalks count; one that stands alone across a state line does not', () => {
  const binding = bind({
    points: [point(501, 'Elm', 'XA', '90001')],
    delivered: [
      { zip: 501, county: '90001' },
      { zip: 501, county: '91001' },
    ],
    tabulated: [
      { zip: 501, county: '90001' },
      { zip: 501, county: '90003' },
    ],
  });
  assert.deepEqual(partsOf(binding, 501), ['ELM 90001', 'ELM 90003']);
  const spanning = bind({ ...both(501, '91001'), points: [point(501, 'Elm', 'XA', '90001')] });
  assert.deepEqual(partsOf(spanning, 501), ['ELM 91001']);
});

test('a postal list alone places no ZIP, a county that neighbours show does', () => {
  const points = [point(501, 'Elm', 'XA', '90001'), point(601, 'Oak', 'XA', '90003')];
  const binding = bind({ points, delivered: [{ zip: 502, county: '90001' }] });
  assert.deepEqual(partsOf(binding, 501), ['ELM 90001']);
  assert.deepEqual(partsOf(binding, 601), []);
  assert.deepEqual(binding.report.partless, [601]);
});

test('a city that is its county leaves nothing of it, nor does a wholly municipal county', () => {
  const places = [place('9000510', 'Elm', ['90510']), place('9000001', 'Oak', ['90001'])];
  assert.deepEqual(
    partsOf(bind({ ...both(501, '90510'), places, points: [point(501, 'Ash', 'XA', '')] }), 501),
    ['ELM 90510/9000510 inc'],
  );
  const municipal = [{ county: '90001', place: '9000001', sole: true }];
  const facts = { ...BASE.facts, municipal };
  const points = [point(501, 'Ash', 'XA', '')];
  assert.deepEqual(partsOf(bind({ ...both(501, '90001'), places, facts, points }), 501), [
    'OAK 90001/9000001 inc',
  ]);
  assert.deepEqual(partsOf(bind({ ...both(501, '90001'), facts, points }), 501), ['ASH 90001']);
});

test('where all land is municipal nothing remains beside known cities', () => {
  const places = [place('9200001', 'Elm', ['92001'])];
  const points = [point(501, 'Elm', 'ZC', '92001'), point(502, 'Oak', 'ZC', '92001')];
  const delivered = within('92001', 501, 502);
  const binding = bind({ places, points, delivered });
  assert.deepEqual(partsOf(binding, 501), ['ELM 92001/9200001 inc']);
  assert.deepEqual(partsOf(binding, 502), ['OAK 92001 inc']);
});

test('doors weigh a ZIP, slivers and one typo drop out', () => {
  const places = ['9000100001', '9000100002', '9000100003'].map((geoid, index) =>
    place(geoid, `Town ${index}`, ['90001']),
  );
  const door = (zip: number, town: string, count: number): ZipInput['counts'][number] => ({
    zip,
    count,
    tuple: tuple('90001', { town }),
  });
  const counts = [
    door(501, '9000100001', 750),
    door(501, '9000100002', 250),
    door(501, '9000100003', 4),
    door(502, '9000100003', 1),
  ];
  const binding = bind({
    places,
    counts,
    countedStates: new Set(['XA']),
    points: [point(501, 'Town 0', 'XA', '90001'), point(502, 'Town 1', 'XA', '90001')],
    delivered: within('90001', 501, 502),
  });
  assert.deepEqual(partsOf(binding, 501), [
    'TOWN 0 90001/9000100001 inc 750000',
    'TOWN 1 90001/9000100002 inc 250000',
  ]);
  assert.deepEqual(partsOf(binding, 502), ['TOWN 1 90001/9000100002 inc']);
  const partial = bind({ places, counts, points: [point(501, 'Town 0', 'XA', '90001')] });
  assert.equal(partial.report.weighed, 0);
});

test('a point far off says nothing; one in a county of the ZIP shows a city', () => {
  const places = [place('9000001', 'Elm', ['90001'])];
  const tupleAt = (lat: number): AreaTuple =>
    tuple(lat > 45e6 ? '90003' : '90001', { place: '9000001' });
  const points = [point(501, 'Ash', 'XA', '90001', 40), point(502, 'Ash', 'XA', '90001', 50)];
  const delivered = within('90001', 501, 502);
  const polygonOf = (): Polygon =>
    createPolygon('9000001', [
      [
        [-100_500_000, 39_500_000],
        [-99_500_000, 39_500_000],
        [-99_500_000, 40_500_000],
        [-100_500_000, 40_500_000],
      ],
    ]) ?? assert.fail('no polygon');
  const binding = bind({ places, points, delivered, tupleAt, polygonOf });
  assert.deepEqual(partsOf(binding, 501), ['ELM 90001/9000001 inc']);
  assert.deepEqual(partsOf(binding, 502), ['ASH 90001']);
  assert.equal(binding.report.lone.point, 0);
});

test('near a listed city without boundary the remainder is unknown', () => {
  const unplaced = [{ state: 'XA', county: '90001', name: 'Ash' }];
  const tupleAt = (): AreaTuple => tuple('90001');
  const binding = bind({
    unplaced,
    tupleAt,
    points: [
      point(501, 'Ash', 'XA', '90001'),
      point(502, 'Elm', 'XA', '90001', 40.1),
      point(503, 'Oak', 'XA', '90001', 40.2),
    ],
    delivered: within('90001', 501, 502, 503),
  });
  assert.deepEqual(partsOf(binding, 501), ['ASH 90001/?']);
  assert.deepEqual(partsOf(binding, 502), ['ELM 90001/?']);
  assert.deepEqual(partsOf(binding, 503), ['OAK 90001']);
});

test('where no ZIP bears the name of such a city the remainder is unknown all over its county', () => {
  const tupleAt = (lat: number): AreaTuple => tuple(lat > 40_500_000 ? '90003' : '90001');
  const binding = bind({
    unplaced: [{ state: 'XA', county: '90001', name: 'Fir' }],
    tupleAt,
    points: [point(501, 'Ash', 'XA', '90001'), point(503, 'Oak', 'XA', '90003', 41)],
    delivered: [
      { zip: 501, county: '90001' },
      { zip: 503, county: '90003' },
    ],
  });
  assert.deepEqual(partsOf(binding, 501), ['ASH 90001/?']);
  assert.deepEqual(partsOf(binding, 503), ['OAK 90003']);
  // An address that names it does not mean the ZIP's post office.
  assert.deepEqual(binding.cities.get('XA|FIR'), { name: 'Fir', zips: [], areas: [] });
});

test('a listed city without a county lies in those of its name, or anywhere in its state', () => {
  const given: Partial<ZipInput> = {
    points: [
      point(501, 'Ash', 'XA', '90001'),
      point(503, 'Oak', 'XA', '90003', 41),
      point(504, 'Ash', 'YB', '91001', 43),
    ],
    delivered: [
      { zip: 501, county: '90001' },
      { zip: 503, county: '90003' },
      { zip: 504, county: '91001' },
    ],
  };
  const told = (name: string): readonly string[] => {
    const binding = bind({ ...given, unplaced: [{ state: 'XA', county: '', name }] });
    return [501, 503, 504].flatMap((zip) => partsOf(binding, zip));
  };
  assert.deepEqual(told('Ash'), ['ASH 90001/?', 'OAK 90003', 'ASH 91001']);
  assert.deepEqual(told('Fir'), ['ASH 90001/?', 'OAK 90003/?', 'ASH 91001']);
});

test("a post office in the city of its name is the city's, whatever county the crosswalk has", () => {
  const tupleAt = (): AreaTuple => tuple('90003', { place: '9000001' });
  const given: Partial<ZipInput> = {
    places: [place('9000001', 'Ash', ['90003'])],
    tupleAt,
    delivered: [{ zip: 501, county: '90001' }],
  };
  const own = bind({ ...given, points: [point(501, 'Ash', 'XA', '90003')] });
  assert.deepEqual(partsOf(own, 501), ['ASH 90003/9000001 inc', 'ASH 90001']);
  const other = bind({ ...given, points: [point(501, 'Oak', 'XA', '90003')] });
  assert.deepEqual(partsOf(other, 501), ['OAK 90001']);
});

test('without place boundaries membership is unknown; military mail lies nowhere', () => {
  const binding = bind({
    ...both(501, '90001'),
    placesLoaded: new Set(),
    points: [point(501, 'Ash', 'XA', '90001'), point(9001, 'APO', 'AE', '')],
  });
  // A row of its own in the ZIP's list, but no address can be told to lie in it.
  assert.deepEqual(partsOf(binding, 501), ['ASH 90001']);
  const [rest] = binding.zips.find(({ zip }) => zip === 501)?.parts ?? [];
  assert.ok(rest?.doubt !== undefined && rest.doubt !== rest.area);
  assert.deepEqual(partsOf(binding, 9001), []);
});
