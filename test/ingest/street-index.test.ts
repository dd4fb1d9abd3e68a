/** The table of streets: what is put in is found again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withinOneTypo } from '../../src/address/typo.js';
import { EMPTY_GAZETTEER } from '../../src/address/parsed.js';
import { foldStreetName } from '../../src/address/street-name.js';
import { StreetCursor } from '../../src/dataset/street-cursor.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import type { AddressPoint } from '../../src/ingest/source/points.js';
import type { StreetRange } from '../../src/ingest/source/ranges.js';
import { buildStreetIndex, StreetIndexBuilder } from '../support/street-table.js';
import { areaAshore } from '../../src/ingest/street/situate.js';
import { streetTableOf } from '../support/street-table.js';

/** East of the meridian lies area 1, west of it area 0. */
const areaAt = (_lat: number, lng: number): number => (lng >= 0 ? 1 : 0);

function point(number: string, street: string, more: Partial<AddressPoint> = {}): AddressPoint {
  return {
    number,
    street,
    unit: '',
    city: 'Alderton',
    municipality: '',
    county: '',
    state: 'QA',
    zip: '91010',
    zip4: '',
    lat: 10_000_000,
    lng: -500,
    source: 'invented',
    ...more,
  };
}

function indexOf(points: readonly AddressPoint[], ranges: readonly StreetRange[] = []) {
  const builder = new StreetIndexBuilder(areaAt, EMPTY_GAZETTEER);
  for (const one of points) builder.addPoint(one);
  for (const range of ranges) builder.addRange(range);
  const table = new Map(builder.entries());
  const index = new StreetIndex(streetTableOf((key) => table.get(key) ?? null));
  return { table, counts: builder.counts, index };
}

const NOTHING = { bytes: new Uint8Array(0), start: 0, end: 0, isLasting: true };

function cursorOf(index: StreetIndex, zip: number, name: string): StreetCursor {
  const cursor = new StreetCursor();
  cursor.open(index.zipGroup('QA', zip, foldStreetName(name)) ?? NOTHING);
  return cursor;
}

test('a door is found where it was put, whatever its column widths', () => {
  const doors = fc.uniqueArray(
    fc.record({
      value: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 999_999 })),
      lat: fc.integer({ min: 9_900_000, max: 10_100_000 }),
      lng: fc.integer({ min: -90_000, max: 90_000 }),
      zip4: fc.constantFrom('', '0001', '5003', '9999'),
    }),
    { selector: (door) => door.value, maxLength: 40, minLength: 1 },
  );
  fc.assert(
    fc.property(doors, (all) => {
      const { index } = indexOf(
        all.map(({ value, lat, lng, zip4 }) =>
          point(String(value), 'Alder Way', { lat, lng, zip4 }),
        ),
      );
      const cursor = cursorOf(index, 91010, 'ALDER');
      assert.ok(cursor.next());
      assert.equal(cursor.points, all.length);
      assert.equal(cursor.label, 'Alder Way');
      for (const { value, lat, lng, zip4 } of all) {
        const door = cursor.firstDoor(value);
        assert.deepEqual(
          [cursor.value(door), cursor.lat(door), cursor.lng(door), cursor.area(door)],
          [value, lat, lng, areaAt(lat, lng)],
        );
        assert.equal(cursor.plus4(door), zip4 === '' ? -1 : Number(zip4));
        assert.equal(cursor.text(door), '');
      }
      assert.equal(cursor.next(), false);
    }),
    { numRuns: 60 },
  );
});

test('the same sources give the same bytes in any order', () => {
  const points = ['2', '4', '4A', '12-34', 'N5W120', '6', '6', '9'].flatMap((number, index) => [
    point(number, 'Alder Way', { lat: 10_000_000 + index * 40, zip4: index % 2 ? '' : '1234' }),
    point(number, 'N Birch St', { lng: index * 300 - 900, zip: index % 3 ? '91010' : '' }),
    point(number, 'north birch street', { municipality: 'Alderton Town', city: '' }),
  ]);
  const dump = (list: readonly AddressPoint[]): string =>
    [...indexOf(list).table]
      .map(([key, bytes]) => `${key}=${Buffer.from(bytes).toString('hex')}`)
      .join('\n');
  const expected = dump(points);
  fc.assert(
    fc.property(fc.shuffledSubarray(points, { minLength: points.length }), (shuffled) => {
      assert.equal(dump(shuffled), expected);
    }),
    { numRuns: 25 },
  );
});

test('units and repeated points are one door, in each tax area its own', () => {
  const { index } = indexOf([
    point('8', 'Alder Way', { unit: 'APT 1', lng: -300, zip4: '1001' }),
    point('8', 'Alder Way', { unit: 'APT 2', lng: -200, zip4: '1002' }),
    point('8', 'Alder Way', { unit: 'APT 3', lng: -100 }),
    point('9', 'Alder Way', { lng: -100, zip4: '2001' }),
    point('9', 'Alder Way', { lng: 100, zip4: '2001' }),
  ]);
  const cursor = cursorOf(index, 91010, 'ALDER');
  cursor.next();
  assert.equal(cursor.points, 3);
  assert.equal(cursor.lng(0), -200, 'the point nearest to the middle');
  assert.equal(cursor.plus4(0), -1, 'units have ZIP+4 of their own');
  assert.deepEqual([cursor.area(1), cursor.area(2)], [0, 1]);
  assert.equal(cursor.plus4(1), 2001);
});

test('streets of one name lie together and apart by type, direction and town', () => {
  const { index } = indexOf([
    point('1', 'Elm St'),
    point('2', 'ELM STREET'),
    point('1', 'Elm Ave'),
    point('1', 'N Elm St'),
    point('1', 'Elm St', { city: 'Birchwood' }),
  ]);
  const cursor = cursorOf(index, 91010, 'ELM');
  const seen: string[] = [];
  while (cursor.next()) seen.push(`${cursor.pre}|${cursor.suffix}|${cursor.points}`);
  assert.deepEqual(seen.sort(), ['0|AVE|1', '0|ST|1', '0|ST|2', '1|ST|1']);
});

test('a municipality is known by its plain name too, unless another bears it', () => {
  const { index } = indexOf([
    point('1', 'Elm St', { city: '', municipality: 'FERNDALE CITY' }),
    point('1', 'Oak St', { city: '', municipality: 'FERNDALE TOWN' }),
    point('1', 'Oak St', { city: '', municipality: 'ST. GROVE TOWN' }),
    point('1', 'Fir St', { city: 'Saint Grove' }),
  ]);
  assert.equal(index.localities('QA', 'FERNDALE').length, 2);
  assert.equal(index.localities('QA', 'FERNDALE CITY').length, 1);
  assert.equal(index.localities('QA', 'ST GROVE')[0]?.label, 'Saint Grove');
  assert.deepEqual(index.localities('QB', 'FERNDALE'), []);
  assert.equal(index.localities('QA', 'SAINT GROVE TOWN')[0]?.isMunicipality, true);
});

test('a ZIP far from its other doors is a slip of the pen, a rare one near them is not', () => {
  const town = (number: number, zip: string, lat: number, municipality: string): AddressPoint =>
    point(String(number), 'Main St', { zip, lat, municipality, city: '' });
  const points = Array.from({ length: 300 }, (_, n) => town(n + 1, '91010', 10_000_000, 'ASH'));
  for (let n = 1; n < 300; n += 1) points.push(town(n, '91020', 10_020_000, 'BEECH'));
  points.push(town(900, '91020', 10_001_000, 'ASH'), town(901, '91099', 10_000_000, 'ASH'));
  const { index } = indexOf(points);
  assert.ok(index.hasZip('QA', 91020));
  assert.equal(index.hasZip('QA', 91099), false);
  const [ash] = index.localities('QA', 'ASH');
  assert.ok(ash?.withoutZips);
  const cursor = new StreetCursor();
  cursor.open(index.townGroup('QA', ash.id, 'MAIN')!);
  assert.ok(cursor.next());
  assert.deepEqual([cursor.points, cursor.value(0)], [1, 901]);
});

test('names one typo away are found, as by the slow rule', () => {
  const word = fc.stringMatching(/^[A-C]{1,6}$/);
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), word, (names, asked) => {
      const streets = names.map((name) => point('1', `Q${name} Dr`));
      const { index } = indexOf([point('1', 'Zzz'), ...streets]);
      const found: string[] = [];
      index.similarInZip('QA', 91010, `Q${asked}`, found);
      const expected = new Set(
        names
          .map((name) => `Q${name}`)
          .filter((name) => name !== `Q${asked}` && withinOneTypo(name, `Q${asked}`)),
      );
      assert.deepEqual(found.sort(), [...expected].sort());
    }),
    { numRuns: 60 },
  );
});

test('ranges keep their sides, shape and order; borders along them leave the area open', () => {
  const side = { from: 98, to: 2, parity: 'even', zip: '91010', zip4: '', wideSetback: false };
  const range = (lngs: readonly number[]): StreetRange => ({
    street: 'Alder Way',
    city: 'Alderton',
    municipality: '',
    state: 'QA',
    left: { ...side, parity: 'even' },
    right: { ...side, from: 1, to: 99, parity: 'odd' },
    geometry: lngs.flatMap((lng, index) => [10_000_000 + index * 700, lng]),
    area: null,
    begin: null,
    source: 'invented',
  });
  const { index, counts } = indexOf([], [range([-9000, -8000, -7000])]);
  assert.equal(counts.sides, 2);
  const cursor = cursorOf(index, 91010, 'ALDER');
  cursor.next();
  const even = [cursor.firstRange, cursor.nextRange(cursor.firstRange)].find((at) =>
    cursor.rangeHolds(at, 50),
  );
  assert.ok(even !== undefined);
  assert.equal(cursor.rangeHolds(even, 51), false);
  assert.equal(cursor.rangeArea(even), 0);
  assert.deepEqual(
    cursor.rangeLine(even),
    [10_000_000, -9000, 10_000_700, -8000, 10_001_400, -7000],
  );
  const crossing = cursorOf(indexOf([], [range([-9000, 9000])]).index, 91010, 'ALDER');
  crossing.next();
  assert.equal(crossing.rangeArea(crossing.firstRange), -1);
});

test('sources may be streams; what cannot be placed is counted', async () => {
  async function* points(): AsyncGenerator<AddressPoint> {
    yield point('1', 'Alder Way');
    yield point('1', 'Alder Way', { lng: 99 });
    yield point('#', 'Alder Way');
  }
  const entries = [
    ...(await buildStreetIndex({
      points: points(),
      ranges: [],
      zips: [],
      gazetteer: EMPTY_GAZETTEER,
      areaAt: (_lat, lng) => (lng > 0 ? -1 : 0),
    })),
  ];
  assert.ok(entries.some(([key]) => key === 'z|QA91010|ALDER'));
  const table = new Map(entries);
  const index = new StreetIndex(streetTableOf((key) => table.get(key) ?? null));
  assert.deepEqual(
    ['QA', 'QB', ''].map((state) => index.hasState(state)),
    [true, false, false],
  );
  assert.equal(new StreetIndex(streetTableOf(() => null)).hasState('QA'), false);
});

test('a door off the shore belongs to the land nearest to it, if that is one area', () => {
  const land = (_lat: number, lng: number): number => (lng < 0 ? 3 : lng > 8000 ? 4 : -1);
  assert.equal(areaAshore(10_000_000, -1, land), 3);
  assert.equal(areaAshore(10_000_000, 2000, land), 3);
  assert.equal(areaAshore(10_000_000, 7000, land), 4);
  assert.equal(areaAshore(10_000_000, 4000, land), -1, 'both shores are as far');
  assert.equal(
    areaAshore(10_000_000, 4000, () => -1),
    -1,
  );
});

test('which ZIPs have streets is told by state, and asked of the table once', () => {
  const { table } = indexOf([
    point('1', 'Alder Way'),
    point('1', 'Alder Way', { state: 'QB', zip: '91011' }),
  ]);
  let reads = 0;
  const index = new StreetIndex(
    streetTableOf((key) => {
      reads += 1;
      return table.get(key) ?? null;
    }),
  );
  const asked = [
    ['QA', 91010],
    ['QA', 91011],
    ['QB', 91010],
    ['QB', 91011],
    ['QC', 91010],
    ['QA', 91010],
  ] as const;
  const told = (): readonly boolean[] => asked.map(([state, zip]) => index.hasZip(state, zip));
  const expected = [true, false, false, true, false, true];
  assert.deepEqual(told(), expected);
  const before = reads;
  assert.deepEqual(told(), expected);
  assert.equal(index.zipGroup('QA', 91011, 'ALDER'), null);
  assert.equal(reads, before);
  assert.notEqual(index.zipGroup('QA', 91010, 'ALDER'), null);
});
