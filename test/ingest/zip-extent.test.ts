/** How far ZIPs are estimated to reach, and what follows for their cities. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon, type Polygon } from '../../src/geo/polygon.js';
import type { AreaTuple } from '../../src/ingest/model.js';
import type { PostalZip } from '../../src/ingest/zip/counties.js';
import { kilometres, ZipExtents } from '../../src/ingest/zip/extent.js';
import type { ZipPoint } from '../../src/ingest/zip/model.js';

const COUNTY = '90001';
/** A tenth of a degree of latitude, about eleven kilometres. */
const TENTH = 100_000;
const EQUATOR_LNG = -100_000_000;

function point(zip: number, east: number, north = 0): ZipPoint {
  return {
    zip, name: 'Elm', state: 'XA', county: COUNTY,
    lat: north * TENTH, lng: EQUATOR_LNG + east * TENTH,
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
  return createPolygon('9000002', [[[west, -top], [right, -top], [right, top], [west, top]]])
    ?? assert.fail('no polygon');
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

function extentWith(tupleAt: (lat: number, lng: number) => AreaTuple | null) {
  const points = lattice();
  const extents = new ZipExtents(points, tupleAt);
  return { extents, extent: extents.of(zipOf(1), [points[0]!]) ?? assert.fail('no extent') };
}

function shareOfCity(east: number): number | null {
  const { extent } = extentWith(cityEastOf(east));
  return extent.reached.find(({ tuple }) => tuple.place !== '')?.land ?? null;
}

test('a ZIP is taken to reach beyond the middle between points, and no farther than twice', () => {
  // The neighbour's point is 1 away: ½ is the middle, ⅔ is where it is half as far.
  assert.ok(shareOfCity(0)! > 900_000, 'cities count as they are lived in');
  assert.ok(shareOfCity(0.4)! > 0, 'its own land');
  assert.equal(shareOfCity(0.55), 0, 'land that it may reach at most');
  assert.equal(shareOfCity(0.9), null, 'beyond');
});

test('the spot told of an area is the sampled one nearest to the point', () => {
  const { extent } = extentWith(cityEastOf(0.3));
  const city = extent.reached.find(({ tuple }) => tuple.place !== '') ?? assert.fail('no city');
  assert.ok(city.lng >= EQUATOR_LNG + 0.3 * TENTH);
  assert.ok(kilometres(city, extent.point) < 0.5 * 11.132);
  assert.deepEqual([extent.here.place, extent.allCities], ['', false]);
  assert.equal(extentWith(cityEastOf(-9)).extent.allCities, true);
});

test('a city touches a ZIP where any corner of it may lie there, and far ones shake the point', () => {
  const { extents, extent } = extentWith(cityEastOf(9));
  assert.equal(extents.mayTouch(extent, square(0.7, 0.1)), true);
  assert.equal(extents.mayTouch(extent, square(1, 0.2)), false);
  assert.equal(extents.mayTouch(extent, square(2.9, 0.2)), true, 'more than 15 km away');
});

test('a point counts only in a county of the ZIP', () => {
  const points = lattice();
  const extents = new ZipExtents(points, cityEastOf(0));
  const elsewhere = { ...zipOf(1), counties: ['90003'] };
  assert.equal(extents.of(elsewhere, [points[0]!]), null);
  assert.equal(extents.of(zipOf(1), [point(1, 50), points[0]!])?.point, points[0]);
});
