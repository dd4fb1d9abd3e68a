import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolygon } from '../../src/geo/polygon.js';
import type { ByteTable } from '../../src/dataset/layout.js';
import type { BoundaryFeature, LayerHits, LayerName } from '../../src/ingest/boundary/overlay.js';
import { CellIndex } from '../../src/dataset/cell-index.js';
import { buildCells } from '../../src/ingest/boundary/cells.js';
import { holders, type PlainPolygon } from '../support/brute-force.js';
import { seeded } from '../../bench/case/case.js';
import { points, stars, tessellation } from '../support/invented-world.js';

const quiet = (): void => undefined;

function features(polygons: readonly PlainPolygon[]): readonly BoundaryFeature[] {
  return polygons.flatMap(({ key, rings }) => {
    const polygon = createPolygon(key, rings);
    return polygon === null ? [] : [{ polygon, properties: {} }];
  });
}

/** A table that hands out one buffer again and again, at an odd offset, as the store does. */
function reusing(rows: ReadonlyMap<number, Uint8Array>): ByteTable<number> {
  const buffer = Buffer.alloc(1 << 20);
  return {
    get(key) {
      const bytes = rows.get(key);
      if (bytes === undefined) return null;
      buffer.fill(0xee, 0, bytes.length + 64);
      buffer.set(bytes, 3);
      return buffer.subarray(3, 3 + bytes.length);
    },
  };
}

type World = Readonly<Partial<Record<LayerName, readonly PlainPolygon[]>>>;

function build(world: World): (lat: number, lng: number) => string {
  const names = new Map<string, number>();
  const areaOf = (hits: LayerHits): number => {
    const name = [hits.county, hits.place, hits.town, hits.districts.join('+')].join('|');
    if (name === '|||') return -1;
    const id = names.get(name) ?? names.size;
    names.set(name, id);
    return id;
  };
  const layers = (['county', 'place', 'town', 'district'] as const).map((layer) => ({
    layer,
    features: features(world[layer] ?? []),
  }));
  const { tiles, leaves } = buildCells(layers, areaOf, quiet);
  const index = new CellIndex(reusing(tiles), reusing(leaves));
  return (lat, lng) => {
    const id = index.locate(lat, lng);
    return id < 0 ? '|||' : [...names.keys()][id]!;
  };
}

function expected(world: World, lat: number, lng: number): string {
  const x = lng === 180_000_000 ? -180_000_000 : lng;
  const of = (layer: LayerName): readonly string[] => holders(world[layer] ?? [], x, lat);
  return [
    of('county')[0] ?? '',
    of('place')[0] ?? '',
    of('town')[0] ?? '',
    of('district').join('+'),
  ].join('|');
}

const WORLDS: readonly {
  readonly name: string;
  readonly box: { west: number; south: number; east: number; north: number };
  readonly points: number;
}[] = [
  {
    name: 'a country',
    points: 60_000,
    box: { west: -3_000_000, south: 20_000_000, east: 1_000_000, north: 23_000_000 },
  },
  {
    name: 'a small town',
    points: 20_000,
    box: { west: 500, south: -700, east: 9_000, north: 6_000 },
  },
  {
    name: 'the north pole',
    points: 15_000,
    box: { west: -180_000_000, south: 86_000_000, east: 180_000_000, north: 90_000_000 },
  },
  {
    name: 'the south pole',
    points: 10_000,
    box: { west: -180_000_000, south: -90_000_000, east: 180_000_000, north: -88_000_000 },
  },
  {
    name: 'west of the antimeridian',
    points: 15_000,
    box: { west: 177_000_000, south: 50_000_000, east: 180_000_000, north: 53_000_000 },
  },
  {
    name: 'east of the antimeridian',
    points: 15_000,
    box: { west: -180_000_000, south: 50_000_000, east: -178_000_000, north: 53_000_000 },
  },
];

for (const [seed, { name, box, points: count }] of WORLDS.entries()) {
  test(`${name}: ${count} points agree with brute force`, () => {
    const random = seeded(seed + 1);
    const size = Math.min(box.east - box.west, box.north - box.south);
    const world: World = {
      county: tessellation(random, 'c', box, 5, 4),
      place: stars(random, 'p', box, 30, size / 9),
      town: tessellation(
        random,
        't',
        {
          west: box.west + Math.floor(size / 4),
          south: box.south + Math.floor(size / 4),
          east: box.east - Math.floor(size / 4),
          north: box.north - Math.floor(size / 4),
        },
        5,
        3,
      ),
      district: stars(random, 'd', box, 5, size / 4),
    };
    const locate = build(world);
    const all = Object.values(world).flat();
    let differences = 0;
    let sample = '';
    for (const [x, y] of points(random, all, box, count)) {
      const found = locate(y, x);
      const truth = expected(world, y, x);
      if (found === truth) continue;
      differences += 1;
      sample ||= `${x}, ${y}: index ${found}, brute force ${truth}`;
    }
    assert.equal(differences, 0, sample);
  });
}
