/** The file of boundaries: what its script makes of lines, its format, and what is carried. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { encodeGeometry } from '../../scripts/geometry/file-writer.js';
import { ORIGIN, scriptSha256 } from '../../scripts/geometry/package.js';
import { greatestDistance, keptVertices, onGrid } from '../../scripts/geometry/simplify.js';
import { createTopology, Vertices } from '../../scripts/geometry/topology.js';
import { forEachEdge } from '../../src/geo/polygon.js';
import type { BoundaryFeature } from '../../src/ingest/boundary/overlay.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { decodeGeometry, readGeometryFile } from '../../src/ingest/source/geometry-file.js';
import { splitRows } from '../../src/ingest/source/table-text.js';

const FOLDER = join(datasetsDir(), 'geometry');

interface GeometryRecord {
  readonly file: string;
  readonly origin: unknown;
  readonly script: string;
  readonly unpacked: { readonly sha256: string; readonly bytes: number };
  readonly greatest_distance_metres: number;
  readonly counties: number;
  readonly places: number;
}

const record = JSON.parse(readFileSync(join(FOLDER, 'us.json'), 'utf8')) as GeometryRecord;
const layers = readGeometryFile(join(FOLDER, record.file));

test('no line that is kept leaves the original by more than the tolerance and the grid', () => {
  const step = fc.integer({ min: -300, max: 300 });
  fc.assert(
    fc.property(fc.array(fc.tuple(step, step), { minLength: 2, maxLength: 60 }), (steps) => {
      let [x, y] = [-93_000_000, 45_000_000];
      const line = Int32Array.from(steps.flatMap(([dx, dy]) => [(x += dx), (y += dy)]));
      const kept = keptVertices(line, 6);
      assert.equal(kept[0], 0);
      assert.equal(kept.at(-1), steps.length - 1);
      const distance = greatestDistance(line, kept, onGrid(line, kept, 10), 10);
      assert.ok(distance <= 7, `${distance} m`);
    }),
  );
});

test('a straight line keeps its ends, a bend of more than the tolerance stays', () => {
  assert.deepEqual(keptVertices(Int32Array.from([0, 0, 500, 10, 1000, 0]), 6), [0, 2]);
  assert.deepEqual(keptVertices(Int32Array.from([0, 0, 500, 100, 1000, 0]), 6), [0, 1, 2]);
});

test('a line that two polygons share is one arc, also where a third one meets them', () => {
  const vertices = new Vertices();
  const ring = (...positions: readonly (readonly [number, number])[]): Int32Array =>
    vertices.ring([...positions, positions[0]!]);
  const { arcs, features } = createTopology(vertices.size + 20, [
    { key: 'a', rings: [ring([0, 0], [1, 0], [1, 1], [1, 2], [0, 2])] },
    { key: 'b', rings: [ring([1, 0], [2, 0], [2, 1], [1, 1])] },
    { key: 'c', rings: [ring([1, 1], [2, 1], [2, 2], [1, 2])] },
    { key: 'd', rings: [ring([5, 5], [6, 5], [6, 6])] },
    { key: 'e', rings: [ring([6, 6], [6, 5], [5, 5])] },
  ]);
  const refs = features.map(({ rings }) => rings.flat().map((ref) => (ref < 0 ? -1 - ref : ref)));
  const shared = (one: number, other: number): number =>
    refs[one]!.filter((arc) => refs[other]!.includes(arc)).length;
  assert.deepEqual([shared(0, 1), shared(0, 2), shared(1, 2), shared(3, 4)], [1, 1, 1, 1]);
  // Every edge is in one arc.
  assert.equal(
    arcs.reduce((sum, arc) => sum + arc.length - 1, 0),
    5 + 3 + 2 + 3,
  );
});

test('what is encoded is decoded: layers, keys, rings, shared arcs in both directions', () => {
  const arcs = [
    Int32Array.from([0, 0, 10, 0, 10, 10, 0, 10, 0, 0]),
    Int32Array.from([-18_000_000, 9_000_000, -17_999_000, 9_000_001]),
    Int32Array.from([-17_999_000, 9_000_001, -17_999_500, 8_000_000, -18_000_000, 9_000_000]),
  ];
  const found = decodeGeometry(
    encodeGeometry(10, arcs, [
      { name: 'counties', digits: 5, polygons: [{ key: '01001', rings: [[1, 2], [0]] }] },
      {
        name: 'places',
        digits: 7,
        polygons: [
          { key: '0100001', rings: [[-1]] },
          { key: '5600002', rings: [[-3, -2]] },
        ],
      },
    ]),
  );
  const shown = (name: string): unknown =>
    found.get(name)?.map(({ polygon }) => [polygon.key, [...polygon.coords], [...polygon.rings]]);
  assert.deepEqual(shown('counties'), [
    [
      '01001',
      [
        -180_000_000, 90_000_000, -179_990_000, 90_000_010, -179_995_000, 80_000_000, -180_000_000,
        90_000_000, 0, 0, 100, 0, 100, 100, 0, 100, 0, 0,
      ],
      [0, 4, 9],
    ],
  ]);
  assert.deepEqual(shown('places'), [
    ['0100001', [0, 0, 0, 100, 100, 100, 100, 0, 0, 0], [0, 5]],
    [
      '5600002',
      [
        -180_000_000, 90_000_000, -179_995_000, 80_000_000, -179_990_000, 90_000_010, -180_000_000,
        90_000_000,
      ],
      [0, 4],
    ],
  ]);
});

test('bytes of another format, or cut short, are refused', () => {
  const bytes = encodeGeometry(
    10,
    [Int32Array.from([0, 0, 9, 9])],
    [{ name: 'places', digits: 7, polygons: [{ key: '0100001', rings: [[0]] }] }],
  );
  assert.throws(() => decodeGeometry(bytes.subarray(0, -1)), /ends too early/);
  assert.throws(
    () =>
      decodeGeometry(
        Buffer.from(bytes.toString('latin1').replace('geometry-1', 'geometry-9'), 'latin1'),
      ),
    /format/,
  );
});

test('the file carried is the one that the record names, made by the scripts of this tree', () => {
  const bytes = gunzipSync(readFileSync(join(FOLDER, record.file)));
  assert.equal(createHash('sha256').update(bytes).digest('hex'), record.unpacked.sha256);
  assert.equal(bytes.length, record.unpacked.bytes);
  assert.equal(record.script, scriptSha256(), 'the scripts changed: npm run geometry');
  assert.deepEqual(record.origin, ORIGIN);
  assert.ok(record.greatest_distance_metres <= 7);
  assert.deepEqual(
    [...layers].map(([name, { length }]) => [name, length]),
    [
      ['counties', record.counties],
      ['places', record.places],
    ],
  );
});

test('every place carried is governed by the facts, and few of the facts are without', () => {
  const folder = join(datasetsDir(), 'facts/places');
  const known = readdirSync(folder)
    .flatMap((file) => splitRows(readFileSync(join(folder, file), 'utf8'), '\t').slice(1))
    .map(([geoid = '']) => geoid)
    .filter((geoid) => geoid.length === 7);
  const carried = new Set(layers.get('places')!.map(({ polygon }) => polygon.key));
  assert.deepEqual(
    [...carried].filter((geoid) => !known.includes(geoid)),
    [],
  );
  // Incorporated after the year of the boundaries.
  assert.ok(known.filter((geoid) => !carried.has(geoid)).length <= 20);
});

/** Edges of a polygon, each named alike from both of its ends. */
function edgesOf(layer: string, key: string): ReadonlySet<string> {
  const { polygon } = (layers.get(layer) as readonly BoundaryFeature[]).find(
    (one) => one.polygon.key === key,
  )!;
  const edges = new Set<string>();
  forEachEdge(polygon, (vertex) => {
    const ends = [vertex, vertex + 1].map(
      (at) => `${polygon.coords[at * 2]} ${polygon.coords[at * 2 + 1]}`,
    );
    edges.add(ends.sort().join(' '));
  });
  return edges;
}

test('cities share the lines of their counties, and counties those across a state line', () => {
  const shared = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
    [...one].filter((edge) => other.has(edge)).length;
  for (const [county, place] of [
    ['08031', '0820000'],
    ['29510', '2965000'],
    ['51510', '5101000'],
    ['24510', '2404000'],
  ] as const) {
    const [around, city] = [edgesOf('counties', county), edgesOf('places', place)];
    assert.equal(shared(around, city), around.size, `${place} is all of ${county}`);
  }
  assert.ok(shared(edgesOf('counties', '27123'), edgesOf('places', '2758000')) > 20);
  assert.ok(shared(edgesOf('counties', '34017'), edgesOf('counties', '36061')) > 20);
});
