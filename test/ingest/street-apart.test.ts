/** Streets of which the release says that no line between tax areas comes near. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_GAZETTEER } from '../../src/address/parsed.js';
import { BORDER_REACH } from '../../src/dataset/cell-index.js';
import { StreetIndex } from '../../src/dataset/street-index.js';
import { Engine } from '../../src/engine/engine.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';
import { isFailure } from '../../src/failure.js';
import { createPolygon } from '../../src/geo/polygon.js';
import { buildCells } from '../../src/ingest/boundary/cells.js';
import { areApart, type NearLine } from '../../src/ingest/street/apart.js';
import type { DoorFacts } from '../../src/ingest/street/stated.js';
import { seeded } from '../../bench/case/case.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';
import { streetTableOf, StreetIndexBuilder } from '../support/street-table.js';

const LINE = -84_000_000;
const SOUTH = 40_000_000;

function county(key: string, west: number, east: number): Parameters<typeof createPolygon> {
  const north = 50_000_000;
  return [
    key,
    [
      [
        [west, 30_000_000],
        [east, 30_000_000],
        [east, north],
        [west, north],
        [west, 30_000_000],
      ],
    ],
  ];
}

/** Two counties beside each other. */
const CELLS = buildCells(
  [
    {
      layer: 'county',
      features: [county('1', -90_000_000, LINE), county('2', LINE, -80_000_000)].map((one) => ({
        polygon: createPolygon(...one)!,
        properties: {},
      })),
    },
  ],
  ({ county: key }) => (key === '' ? -1 : Number(key)),
  () => undefined,
).index;

const nearLine: NearLine = (lat, lng, reach) => CELLS.isNear(lat, lng, reach);

function door(lat: number, lng: number): DoorFacts {
  return { value: 1, text: '', lat, lng, area: 1, plus4: 0 };
}

test('a street is apart when each of its doors is', () => {
  const random = seeded(11);
  const within = (span: number): number => Math.round((random() - 0.5) * span);
  let [apart, nearBy] = [0, 0];
  for (let street = 0; street < 2_000; street += 1) {
    const lng = LINE + within(3_000);
    const spread = 10 ** (1 + random() * 5);
    const doors = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
      door(SOUTH + within(spread), lng + within(spread)),
    );
    const expected = doors.every((one) => !nearLine(one.lat, one.lng, BORDER_REACH));
    assert.equal(areApart(doors, nearLine), expected);
    if (expected) apart += 1;
    else nearBy += 1;
  }
  assert.ok(apart > 300 && nearBy > 300);
  assert.equal(areApart([], nearLine), false, 'nothing is known of ranges');
});

test('most streets take one look, whatever their doors', () => {
  let looks = 0;
  const counted: NearLine = (...spot) => {
    looks += 1;
    return nearLine(...spot);
  };
  const doors = Array.from({ length: 50 }, (_, at) => door(SOUTH + at * 90, LINE + 90_000));
  assert.ok(areApart(doors, counted));
  assert.equal(looks, 1);
});

test('of a door that is apart no line is told, of others the nearest', () => {
  const base = memoryDataset();
  const borderBy = (near: NearLine): number | null => {
    const locate = (lat: number, lng: number): number => base.cells.locate(lat, lng);
    const builder = new StreetIndexBuilder(locate, EMPTY_GAZETTEER, near);
    // 22 metres from the next square.
    builder.addPoint({
      ...{ number: '5', street: 'Sedge Ln', unit: '', city: 'Brookmere', municipality: '' },
      ...{ county: '', state: 'QZ', zip: '97001', zip4: '', source: 'invented' },
      ...{ lat: 10_500_000, lng: 999_800 },
    });
    const table = new Map(builder.entries());
    const streets = new StreetIndex(streetTableOf((key) => table.get(key) ?? null));
    const engine = new Engine({ ...base, streets });
    const address = '5 Sedge Ln, Brookmere, QZ 97001';
    const outcome = engine.lookup({ kind: 'address', address, options: NO_OPTIONS }, NOW_MS);
    assert.ok(!isFailure(outcome) && outcome.kind === 'situs');
    return engine.border(outcome)?.metres ?? null;
  };
  assert.equal(
    borderBy(() => true),
    22,
  );
  assert.equal(
    borderBy(() => false),
    null,
  );
});
