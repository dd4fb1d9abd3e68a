import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type NationFiles, writeNation } from '../../bench/nation/nation.js';
import { fileSha256 } from '../../src/dataset/stamp.js';
import { createPolygon } from '../../src/geo/polygon.js';
import { AreaRegistry } from '../../src/ingest/area-registry.js';
import type { StreetRange } from '../../src/ingest/source/ranges.js';
import { buildCells } from '../../src/ingest/boundary/cells.js';
import type { AreaTuple } from '../../src/ingest/model.js';
import { PartCache } from '../../src/ingest/part-cache.js';
import { readPoints, readRanges } from '../../src/ingest/source/address-source.js';
import { boundaryRange, readSstBoundary } from '../../src/ingest/source/sst-boundary.js';
import { type AddressInput, buildAddresses } from '../../src/ingest/street/addresses.js';
import { StreetIndexBuilder } from '../support/street-table.js';
import { lostByState } from '../../src/ingest/street/lost.js';
import type { PlaceStated } from '../../src/ingest/street/named-areas.js';
import { areaNames, DoorSituator } from '../../src/ingest/street/situate.js';
import { Spellings, stateGazetteer } from '../../src/ingest/street/source-names.js';
import { SpillWriter } from '../../src/ingest/street/spill.js';
import { addDoor, SideWriter } from '../../src/ingest/street/stated.js';
import type { DateInt } from '../../src/tax/date.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-sharded-'));
after(() => rmSync(FOLDER, { recursive: true }));

const TODAY = 20260101 as DateInt;
const STATES = ['AL', 'NY', 'VT'].map((code) => ({ code, name: `State ${code}` }));

function tuple(county: string, place = ''): AreaTuple {
  return { state: county.slice(0, 2), county, place, town: '', districts: [] };
}

/** Four counties that fill the country, and what lies in none beyond the coasts. */
const REGISTRY = new AreaRegistry();
const EDGES = [-180, -100, -84, -76, -60].map((lng) => lng * 1_000_000);
const CELLS = buildCells(
  [
    {
      layer: 'county',
      features: EDGES.slice(1).map((east, index) => ({
        polygon: createPolygon(`0100${index}`, [
          [
            [EDGES[index]!, 20_000_000],
            [east, 20_000_000],
            [east, 70_000_000],
            [EDGES[index]!, 70_000_000],
            [EDGES[index]!, 20_000_000],
          ],
        ])!,
        properties: {},
      })),
    },
  ],
  ({ county }) => (county === '' ? -1 : REGISTRY.intern(tuple(county))),
  () => undefined,
);

/** Doors by municipality, some with a ZIP that is a slip of the pen, some without any. */
function writeSites(): NationFiles['points'][number] {
  const lines = ['town\tstreet\tnumber\tnumber_prefix\tnumber_suffix\tzip\tcounty\tlon\tlat'];
  const door = (town: string, street: string, number: string, zip: string, lat: number): void => {
    lines.push(`${town}\t${street}\t${number}\t\t\t${zip}\tQ\t-72.5\t${lat}`);
  };
  for (let n = 1; n <= 400; n += 1) door('ASH TOWN', `ELM ${n % 9} ST`, String(n), '05401', 44);
  for (let n = 1; n <= 400; n += 1) door('BEECH', 'MAIN ST', String(n), '05602', 44.2);
  door('ASH TOWN', 'MAIN ST', '900', '05602', 44);
  door('ASH TOWN', 'MAIN ST', '901', '03301', 44);
  door('ASH TOWN', 'MAIN ST', '902A', '', 44);
  door('BEECH', 'ELM 3 ST', '7', '05401', 44.2);
  door('BEECH', 'SHORE RD', '7', '05602', 80);
  door('BEECH', '#', '7', '05602', 44.2);
  writeFileSync(join(FOLDER, 'sites.tsv'), `${lines.join('\n')}\n`);
  return { file: 'sites.tsv', layout: 'e911-sites', source: 'sites', state: 'VT' };
}

const NATION = writeNation(FOLDER, { points: 4_000, ranges: 300, records: 1_500, seed: 4 });
const RECIPE: NationFiles = { ...NATION, points: [...NATION.points, writeSites()] };

function inputOf(name: string, more: Partial<AddressInput> = {}): AddressInput {
  const registry = new AreaRegistry();
  for (const one of REGISTRY.tuples()) registry.intern(one);
  const place: PlaceStated = ({ state, county, place: code, districts }) =>
    county === '999'
      ? 'with a county that is not known'
      : registry.intern({
          state,
          county: state + county,
          place: code === '' ? '' : state + code,
          town: '',
          districts,
        });
  return {
    recipe: RECIPE,
    states: STATES,
    places: [],
    files: {
      note: (path) => join(FOLDER, path),
      sha256: (path) => fileSha256(join(FOLDER, path)),
    },
    cells: CELLS,
    tuples: registry.tuples(),
    place,
    today: TODAY,
    scratch: join(FOLDER, name),
    parts: new PartCache(join(FOLDER, name), false),
    progress: () => undefined,
    report: () => undefined,
    ...more,
  };
}

function dump(entries: Iterable<readonly [string, Uint8Array]>): readonly string[] {
  return [...entries].map(([key, bytes]) => `${key}=${Buffer.from(bytes).toString('base64')}`);
}

/** What is built when all is kept in memory. */
async function inMemory(): Promise<readonly string[]> {
  const input = inputOf('none');
  const situator = new DoorSituator((lat, lng) => CELLS.index.locate(lat, lng), areaNames(input));
  const builder = new StreetIndexBuilder(
    (lat, lng, municipality) => situator.areaAt(lat, lng, municipality ?? ''),
    stateGazetteer(STATES),
    (lat, lng, reach) => CELLS.index.isNear(lat, lng, reach),
  );
  for (const source of RECIPE.points) {
    for await (const point of readPoints(`${FOLDER}/`, source)) builder.addPoint(point);
  }
  for (const source of RECIPE.ranges) {
    for await (const range of readRanges(`${FOLDER}/`, source)) builder.addRange(range);
  }
  for (const { file, state, source } of RECIPE.sst) {
    for await (const record of readSstBoundary(join(FOLDER, file))) {
      const districts = record.districts.map(({ code }) => code).sort();
      const { stateFips, county, place } = record;
      const stated = {
        state: stateFips,
        county,
        place,
        districts,
        stateTaxed: true,
        zip: 0,
        alone: '' as const,
      };
      const area = input.place(stated, state, null);
      if (typeof area === 'string') continue;
      if (record.kind === 'address') {
        builder.addRange(boundaryRange(record, area, state, source) as StreetRange);
      } else builder.addZips({ ...record, kind: record.kind, state, area });
    }
  }
  return dump(builder.entries());
}

test('the street table is the same whatever memory, threads and order of files', async () => {
  const expected = await inMemory();
  assert.ok(expected.length > 3_000);
  const kinds = new Set(expected.map((line) => line[0]));
  assert.deepEqual([...kinds].sort(), ['4', '5', 'c', 'm', 'n', 'p', 's', 't', 'z']);
  const turned = {
    points: RECIPE.points.toReversed(),
    ranges: RECIPE.ranges.toReversed(),
    sst: RECIPE.sst.toReversed(),
  };
  const cases: readonly (readonly [string, Partial<AddressInput>])[] = [
    ['one', { workers: 1 }],
    ['little', { workers: 1, spillBytes: 2_000 }],
    ['threads', { workers: 3, spillBytes: 40_000 }],
    ['turned', { workers: 1, recipe: turned }],
  ];
  const figures: (readonly unknown[])[] = [];
  for (const [name, more] of [...cases, ['threads again', cases[2]![1]] as const]) {
    const built = await buildAddresses(inputOf(name, more));
    const found = dump(built.entries);
    assert.equal(found.length, expected.length, name);
    found.forEach((line, at) => assert.equal(line, expected[at], name));
    assert.ok(built.counts.unread > 0 && built.counts.outside > 0);
    figures.push([built.zipCounts, built.doors, built.counts]);
    assert.deepEqual(figures.at(-1), figures[0], name);
  }
});

test('what is lost is told by file and reason; too much of it ends the build', async () => {
  const sites = RECIPE.points.filter(({ file }) => file === 'sites.tsv');
  const told: string[] = [];
  const recipe = { points: sites, ranges: [], sst: [] };
  const built = await buildAddresses(
    inputOf('lost', { recipe, report: (line) => told.push(line) }),
  );
  const reasons = [
    ['in no tax area', 1],
    ['whose number, street or ZIP cannot be read', 1],
  ];
  assert.deepEqual(built.lost, [{ file: 'sites.tsv', state: 'VT', rows: 806, reasons }]);
  assert.deepEqual([...built.doors], [['VT', 804]]);
  assert.deepEqual(told, [
    'sites.tsv: of 806 doors, sides or records: 1 in no tax area; ' +
      '1 whose number, street or ZIP cannot be read',
  ]);
  assert.equal(
    lostByState(built.lost).get('VT'),
    'of 806 rows of addresses left out: ' +
      '1 in no tax area; 1 whose number, street or ZIP cannot be read',
  );
  const far = { file: 'far.csv', layout: 'openaddresses', source: 'far', state: 'VT' };
  const lines = Array.from(
    { length: 20 },
    (_, n) => `-72.5,${n < 3 ? 80 : 44},${n + 1},ELM ST,,ASH,,VT,05401`,
  );
  writeFileSync(
    join(FOLDER, far.file),
    `LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE\n${lines.join('\n')}\n`,
  );
  await assert.rejects(
    buildAddresses(inputOf('far', { recipe: { ...recipe, points: [far] } })),
    /far\.csv: 3 of 20 doors, sides or records have no use, more than the 10 % that may: 3 in no/,
  );
});

test('a source that cannot be read ends the build, with threads too', async () => {
  const broken = { file: 'broken.csv', layout: 'openaddresses', source: 'broken', state: 'VT' };
  writeFileSync(join(FOLDER, broken.file), 'LON,LAT\n1,2\n');
  const recipe = { ...RECIPE, points: [...RECIPE.points, broken] };
  for (const workers of [1, 2]) {
    await assert.rejects(
      buildAddresses(inputOf(`broken-${workers}`, { recipe, workers })),
      /broken\.csv has no column/,
    );
  }
});

test('without sources there is an empty table', async () => {
  const recipe = { points: [], ranges: [], sst: [] };
  const built = await buildAddresses(inputOf('empty', { recipe }));
  assert.deepEqual([...built.entries], []);
  assert.deepEqual(readdirSync(join(FOLDER, 'empty')), [], 'nothing is written');
});

test('names that a stray quote made of many rows are none, nor countless vertices', () => {
  const spill = new SpillWriter(
    join(FOLDER, 'long.spill'),
    new Spellings(stateGazetteer(STATES)),
    1e9,
  );
  const place = { state: 'VT', city: '', municipality: '', street: 'ELM ST', source: 'sites' };
  const door = {
    ...place,
    number: '1',
    unit: '',
    county: '',
    zip: '05401',
    zip4: '',
    lat: 44_000_000,
    lng: -72_500_000,
  };
  const left = {
    from: 1,
    to: 9,
    parity: 'odd',
    zip: '05401',
    zip4: '',
    wideSetback: false,
  } as const;
  const range = { ...place, left, right: null, area: null, begin: null, geometry: [1, 2, 3, 4] };
  const sides = new SideWriter();
  assert.ok(addDoor(spill, door, 0) && sides.add(spill, range, false, 0));
  const name = '7,ELM ST\n'.repeat(8_000);
  for (const long of [{ city: name }, { municipality: name }, { street: name }]) {
    assert.equal(addDoor(spill, { ...door, ...long }, 0), false);
    assert.equal(sides.add(spill, { ...range, ...long }, false, 0), false);
  }
  const geometry = new Array<number>(2 * 65_536).fill(1);
  assert.equal(sides.add(spill, { ...range, geometry }, false, 0), false);
  spill.end();
});
