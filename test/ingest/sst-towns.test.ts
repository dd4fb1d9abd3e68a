/**
 * A boundary file that names towns, which divide their counties, by codes without the county, as
 * Vermont's: from the published layouts (published/README.md) to answers, with the boundaries of
 * the towns and without them.
 */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { readManifest } from '../../src/dataset/manifest.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';
import { isFailure } from '../../src/failure.js';
import { buildIn } from '../support/build-in.js';
import { createGazetteer } from '../../src/ingest/rates/gazetteer.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { townOf } from '../../src/ingest/street/towns.js';
import { engineOf } from '../support/engine-of.js';
import { byLookup, byRow, lineOf, NOON_MS, type Told } from '../support/three-ways.js';

const PUBLISHED = join(import.meta.dirname, '../../../test/ingest/published');
const FOLDER = mkdtempSync(join(tmpdir(), 'situs-sst-towns-'));
const FACTS = join(FOLDER, 'facts');

/** Towns of Cedar County from west to east, one of them a city, and the one of Dogwood County. */
const TOWNS = [
  ['9200100005', 'Aspen', 'Aspen town', '92001', -30, -29.84],
  // Its boundary as a city, of another map, begins at -29.85.
  ['9200100015', 'St. Hazel', 'St. Hazel city', '92001', -29.84, -29.75],
  ['9200100010', 'Reed', 'Reed town', '92001', -29.75, -29.5],
  ['9200300005', 'Juniper', 'Juniper town', '92003', -29.5, -29],
] as const;
const CODES = [
  ['00510', '9200100005'],
  ['00610', '9200100010'],
  ['00710', '9200300005'],
] as const;

function edit(file: string, change: (text: string) => string): void {
  const path = join(FACTS, file);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

/** The facts of a state without county taxes, whose towns are what the Census Bureau numbers. */
function writeFacts(): void {
  cpSync(join(datasetsDir(), 'fixture', 'facts'), FACTS, { recursive: true });
  edit(
    'places/QB.tsv',
    (text) =>
      text +
      TOWNS.map(
        ([geoid, name, full, county]) =>
          `${geoid}\t${name}\t${full}\tT1\t${county}\tinvented\t2026-01-01\t\n`,
      ).join(''),
  );
  edit(
    'place_aliases.tsv',
    (text) =>
      text +
      CODES.map(
        ([code, town]) =>
          `QB\tcity\t#${code}\t\t${town}\tthe Census Bureau's code\tinvented\t2026-01-01\n`,
      ).join(''),
  );
  edit('completeness.tsv', (text) =>
    text
      .replace(
        /^QB\tcounty\t.*$/m,
        'QB\tcounty\tnot-levied\tnothing\t0001-01-01\tfull\t\tinvented-law\tthe statute\t',
      )
      .replace(
        /^QB\tcity\t.*$/m,
        'QB\tcity\tcomplete\tnothing\t2020-01-01\tfull\t\tinvented\tan older list\t',
      ),
  );
  const rates = [
    ['state', '', 'Brookmark', '0.06'],
    ['city', '9200100005', 'ASPEN', '0.01'],
    ['city', '9200100', 'ST. HAZEL', '0.01'],
    ['city', '9200100015', 'ST. HAZEL', '0.01'],
  ];
  edit(
    'rates/QB.tsv',
    (text) =>
      text.slice(0, text.indexOf('\n') + 1) +
      rates
        .map(
          ([level, place, name, rate]) =>
            `QB\t${level}\t\t${place}\t${name}\t\town\t${rate}` +
            `\t${rate}\t2020-01-01\t\tinvented\t2026-01-01\t\n`,
        )
        .join(''),
  );
}

function writeTowns(): void {
  const ring = (west: number, east: number): number[][] => [
    [west, 10.5],
    [east, 10.5],
    [east, 11],
    [west, 11],
    [west, 10.5],
  ];
  writeFileSync(
    join(FOLDER, 'towns.geojson'),
    JSON.stringify({
      type: 'FeatureCollection',
      features: TOWNS.map(([geoid, , , , west, east]) => ({
        type: 'Feature',
        properties: { GEOID: geoid },
        geometry: { type: 'Polygon', coordinates: [ring(west, east)] },
      })),
    }),
  );
}

const told: string[] = [];
let name = '';
/** With the boundaries of towns, and without. */
let drawn: Dataset;
let bare: Dataset;

async function build(towns: boolean): Promise<string> {
  const { recipe, rates } = readRecipe('fixture');
  told.length = 0;
  return buildIn(
    FOLDER,
    {
      recipe: {
        ...recipe,
        facts: relative(datasetsDir(), FACTS),
        boundaries: [
          ...recipe.boundaries,
          ...(towns
            ? [
                {
                  layer: 'town' as const,
                  path: 'towns.geojson',
                  key: 'GEOID',
                  states: ['92'],
                  source: 'invented',
                },
              ]
            : []),
        ],
        points: [
          ...recipe.points,
          {
            file: 'doors.csv',
            layout: 'openaddresses',
            state: 'QB',
            source: 'invented',
          },
        ],
        sst: [{ file: 'QBB.csv', state: 'QB', source: 'invented', tolerance: '60' }],
      },
      rates: {
        ...rates,
        stated: [{ reader: 'sst', path: 'QBR.csv', source: 'invented', state: 'QB' }],
      },
    },
    { report: (line) => told.push(line) },
  );
}

before(async () => {
  writeFacts();
  writeTowns();
  // In Aspen by the boundaries, and in Reed by the state's file.
  writeFileSync(
    join(FOLDER, 'doors.csv'),
    'LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE\n' +
      '-29.95,10.9,5,FINCH LN,,ASPEN,,QB,92030\n-29.95,10.8,5,HERON LN,,ASPEN,,QB,92030\n',
  );
  copyFileSync(join(PUBLISHED, 'sst-towns.csv'), join(FOLDER, 'QBB.csv'));
  copyFileSync(join(PUBLISHED, 'sst-towns-rates.csv'), join(FOLDER, 'QBR.csv'));
  bare = openDataset(join(releasesDir(FOLDER), await build(false)));
  name = await build(true);
  drawn = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  for (const dataset of [bare, drawn]) dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function ask(of: Dataset, street: string, zip = '92030', city = 'Cedarville'): Told {
  const address = lineOf({ street, city, state: 'QB', zip });
  const lookup = byLookup(of, address, '');
  assert.deepEqual(byRow(of, { address }), lookup, address);
  return lookup;
}

function each(street: string, precision: string, city: number, zip = '92030'): void {
  for (const of of [drawn, bare]) {
    const { precision: found, levels, refusal } = ask(of, street, zip);
    assert.deepEqual(
      [refusal, found, levels],
      ['', precision, [60_000_000, 0, city, 0]],
      `${street} ${of === drawn ? 'with' : 'without'} boundaries of towns`,
    );
  }
}

const OPTION = 10_000_000;

test('a town whose code has a rate levies it, first row and all, though no county is named', () => {
  each('7 Aspen Ln', 'range', OPTION);
});

test('a town whose code has no rate levies nothing, as one that a record does not name', () => {
  each('107 Aspen Ln', 'range', 0);
  each('207 Aspen Ln', 'range', 0);
  each('7 Dove Ln', 'range', 0, '92020');
});

test('a city that is a town as well levies its rate once', () => {
  each('407 Aspen Ln', 'range', OPTION);
});

test('a city is its own town though borders differ; a village has the one town of its land', () => {
  const fact = (geoid: string, fullName: string) => ({
    geoid,
    name: 'Vale',
    fullName,
    state: 'QB',
    counties: ['92001'],
    independent: false,
  });
  const gazetteer = createGazetteer(
    [],
    [],
    [fact('9200700', 'Vale city'), fact('9200800', 'Vale village')],
    [],
    [fact('9200100025', 'Vale city'), fact('9200100030', 'Vale town')],
  );
  const town = (place: string, ...towns: readonly string[]): string =>
    townOf(place, '92001', new Set(towns), gazetteer);
  assert.equal(town('9200700', '9200100025', '9200100030'), '9200100025');
  assert.equal(town('9200700'), '9200100025');
  assert.equal(town('9200800', '9200100030'), '9200100030');
  assert.equal(town('9200800', '9200100025', '9200100030'), '');
  assert.equal(town('9200800', ''), '');
});

test("a code that is no town's leads nowhere, whatever its type and rate", () => {
  for (const of of [drawn, bare]) {
    assert.notEqual(ask(of, '307 Aspen Ln').precision, 'range');
  }
  const file = told.find((line) => line.startsWith('QBB')) ?? assert.fail(told.join('\n'));
  assert.match(file, /1 with a place that is not known/);
  assert.ok(
    told.some((line) => /QBR\.csv.*without a jurisdiction: 1/.test(line)),
    told.join('\n'),
  );
});

test('a village has the rate of the town around it, where a boundary tells that', () => {
  const found = ask(drawn, '107 Dove Ln', '92020');
  assert.deepEqual([found.precision, found.levels], ['range', [60_000_000, 0, 0, 0]]);
});

test('where file and boundaries have a door in two towns the file is followed, and counted', () => {
  assert.deepEqual(ask(drawn, '5 Heron Ln').levels, [60_000_000, 0, OPTION, 0]);
  const moved = ask(drawn, '5 Finch Ln');
  assert.deepEqual([moved.precision, moved.levels], ['point', [60_000_000, 0, 0, 0]]);
  const engine = engineOf(drawn);
  const outcome = engine.lookup(
    { kind: 'address', address: '5 Finch Ln, Cedarville, QB 92030', options: NO_OPTIONS },
    NOON_MS,
  );
  assert.ok(!isFailure(outcome));
  assert.match(engine.explain(outcome).boundary, /boundary file, which decides/);
  const { coverage } = readManifest(join(releasesDir(FOLDER), name));
  const { stateFile, gaps = [] } = coverage.find(({ state }) => state === 'QB') ?? {};
  assert.deepEqual([stateFile?.doors, stateFile?.doorsElsewhere], [1, 1]);
  assert.ok(
    gaps.some((gap) => gap.includes('1 of 1 doors')),
    gaps.join('\n'),
  );
});
