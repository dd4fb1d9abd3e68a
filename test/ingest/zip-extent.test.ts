/** How far ZIPs are estimated to reach, and what follows for their cities. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon, type Polygon } from '../../src/geo/polygon.js';
import { drawnDistricts, OwnDistricts } from '../../src/ingest/layer/districts.js';
import type { AreaTuple } from '../../src/ingest/model.js';
import type { PostalZip } from '../../src/ingest/zip/counties.js';
import { inOneGo } from '../../src/ingest/progress.js';
import { ZipExtents } from '../../src/ingest/zip/extent.js';
import { cityDensity } from '../../src/ingest/zip/land.js';
import type { ZipPoint } from '../../src/ingest/zip/zip-facts.js';
import { kilometres, landedZips, placeZip, type PlacedZip } from '../../src/ingest/zip/placed.js';

const COUNTY = '90001';
/** A tenth of a degree of latitude, about eleven kilometres. */
const TENTH = 100_000;
const EQUATOR_LNG = -100_000_000;

function point(zip: number, east: number, north = 0): ZipPoint {
  return {
    zip,
    name: 'Elm',
    state: 'XA',
    county: COUNTY,
    lat: north * TENTH,
    lng: EQUATOR_LNG + east * TENTH,
  };
}

function zipOf(zip: number): PostalZip {
  return { zip, state: 'XA', names: ['Elm'], counties: [COUNTY] };
}

/** A city east of `east` tenths of a degree; nothing beyond a degree from the middle. */
function cityEastOf(east: number): (lat: number, lng: number) => AreaTuple | null {
  return (lat, lng) => {
    const x = lng - EQUATOR_LNG;
    if (Math.abs(x) > 10 * TENTH || Math.abs(lat) > 10 * TENTH) return null;
    const place = x >= east * TENTH ? '9000001' : '';
    return { state: '90', county: COUNTY, place, town: '', districts: [] };
  };
}

/** A square city around a spot. */
function square(east: number, half: number): Polygon {
  const [west, right] = [EQUATOR_LNG + (east - half) * TENTH, EQUATOR_LNG + (east + half) * TENTH];
  const top = half * TENTH;
  return (
    createPolygon('9000002', [
      [
        [west, -top],
        [right, -top],
        [right, top],
        [west, top],
      ],
    ]) ?? assert.fail('no polygon')
  );
}

/** Points on a lattice of a tenth of a degree around the middle, which is ZIP 1. */
function lattice(): ZipPoint[] {
  const points: ZipPoint[] = [point(1, 0)];
  for (let north = -3; north <= 3; north += 1) {
    for (let east = -3; east <= 3; east += 1) {
      if (north !== 0 || east !== 0) points.push(point(100 + points.length, east, north));
    }
  }
  return points;
}

/** ZIPs at their points, all with land. */
function placedAt(
  points: readonly ZipPoint[],
  tupleAt: (lat: number, lng: number) => AreaTuple | null,
  named: ReadonlySet<string> = new Set(),
): PlacedZip[] {
  return points
    .map((each) =>
      placeZip(zipOf(each.zip), [each], tupleAt, each.zip === 1 ? named : new Set(), true),
    )
    .filter((zip) => zip !== null);
}

function extentWith(
  tupleAt: (lat: number, lng: number) => AreaTuple | null,
  cities: readonly Polygon[] = [],
  named: ReadonlySet<string> = new Set(),
) {
  const placed = placedAt(lattice(), tupleAt, named);
  const extents = inOneGo(ZipExtents.sampled(placed, tupleAt, cities));
  return { extents, zip: placed[0]!, extent: extents.of(placed[0]!) };
}

/** Within a square city, beyond it open land. */
function inSquare(east: number, half: number): (lat: number, lng: number) => AreaTuple {
  return (lat, lng) => {
    const x = (lng - EQUATOR_LNG) / TENTH;
    const inside = Math.abs(x - east) < half && Math.abs(lat / TENTH) < half;
    const place = inside ? '9000002' : '';
    return { state: '90', county: COUNTY, place, town: '', districts: [] };
  };
}

/** The share of the square city and whether it is reached at all. */
function shareOfSquare(east: number, half: number, named: readonly string[] = []): number | null {
  const { extent } = extentWith(inSquare(east, half), [square(east, half)], new Set(named));
  return extent.reached.find(({ tuple }) => tuple.place !== '')?.land ?? null;
}

test('a ZIP reaches land that is at most twice as far from its point as from another', () => {
  // The neighbour's point is 1 away: ½ is the middle, ⅔ is where it is half as far.
  assert.ok(shareOfSquare(0.5, 0.1)! > 0, 'half of it its own');
  assert.ok(shareOfSquare(0.62, 0.02)! < shareOfSquare(0.4, 0.02)!, 'less likely the farther');
  assert.equal(shareOfSquare(0.8, 0.05), null, 'beyond');
});

test('a city too small for any sample around the point is found from its own line', () => {
  // A hundredth of a tenth of a degree: 0.1 km, between rays that are kilometres apart.
  const share = shareOfSquare(0.43, 0.005);
  assert.ok(share !== null);
  assert.ok(share < 50_000, String(share));
});

test('only the corner of a city that reaches into the ZIP makes it one it may reach', () => {
  // All spots inside are beyond ⅔ but for its western edge.
  const share = shareOfSquare(0.97, 0.305);
  assert.ok(share !== null);
});

test('a city counts as densely as it is lived in, and more for the ZIP that bears its name', () => {
  const plain = shareOfSquare(0.4, 0.1)!;
  // A square of 2.2 km in a ZIP of 11 km by 11 km has a twenty-fifth of the land.
  assert.ok(plain > 100_000, String(plain));
  assert.ok(shareOfSquare(0.4, 0.1, ['9000002'])! > plain);
});

test('land between cities along their lines leaves a remainder, however small it is', () => {
  const all = (_lat: number, lng: number): AreaTuple => ({
    state: '90',
    county: COUNTY,
    place: lng < EQUATOR_LNG ? '9000001' : '9000002',
    town: '',
    districts: [],
  });
  assert.equal(extentWith(all).extent.allCities, true);
  const pocket = (lat: number, lng: number): AreaTuple => ({
    ...all(lat, lng),
    place: Math.hypot(lat - 30_300, lng - EQUATOR_LNG - 30_300) < 400 ? '' : all(lat, lng).place,
  });
  const beside =
    createPolygon('9000002', [
      [
        [EQUATOR_LNG, -TENTH],
        [EQUATOR_LNG + 30_000, -TENTH],
        [EQUATOR_LNG + 30_000, 30_000],
        [EQUATOR_LNG, 30_000],
      ],
    ]) ?? assert.fail('no polygon');
  const { extent } = extentWith(pocket, [beside]);
  assert.equal(extent.allCities, false);
  assert.ok(extent.reached.some(({ tuple, land }) => tuple.place === '' && land === 0));
});

/** A rectangle, in tenths of a degree. */
function corners(west: number, south: number, east: number, north: number): [number, number][] {
  return (
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ] as const
  ).map(([x, y]) => [EQUATOR_LNG + x * TENTH, y * TENTH]);
}

test('a pocket of open land next to a corner of a large city is found', () => {
  const tupleAt = (lat: number, lng: number): AreaTuple => {
    const [x, y] = [(lng - EQUATOR_LNG) / TENTH, lat / TENTH];
    const isPocket = x > -0.2 && x < -0.19 && y > -0.21 && y < -0.2;
    const place = isPocket ? '' : Math.min(x, y) > -0.3 ? '9000002' : '9000003';
    return { state: '90', county: COUNTY, place, town: '', districts: [] };
  };
  const city = createPolygon('9000002', [
    corners(-0.3, -0.3, 4, 4),
    corners(-0.2, -0.21, -0.19, -0.2),
  ]);
  const { extent } = extentWith(tupleAt, [city ?? assert.fail('no polygon')]);
  assert.equal(extent.allCities, false);
  assert.ok(extent.reached.some(({ tuple }) => tuple.place === ''));
});

test("a post office inside a city is the city's by whatever name; one in a town is not", () => {
  const inCity = cityEastOf(-0.1);
  const all = new Set(['9000001']);
  const placed = (tupleAt: typeof inCity): PlacedZip[] =>
    lattice().map(
      (each) => placeZip(zipOf(each.zip), [each], tupleAt, each.zip === 1 ? new Set() : all, true)!,
    );
  const city = createPolygon('9000001', [corners(-0.1, -3, 3, 3)]) ?? assert.fail('no polygon');
  const zips = placed(inCity);
  assert.deepEqual([...zips[0]!.named], ['9000001']);
  const { reached } = inOneGo(ZipExtents.sampled(zips, inCity, [city])).of(zips[0]!);
  const share = reached.find(({ tuple }) => tuple.place !== '')?.land ?? 0;
  assert.ok(share > 900_000, String(share));
  const inTown: typeof inCity = (lat, lng) => {
    const at = inCity(lat, lng);
    return at === null ? null : { ...at, place: '', town: '9000000001' };
  };
  assert.deepEqual([...placed(inTown)[0]!.named], []);
});

test("a city's name says nothing of the land beyond its line, but for post offices of boxes", () => {
  const east = cityEastOf(-3.4);
  const inTown: typeof east = (lat, lng) => ({ ...east(lat, lng)!, town: '9000000001' });
  const city = createPolygon('9000001', [corners(-3.4, -3.4, 9, 9)]) ?? assert.fail('no polygon');
  // The ZIP in the middle alone bears the name: those around have names of their own.
  const isOpenReached = (landed: boolean): boolean => {
    const [middle, ...around] = lattice().map((each) => {
      const [named, tupleAt] = each.zip === 1 ? [['9000001'], east] : [[], inTown];
      return placeZip(zipOf(each.zip), [each], tupleAt, new Set(named), each.zip !== 1 || landed)!;
    });
    const extents = inOneGo(ZipExtents.sampled([middle!, ...around], east, [city]));
    return extents.of(middle!).reached.some(({ tuple }) => tuple.place === '');
  };
  assert.deepEqual([isOpenReached(true), isOpenReached(false)], [false, true]);
});

test('the spot told of an area is the sampled one nearest to the point', () => {
  const { extent } = extentWith(cityEastOf(0.3));
  const city = extent.reached.find(({ tuple }) => tuple.place !== '') ?? assert.fail('no city');
  assert.ok(city.lng >= EQUATOR_LNG + 0.3 * TENTH);
  assert.ok(kilometres(city, extent.point) < 0.5 * 11.132);
  assert.deepEqual([extent.here.place, extent.allCities], ['', false]);
  assert.equal(extentWith(cityEastOf(-9)).extent.allCities, true);
});

test('a city that the extent does not reach is out of the ZIP, but far ones shake the point', () => {
  const { extents, extent } = extentWith(cityEastOf(9));
  assert.equal(extents.mayTouch(extent, square(1, 0.2)), false);
  assert.equal(extents.mayTouch(extent, square(2.9, 0.2)), true, 'more than 15 km away');
});

test('a drawn district is out of a ZIP where it is far, and nearer to others by far', () => {
  const { extents, zip } = extentWith(cityEastOf(9));
  assert.equal(extents.mayReach(zip, [square(0.4, 0.2)]), true);
  assert.equal(extents.mayReach(zip, [square(1, 0.2)]), true, 'less than 15 km away');
  assert.equal(extents.mayReach(zip, [square(2.9, 0.2)]), false, 'beside the points of others');
  assert.equal(extents.mayReach(zip, [square(2.9, 0.2), square(-0.1, 0.2)]), true);
});

test('ways with a district that cannot reach the ZIP are out where no spot tells', () => {
  const land: AreaTuple = { state: '90', county: COUNTY, place: '', town: '', districts: [] };
  const districts = new OwnDistricts(drawnDistricts(['FAR', 'NEAR'])).learned([
    land,
    { ...land, districts: ['FAR'] },
    { ...land, districts: ['NEAR'] },
  ]);
  const ways = (reached: readonly AreaTuple[], mayHold?: (code: string) => boolean) =>
    districts.variants(land, 90_001, reached, mayHold).map((one) => one.districts.join());
  const near = (code: string): boolean => code === 'NEAR';
  assert.deepEqual(ways([]), ['', 'FAR', 'NEAR']);
  assert.deepEqual(ways([], near), ['', 'NEAR']);
  assert.deepEqual(ways([{ ...land, districts: ['FAR'] }], near), ['FAR'], 'a spot is known');
  const whole = new OwnDistricts(drawnDistricts(['FAR'])).learned([
    { ...land, districts: ['FAR'] },
  ]);
  assert.deepEqual(
    whole.variants(land, 90_001, [], near).map((one) => one.districts),
    [['FAR']],
    'no other way is left',
  );
});

test('a point counts only in a county of the ZIP', () => {
  const [middle] = lattice();
  const at = cityEastOf(0);
  const elsewhere = { ...zipOf(1), counties: ['90003'] };
  assert.equal(placeZip(elsewhere, [middle!], at, new Set(), true), null);
  assert.equal(placeZip(zipOf(1), [point(1, 50), middle!], at, new Set(), true)?.point, middle);
});

test('cities are lived in more densely than other land, the more so the larger the ZIP', () => {
  assert.deepEqual(
    [5, 100, 1_000, 100_000].map((km2) => cityDensity(km2, 1)),
    [3, 12, 120, 1_000],
  );
  assert.equal(cityDensity(100, 0.5), 24);
});

test('of ZIPs at one spot none has land where one of the name has a spot of its own', () => {
  const boxes = [point(2, 3), point(3, 3), point(4, 5), point(5, 5)];
  const ash = boxes.map((box) => (box.zip > 3 ? { ...box, name: 'Ash' } : box));
  const listed = new Set([1, 2, 3, 4, 5]);
  // No ZIP of Ash has a spot of its own; ZIP 6 is not listed.
  assert.deepEqual([...landedZips([point(1, 0), ...ash, point(6, 9)], listed)], [1, 4, 5]);
});
