/** Edges of cells by quarters, and land that neighbours do not share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Cell, quartered, touching } from '../../src/ingest/boundary/leaf.js';
import { OverlapMeter } from '../../src/ingest/boundary/overlaps.js';
import { BandedPolygon, createPolygon, forEachEdge, type Position } from '../../src/geo/polygon.js';

const CELL: Cell = { x: 0, y: 0, size: 64 };

function banded(key: string, ring: readonly Position[]): BandedPolygon {
  const polygon = createPolygon(key, [ring]);
  assert.ok(polygon !== null);
  return new BandedPolygon(polygon);
}

function edgesOf(shape: BandedPolygon): readonly number[] {
  const all: number[] = [];
  forEachEdge(shape.polygon, (vertex) => all.push(vertex));
  return touching(shape, all, CELL);
}

test('edges by quarters are those that touch each of them, on lines and corners too', () => {
  const spot = fc.integer({ min: -24, max: 88 });
  const ends = fc.array(fc.tuple(spot, fc.oneof(spot, fc.constantFrom(0, 32, 64))), {
    minLength: 4,
    maxLength: 9,
  });
  fc.assert(
    fc.property(ends, (ring) => {
      const polygon = createPolygon('', [ring]);
      if (polygon === null) return;
      const shape = new BandedPolygon(polygon);
      const edges = edgesOf(shape);
      const size = CELL.size / 2;
      assert.deepEqual(
        quartered(shape, edges, CELL),
        [
          [0, 0],
          [size, 0],
          [0, size],
          [size, size],
        ].map(([x = 0, y = 0]) => touching(shape, edges, { x, y, size })),
      );
    }),
    { numRuns: 2_000 },
  );
});

/** Square kilometres that two polygons share in the cell, in all; 0 for none. */
function shared(one: readonly Position[], other: readonly Position[]): number {
  const shapes = [banded('1', one), banded('2', other)];
  const meter = new OverlapMeter(
    shapes.map((shape) => ({ banded: shape, layer: 'place' })),
    ['place'],
  );
  meter.measure(
    CELL,
    [],
    shapes.map((shape, at) => ({ shape: at, edges: edgesOf(shape) })),
  );
  return meter.overlaps().reduce((sum, { km2 }) => sum + km2, 0);
}

test('neighbours along one line share nothing; the same land twice, or part of it, is shared', () => {
  const line: readonly Position[] = [
    [20, -99],
    [31, 11],
    [18, 40],
    [44, 99],
  ];
  const west: readonly Position[] = [[-99, -99], ...line, [-99, 99]];
  const east: readonly Position[] = [[199, 99], ...[...line].reverse(), [199, -99]];
  assert.equal(shared(west, east), 0);
  assert.ok(shared(west, west) > 0);
  assert.ok(
    shared(
      west,
      west.map(([x, y]): Position => [x - 5, y]),
    ) > 0,
  );
});
