import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Border, createPolygon } from '../../src/geo/polygon.js';

const polygon = createPolygon('a', [[[0, 0], [10_000, 0], [10_000, 20_000], [0, 20_000]]]);
assert.ok(polygon);

test('the nearest edge of a border, in metres from inside and outside', () => {
  const border = new Border(polygon, polygon);
  const inside = border.nearest(9_000, 10_000);
  assert.equal(inside.edge, 1);
  assert.ok(Math.abs(inside.metres - 111.195) < 0.01);
  assert.ok(Math.abs(border.nearest(13_000, 24_000).metres - 555.975) < 0.01);
});

test('degrees of longitude shrink towards the poles', () => {
  const north = createPolygon('n', [
    [[0, 60_000_000], [10_000, 60_000_000], [10_000, 60_010_000], [0, 60_010_000]],
  ]);
  assert.ok(north);
  const { metres } = new Border(north, north).nearest(12_000, 60_005_000);
  assert.ok(Math.abs(metres - 111.195) < 0.1, `${metres}`);
});

test('edges beyond the box are left out; without any nothing is near', () => {
  const west = new Border(polygon, { minX: -10, minY: 5_000, maxX: 10, maxY: 6_000 });
  assert.deepEqual(west.edges, [0, 20_000, 0, 0]);
  const none = new Border(polygon, { minX: 4_000, minY: 4_000, maxX: 5_000, maxY: 5_000 });
  assert.deepEqual(none.nearest(4_500, 4_500), { edge: -1, metres: Infinity });
});
