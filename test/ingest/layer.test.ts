/** Layers over a recipe: what they answer, what they replace, and that they go again. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { readManifest } from '../../src/dataset/manifest.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildDataset, type BuildOptions } from '../../src/ingest/build.js';
import { readLayerTable } from '../../src/ingest/layer/table.js';
import { LayerFaults } from '../../src/ingest/layer/checked-cells.js';
import { workbookDay } from '../../src/ingest/layer/layer-files.js';
import type { RatesRecipe, Recipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { askAddress, askQuery } from '../support/ask-dataset.js';
import { rectangle } from '../support/made-files.js';

/** Every level, a boundary, ZIPs, counties, a product rule; Coralmark's rates nobody else holds. */
const ACME = `state,level,name,county,rate,from,until,code,boundary,zips,source,as_of,tic,taxable
QC,county,Elder County,,4.5,2026-01-01,,,,,"Ordinance 12, Elder County",2026-10-01,,
QC,city,*,Elder,0,1/1/2026,6/30/2026,,,,Ordinance 12,2026-10-01,,
QC,city,*,Elder,1.00%,7/1/2026,,,,,Ordinance 13,2026-10-01,,
QA,county,Ash County,,1.25,2026-07-01,2026-11-30,,,,Notice 5,2026-10-01,,
QB,district,Cedar Fire,,0.25%,2026-01-01,,CF,,92030,Fire board,2026-10-01,,
QA,district,Birch Park,,0.5,2026-01-01,,,park.geojson,,Park board,2026-10-01,,
QD,district,Dune Roads,Fir County,0.75,2026-01-01,,,,,Roads,2026-10-01,,
QA,city,New Gorse,,2,2026-01-01,,9100950,gorse.geojson,,Charter,2026-10-01,,
QA,,,,,2026-01-01,,,,,Bulletin 9,2026-10-01,20010,Y
`;

const folder = mkdtempSync(join(tmpdir(), 'situs-layer-'));
const acme = join(folder, 'acme.csv');
const told: string[] = [];
let base = '';
let name = '';
let dataset: Dataset;

async function build(
  own: readonly string[],
  report: (line: string) => void = () => undefined,
  recipe: BuildOptions['recipe'] = 'fixture',
): Promise<string> {
  return buildDataset({
    varDir: folder,
    recipe,
    sources: folder,
    layers: [],
    own,
    report,
    progress: () => undefined,
  });
}

before(async () => {
  mkdirSync(releasesDir(folder), { recursive: true });
  writeFileSync(acme, ACME);
  writeFileSync(join(folder, 'park.geojson'), JSON.stringify(rectangle(-29.3, 10.1, -29.2, 10.22)));
  writeFileSync(
    join(folder, 'gorse.geojson'),
    JSON.stringify({
      type: 'Feature',
      properties: { code: '9100950' },
      geometry: rectangle(-29.2, 10.4, -29.1, 10.45),
    }),
  );
  base = await build([]);
  name = await build([acme], (line) => told.push(line));
  dataset = openDataset(join(releasesDir(folder), name));
});
after(() => {
  dataset.close();
  rmSync(folder, { recursive: true, force: true });
});

function at(
  lat: number,
  lng: number,
  more = '',
  of = dataset,
): readonly [code: number, total: number] {
  const { code, total } = askQuery(of, `lat=${lat}&lng=${lng}${more}`);
  return [code, total];
}

test('a county that the base does not know is refused before and answered after', () => {
  const before = openDataset(join(releasesDir(folder), base));
  assert.equal(at(10.3, 179.8, '', before)[0], 110);
  before.close();
  assert.deepEqual(at(10.3, 179.8), [100, 0.105]);
  assert.deepEqual(at(10.15, 179.97), [100, 0.115]);
});

test('rates hold on their days, the base on the others', () => {
  assert.deepEqual(at(10.15, 179.97, '&historical=202603'), [100, 0.105]);
  assert.equal(at(10.3, 179.8, '&historical=202512')[0], 110, 'nobody knows the days before');
  assert.deepEqual(at(10.05, -29.95), [100, 0.0625]);
  assert.deepEqual(at(10.05, -29.95, '&historical=202606'), [100, 0.06]);
});

/** The fixture's recipe with lists that are known from the day of their first row on. */
function currentRecipe(): BuildOptions['recipe'] {
  const json = (file: string): unknown =>
    JSON.parse(readFileSync(join(datasetsDir(), 'recipes', file), 'utf8'));
  const marks = readFileSync(join(datasetsDir(), 'fixture/facts/completeness.tsv'), 'utf8');
  writeFileSync(join(folder, 'marks.tsv'), marks.replaceAll('\tfull\t', '\tcurrent\t'));
  return {
    recipe: json('fixture.json') as Recipe,
    rates: { ...(json('rates-fixture.json') as RatesRecipe), completeness: 'marks.tsv' },
  };
}

test('before a layer begins the base holds, also where it has no row', async () => {
  const table = join(folder, 'soon.csv');
  const rows = ['QA,district,Roads,Birch County,0.5', 'QA,city,Fernville,,2'];
  const lines = rows.map((row) => `${row},2026-09-01,,,,,x,2026-10-01,,`);
  writeFileSync(table, `${HEAD}${lines.join('\n')}\n`);
  const release = await build([table], undefined, currentRecipe());
  const soon = openDataset(join(releasesDir(folder), release));
  for (const [lat, lng, earlier, later] of [
    [10.3, -29.25, 0.0575, 0.0625],
    [10.18, -29.8, 0.065, 0.085],
  ] as const) {
    assert.deepEqual(at(lat, lng, '&historical=202608', soon), [100, earlier]);
    assert.deepEqual(at(lat, lng, '&historical=202609', soon), [100, later]);
  }
  soon.close();
});

test('a district holds where it is drawn, also for doors and in rows of a ZIP', () => {
  assert.deepEqual(at(10.15, -29.25), [100, 0.0625]);
  assert.deepEqual(at(10.3, -29.25), [100, 0.0575]);
  const door = askAddress(dataset, '210 County Highway 12, Birchwood, QA 91020');
  assert.equal(door.precision, 'point');
  assert.deepEqual(
    door.rows.map(({ jurName }) => jurName),
    ['QA', 'BIRCH', 'BIRCH PARK'],
  );
  const { results } = JSON.parse(askQuery(dataset, 'postalcode=91020').text) as {
    results?: readonly { taxSales: number }[];
  };
  assert.ok(results === undefined || results.length >= 2, 'the ZIP lies on both sides');
});

test('a district by ZIPs holds for addresses with them; a mere spot is refused', () => {
  const { rows } = askAddress(dataset, '5 Fire Road, Cedarville, QB 92030');
  assert.equal(rows.at(-1)?.jurName, 'CEDAR FIRE');
  const [code] = at(10.8, -29.6);
  assert.equal(code, 110);
  const { text } = askQuery(dataset, 'lat=10.8&lng=-29.6');
  assert.match(text, /the district Cedar Fire contains this spot/);
});

test('a district by its county, and a city that the base does not know', () => {
  assert.deepEqual(at(10.25, -28.8), [100, 0.07]);
  assert.deepEqual(
    askQuery(dataset, 'lat=10.42&lng=-29.15').rows.map(({ jurName }) => jurName),
    ['QA', 'BIRCH', 'NEW GORSE'],
  );
});

test('explanations name the layer, its day and its source', () => {
  const { explain } = JSON.parse(askQuery(dataset, 'lat=10.3&lng=179.8&explain=true').text) as {
    explain: { areas: { rows: { level: string; source: object }[] }[] };
  };
  assert.deepEqual(explain.areas[0]!.rows.find(({ level }) => level === 'county')?.source, {
    name: 'layer:acme',
    asOf: '2026-10-01',
    citation: 'Ordinance 12, Elder County',
  });
});

test('product rules of a layer end those of the base on their days', () => {
  const rows = dataset.document('products') as readonly Record<string, string>[];
  const own = rows
    .filter(({ tic, state }) => tic === '20010' && state === 'QA')
    .map(({ taxable, effective_to: to = '', source }) => [taxable, to, source]);
  assert.deepEqual(own, [
    ['N', '20251231', 'invented geography for tests'],
    ['Y', '', 'layer:acme'],
  ]);
});

test('what was replaced is told, and the layer is in manifest and id', () => {
  const lines = told.filter((line) => line.startsWith('layer'));
  const has = (line: string): void =>
    assert.ok(lines.includes(`layer acme: acme.csv ${line}`), lines.join('\n'));
  has(
    'line 5: Ash County, QA 1.25 % from 2026-07-01 until 2026-11-30 replaces 1 % from ' +
      '2020-01-01 of invented',
  );
  has('line 10: QA 20010 taxable Y from 2026-01-01 replaces clothing (taxable N)');
  const { recipe, layers, files, coverage } = readManifest(join(releasesDir(folder), name));
  assert.equal(recipe, 'fixture+layer:acme');
  assert.ok(layers.includes('layer:acme@2026-10-01'));
  const own = files
    .map(({ path }) => path)
    .filter((path) => path.startsWith('layer:'))
    .sort();
  assert.deepEqual(own, [
    'layer:acme/acme.csv',
    'layer:acme/gorse.geojson',
    'layer:acme/park.geojson',
  ]);
  const { levels } = coverage.find(({ state }) => state === 'QC')!;
  assert.equal(levels.find(({ level }) => level === 'county')?.completeness, 'partial');
});

test('without it the base is back exactly; another rate is another id', async () => {
  assert.equal(await build([]), base);
  assert.equal(await build([acme]), name);
  const other = join(folder, 'other', 'acme.csv');
  mkdirSync(join(folder, 'other'));
  writeFileSync(other, ACME.split('\n').slice(0, 2).join('\n'));
  assert.notEqual(await build([other]), name);
});

const HEAD = ACME.slice(0, ACME.indexOf('\n') + 1);

test('rows that cannot be told are refused with line, column and reason', async () => {
  const first = '2026-01-01,,,,,x,2026-10-01,,';
  const cases: readonly (readonly [row: string, fault: RegExp])[] = [
    [`QC,county,Elder County,,0.045,${first}`, /line 2, column rate: "0.045" may be a fraction/],
    ['QC,county,Elder,,4,5.1.2026,,,,,x,2026-10-01,,', /column from: "5.1.2026" is no day/],
    [`QC,county,Elder,,31,${first}`, /column rate: "31" is no percentage/],
    ['QC,county,Elder,,4,2026-01-01,2025-01-01,,,,x,2026-10-01,,', /column until: it is before/],
    ['QC,county,Elder,,4,2026-01-01,,,,,,2026-10-01,,', /column source: it is empty/],
    [`QC,parish,Elder,,4,${first}`, /column level: "parish" is none of: state/],
    [
      `QC,county,Elden County,,4,${first}`,
      /column name: QC has no "Elden County".*did you mean "Elder County"/,
    ],
    [`ZZ,county,Elder,,4,${first}`, /column state: "ZZ" is no state/],
    [`QC,city,*,,4,${first}`, /column county: every other city/],
    [
      'QC,city,Elmton,,4,2026-01-01,,9100100,,,x,2026-10-01,,',
      /column code: 9100100 is no city of QC, whose codes begin with 93/,
    ],
    ['QA,city,New,,4,2026-01-01,,,no.geojson,,x,2026-10-01,,', /column code: "" is no code of a/],
    ['QA,district,P,,4,2026-01-01,,,no.geojson,,x,2026-10-01,,', /boundary: there is no file/],
    [`QA,district,Park,,4,${first}`, /nobody knows where the district Park is/],
    ['QA,district,P,,4,2026-01-01,,,,92030,x,2026-10-01,,', /the ZIP 92030 is none of QA/],
    ['QA,district,P,,4,2026-01-01,,,,9203,x,2026-10-01,,', /column zips: "9203" is no ZIP/],
    ['QA,,,,,2026-01-01,,,,,x,2026-10-01,20011,Y', /tic: the catalogue has no code 20011/],
    ['QC,county,Elder,,4,2026-01-01,,,,,x,2126-10-01,,', /line 2, column as_of: it is to come/],
    [
      `QC,county,Elder,,4,${first}\nQC,county,Elder,,5,2026-06-01,,,,,x,2026-10-01,,`,
      /line 3, column from: line 2 has a rate of Elder County, QC for the same days/,
    ],
  ];
  const bad = join(folder, 'bad.csv');
  for (const [row, fault] of cases) {
    writeFileSync(bad, `${HEAD}${row}\n`);
    await assert.rejects(build([bad]), fault, row);
  }
  const faults = new LayerFaults('a.csv');
  assert.throws(
    () => readLayerTable('state,level,name,rates,from,source\n', faults),
    /line 1: unknown column "rates"; did you mean "rate"\?[\s\S]*it has no column rate\n/,
  );
  assert.equal(workbookDay('46023'), '2026-01-01');
});
