import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BandedPolygon, createPolygon } from '../../src/geo/polygon.js';
import type { CellIndex } from '../../src/dataset/cell-index.js';
import { buildCells } from '../../src/ingest/boundary/cells.js';
import type { LayerHits } from '../../src/ingest/boundary/overlay.js';
import { doubtDiscs } from '../../src/ingest/boundary/doubtful-land.js';

type Ring = readonly (readonly [number, number])[];

function square(west: number, south: number, east: number, north: number): Ring {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
}

function county(
  key: string,
  rings: readonly Ring[],
): { polygon: NonNullable<ReturnType<typeof createPolygon>>; properties: Record<string, string> } {
  const polygon = createPolygon(key, rings);
  assert.ok(polygon);
  return { polygon, properties: {} };
}

/** Answers with the county's key. */
function locator(list: readonly [string, readonly Ring[]][]): (lat: number, lng: number) => string {
  const keys = list.map(([key]) => key);
  const features = list.map(([key, rings]) => county(key, rings));
  const { index } = buildCells(
    [{ layer: 'county', features }],
    (hits: LayerHits) => keys.indexOf(hits.county),
    () => undefined,
  );
  return (lat, lng) => keys[index.locate(lat, lng)] ?? '';
}

test('a point on a border belongs to the area east of it, on a level border to the one north', () => {
  const at = locator([
    ['a', [square(0, 0, 1000, 1000)]],
    ['b', [square(1000, 0, 2000, 1000)]],
    ['c', [square(0, 1000, 1000, 2000)]],
    ['d', [square(1000, 1000, 2000, 2000)]],
  ]);
  assert.equal(at(500, 1000), 'b');
  assert.equal(at(1000, 500), 'c');
  assert.equal(at(1000, 1000), 'd');
  assert.equal(at(0, 0), 'a');
  assert.equal(at(500, 2000), '');
  assert.equal(at(2000, 500), '');
});

test('a hole belongs to the enclave in it and to nobody else', () => {
  const at = locator([
    ['a', [square(0, 0, 9000, 9000), square(3000, 3000, 6000, 6000)]],
    ['b', [square(3000, 3000, 6000, 6000)]],
  ]);
  assert.deepEqual(
    [at(4000, 4000), at(1000, 1000), at(3000, 3000), at(6000, 6000)],
    ['b', 'a', 'b', 'a'],
  );
});

test('an area on both sides of the antimeridian is one; 180 and -180 are the same line', () => {
  const at = locator([
    [
      'a',
      [
        square(179_000_000, 0, 180_000_000, 1_000_000),
        square(-180_000_000, 0, -179_500_000, 1_000_000),
      ],
    ],
  ]);
  assert.equal(at(500_000, 179_999_999), 'a');
  assert.equal(at(500_000, 180_000_000), 'a');
  assert.equal(at(500_000, -180_000_000), 'a');
  assert.equal(at(500_000, -179_500_000), '');
  assert.equal(at(500_000, 178_999_999), '');
});

test('what is no point on earth is nowhere', () => {
  const at = locator([['a', [square(-180_000_000, 80_000_000, 180_000_000, 90_000_000)]]]);
  assert.equal(at(89_999_999, 12), 'a');
  for (const [lat, lng] of [
    [90_000_001, 0],
    [0, 180_000_001],
    [NaN, 0],
    [0, -200_000_000],
  ]) {
    assert.equal(at(lat!, lng!), '');
  }
});

/** The areas of all cells that a judge is shown. */
function areasNear(index: CellIndex, lat: number, lng: number, reach: number): Set<number> {
  const met = new Set<number>();
  index.anyNear(lat, lng, reach, {
    whole: (area) => met.add(area).size < 0,
    border: (leaf) => index.areasOfBorder(leaf).some((area) => met.add(area).size < 0),
  });
  return met;
}

test('no line within the reach is overlooked, whatever cell or tile it lies in', () => {
  // A jagged line from south to north through several tiles, with an area on either side of it.
  const line = Array.from({ length: 41 }, (_, at): readonly [number, number] => [
    600_000 + ((at * 7_919) % 13) * 9_000,
    at * 50_000,
  ]);
  const west: Ring = [[0, 0], ...line, [0, 2_000_000]];
  const east: Ring = [[1_400_000, 0], ...line, [1_400_000, 2_000_000]];
  const { index } = buildCells(
    [
      {
        layer: 'county',
        features: [county('a', [west]), county('b', [east])],
      },
    ],
    ({ county: key }: LayerHits) => ['a', 'b'].indexOf(key),
    () => undefined,
  );
  const reach = 450;
  let [near, lines] = [0, 0];
  for (let at = 0; at < 4_000; at += 1) {
    const [x, y] = line[at % 40]!;
    const lat = y + 1 + ((at * 104_729) % 50_000);
    const lng = x + ((at * 15_485_863) % 4_001) - 2_000;
    const own = index.locate(lat, lng);
    const around = Array.from({ length: 24 }, (_, step) => (step / 12) * Math.PI).flatMap((angle) =>
      [0.5, 0.99].map((share) =>
        index.locate(
          Math.round(lat + share * reach * Math.sin(angle)),
          Math.round(lng + share * reach * Math.cos(angle)),
        ),
      ),
    );
    const hasOther = around.some((area) => area !== own);
    const met = areasNear(index, lat, lng, reach);
    assert.deepEqual(
      around.filter((area) => !met.has(area)),
      [],
      `${lat} ${lng}`,
    );
    const isNear = index.isNear(lat, lng, reach);
    assert.ok(isNear || !hasOther, `${lat} ${lng}`);
    near += Number(isNear);
    lines += Number(hasOther);
  }
  assert.ok(lines > 50 && near < 3 * lines, `${near} near, ${lines} with a line`);
});

test('rings without area are dropped and positions off the earth refused', () => {
  assert.equal(
    createPolygon('a', [
      [
        [0, 0],
        [5, 5],
      ],
    ]),
    null,
  );
  assert.equal(createPolygon('a', []), null);
  assert.throws(
    () =>
      createPolygon('a', [
        [
          [181_000_000, 0],
          [0, 5],
          [5, 5],
        ],
      ]),
    RangeError,
  );
});

test('a doubtful disc holds its centre and what is 14.9 km away, not what is 15.2 km away', () => {
  const [disc] = doubtDiscs([{ county: '91001', lat: 40_000_000, lng: -90_000_000 }]);
  assert.ok(disc);
  const banded = new BandedPolygon(disc.polygon);
  const metres = 1e6 / 111_195;
  assert.ok(banded.contains(-90_000_000, 40_000_000));
  assert.ok(banded.contains(-90_000_000, Math.round(40_000_000 + 14_900 * metres)));
  assert.ok(!banded.contains(-90_000_000, Math.round(40_000_000 + 15_200 * metres)));
});
