/**
 * `situs dataset update --all` with the files of publishers that are held, and Washington's, Texas'
 * and Vermont's in the published layouts, from a server that has these alone: what it lacks is
 * told. And the commands of the operator's page.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readManifest } from '../../src/dataset/manifest.js';
import { releasesDir } from '../../src/dataset/release.js';
import { datasetsDir, packageRoot } from '../../src/ingest/source-files.js';
import { publishersFiles } from '../support/built-dataset.js';
import { boundaryRow } from '../support/boundary-rows.js';
import { zipOf } from '../support/made-files.js';
import { DOORS, LISTING, rateFile, UpdateWorld } from '../support/update-world.js';

const BOUNDARIES = LISTING.replace('Rates', 'Boundary');
const STATES = ['GA', 'MN', 'TX', 'VT', 'WA', 'WI'];
/** Washington's Department of Revenue: a page of links into folders by month. */
const WA_PAGE = '/dor.wa.gov/taxes-rates/sales-use-tax-rates/downloadable-database';
const WA_FILES = '/sites/default/files/2026-09';

const world = new UpdateWorld();
const { publishers } = world;
const shared = publishersFiles();

before(() => world.start());
after(() => world.stop());

function jsonOf(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(datasetsDir(), 'recipes', name), 'utf8')) as Record<
    string,
    unknown
  >;
}

/** Invented rates of a city and of a location that no list has, whose boundary file names it. */
function publishWashington(): void {
  const rates = 'Rates_26Q4.zip';
  publishers.put(WA_PAGE, `<a href="${WA_FILES}/${rates}">Rates</a>`);
  publishers.put(
    `/dor.wa.gov${WA_FILES}/${rates}`,
    zipOf([
      {
        name: 'Rates.csv',
        data:
          'Name,Code,State,Local,RTA,Rate,Effective Date,Expiration Date\n' +
          'RITZVILLE,0104,.065,.015,,.08,20261001,20261231\n' +
          'NOWHERE,9901,.065,.01,.005,.08,20261001,20261231\n',
      },
    ]),
  );
  publishers.put(
    `${BOUNDARIES}WAB2026Q4AUG27.zip`,
    zipOf([
      {
        name: 'WAB.csv',
        data: boundaryRow({
          1: 'A',
          2: '20261001',
          3: '99991231',
          4: '1',
          5: '99',
          6: 'B',
          8: 'QUILL',
          9: 'LN',
          16: '98101',
          23: '53',
          24: '53',
          30: 'ST',
          31: 'L9901',
          32: '45',
        }),
      },
    ]),
  );
}

/** Texas' list of one county, and files by county that somebody put into their folder. */
function publishTexas(varDir: string): void {
  const none = '\tn/a'.repeat(3);
  publishers.put(
    DOORS,
    '1\t20264\t202610\t2026 - 4th\t0.0625\t0\t1\t\n' +
      `Hill Co\tn/a\tn/a\tHill Co\t4109000\t0.005${none}${none}\n`,
  );
  const fixture = join(packageRoot(), 'test/ingest/published/tx-addresses.csv');
  const [header = '', , , row = ''] = readFileSync(fixture, 'utf8').split('\n');
  const own = row.replace('4002000', '4109000').replace('91012', '76621').replace('QA', 'TX');
  const folder = join(varDir, 'sources/tx-addresses');
  mkdirSync(folder, { recursive: true });
  for (const [county, street] of [
    ['217', 'QUILL'],
    ['035', 'HERON'],
  ] as const) {
    writeFileSync(
      join(folder, `TX-County-FIPS-${county}-2026Q4.zip`),
      zipOf([{ name: 'TX.csv', data: `${header}\n${own.replace('QUILL', street)}\n` }]),
    );
  }
}

/** Vermont's files: a town with the local option, one without, and a code that no town has. */
function publishVermont(): void {
  const rates = [
    '45,50,0.06,0.06,0,0,20031001,29991231',
    '01,07900,0.01,0.01,0,0,20190401,29991231',
    '02,00520,0.01,0.01,0,0,20220701,29991231',
  ]
    .map((row) => `50,${row}\n`)
    .join('');
  publishers.put(
    `${LISTING}VTR2026Q4AUG20.zip`,
    zipOf([{ name: 'VTR.csv', data: `\uFEFF${rates}` }]),
  );
  const rows = [
    ['1', '07900'],
    ['101', '00325'],
    ['201', '00520'],
  ].map(([low = '', place = '']) =>
    boundaryRow({
      1: 'A',
      2: '20261001',
      3: '29991231',
      4: low,
      5: String(Number(low) + 98),
      6: 'B',
      8: 'QUILL',
      9: 'LN',
      16: '05301',
      23: '50',
      24: '50',
      26: place,
    }),
  );
  publishers.put(
    `${BOUNDARIES}VTB2026Q4AUG20.zip`,
    zipOf([{ name: 'VTB.csv', data: `\uFEFF${rows.join('\n')}\n` }]),
  );
}

/** The recipe `default` without boundaries, of six states. */
function writeRecipe(): string {
  const path = join(world.dir, 'six.json');
  const rates = jsonOf('rates-default.json');
  const lists = rates['lists'] as readonly { readonly path: string }[];
  const kept = lists.filter(
    ({ path: own }) =>
      own.startsWith('catalogue:') || STATES.some((state) => own === `facts/rates/${state}.tsv`),
  );
  writeFileSync(join(world.dir, 'six-rates.json'), JSON.stringify({ ...rates, lists: kept }));
  writeFileSync(
    path,
    JSON.stringify({
      ...jsonOf('default.json'),
      name: 'six',
      rates: 'six-rates.json',
      boundaries: [],
    }),
  );
  return path;
}

const HELD = { skip: shared === null ? "no publishers' files beside the repository" : false };

test('--all: what publishers have is read as it comes, what they lack is told', HELD, async () => {
  const file = (name: string): Buffer => readFileSync(join(shared ?? '', 'sst-files', name));
  publishers.clear();
  const names = ['GAR2026Q2FEB19.csv', 'MNR2026Q2FEB18.csv', 'WIR2026Q2FEB18.csv'];
  publishers.list(LISTING, ...names, 'VTR2026Q4AUG20.zip');
  for (const name of names) publishers.put(`${LISTING}${name}`, file(name));
  publishers.list(BOUNDARIES, 'MNB2026Q2FEB18.csv', 'VTB2026Q4AUG20.zip', 'WAB2026Q4AUG27.zip');
  publishWashington();
  publishVermont();
  publishers.put(`${BOUNDARIES}MNB2026Q2FEB18.csv`, file('MNB2026Q2FEB18-sample.csv'));
  const varDir = join(world.dir, 'all');
  publishTexas(varDir);
  const { code, out, err } = await world.run(
    [
      'dataset',
      'update',
      '--all',
      '--yes',
      '--quiet',
      '--recipe',
      writeRecipe(),
      '--mirror',
      publishers.mirror,
    ],
    varDir,
  );
  assert.equal(code, 3, err);
  for (const name of names) assert.ok(out.includes(`fetched   sst-rates/${name}\n`), out);
  assert.ok(out.includes('fetched   sst-boundaries/MNB2026Q2FEB18.csv\n'));
  assert.match(err, /^situs: tiger-place\/VT: .*404.*; visit https:\/\/www2\.census\.gov/m);
  const name = /(\S+) answers\n$/.exec(out)?.[1] ?? assert.fail(out);
  const { coverage, files, counts } = readManifest(join(releasesDir(varDir), name));
  const county = coverage
    .find(({ state }) => state === 'WI')
    ?.levels.find(({ level }) => level === 'county');
  assert.deepEqual(
    [county?.source, county?.asOf, county?.until, county?.jurisdictions],
    ['sst-rates/WI', '2026-02-18', '2026-06-30', 72],
  );
  assert.ok(files.some(({ path }) => path === 'sst-boundaries/MNB2026Q2FEB18.csv'));
  assert.ok((counts['streets'] ?? 0) > 10);
  assert.ok(out.includes('fetched   sst-boundaries/WAB2026Q4AUG27.zip\n'), out);
  assert.ok(out.includes('held      tx-addresses\n'), out);
  assert.deepEqual(
    ['TX', 'VT', 'WA'].map(
      (code) => coverage.find(({ state }) => state === code)?.stateFile?.ranges,
    ),
    [2, 2, 1],
  );
});

test("the commands of the operator's page work", async () => {
  const page = readFileSync(join(packageRoot(), 'docs/datasets.md'), 'utf8');
  const [, block = ''] = /## Keeping up to date\n\n```sh\n([^`]*)```/.exec(page) ?? [];
  const commands = block
    .trim()
    .split('\n')
    .map((line) => line.replace(/^npx situs /, '').split(' '));
  assert.equal(commands.length, 3);
  world.publishers.clear();
  world.publishFirst();
  const active: (string | null)[] = [];
  for (const words of commands) {
    const more = words[1] === 'update' ? world.words('--yes', '--quiet').slice(2) : [];
    const { code, err } = await world.run([...words, ...more]);
    assert.ok(code === 0 || code === 3, `${words.join(' ')}: ${code} ${err}`);
    active.push(world.active);
    world.publishers.put(`${LISTING}MNR2026Q4AUG18.zip`, rateFile('0.06', '0.0125'));
    world.putDoors(5);
  }
  const [first, second, third] = active;
  assert.notEqual(first, second);
  assert.equal(third, first);
});
