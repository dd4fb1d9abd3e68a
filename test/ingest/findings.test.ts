/** Each kind of finding, planted in sources or a release that are otherwise sound. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type CoverageState, type Finding, readManifest } from '../../src/dataset/manifest.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildDataset } from '../../src/ingest/build.js';
import { FINDING_KINDS, findingText } from '../../src/ingest/findings/finding.js';
import { findingsOf } from '../../src/ingest/findings/release-faults.js';
import { isComparable } from '../../src/ingest/findings/list-shrunk.js';
import type { DateInt } from '../../src/tax/date.js';
import { situs } from '../support/built-dataset.js';
import { tinyContent } from '../support/tiny-release.js';
import { folder, planted, withBoundary, write, writePeriods } from './planted-release.js';
import { rectangle } from '../support/made-files.js';

const found = new Set<string>();
let sound = '';

async function textsOf(name: string, earlier: string | null = null): Promise<readonly string[]> {
  const manifest = earlier === null ? null : readManifest(join(releasesDir(folder), earlier));
  const findings: readonly Finding[] = await findingsOf(join(releasesDir(folder), name), manifest);
  for (const { kind } of findings) found.add(kind);
  return findings.map(findingText);
}

before(async () => {
  mkdirSync(releasesDir(folder), { recursive: true });
  sound = await buildDataset({
    varDir: folder,
    recipe: 'fixture',
    sources: null,
    layers: [],
    progress: () => undefined,
    report: () => undefined,
  });
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('a sound release has none', async () => {
  assert.deepEqual(await textsOf(sound, sound), []);
  assert.equal('findings' in readManifest(join(releasesDir(folder), sound)), false);
});

test('an overlap within a level', async () => {
  const city = (east: number): string =>
    JSON.stringify({
      type: 'Feature',
      properties: { GEOID: '9100950', NAME: 'New Elm' },
      geometry: rectangle(-29.71, 10.1, east, 10.25),
    });
  assert.deepEqual(
    await textsOf(
      await planted(withBoundary('place'), {
        'own.geojson': city(-29.6),
      }),
    ),
    [
      'error overlap: place 9100100 and 9100950: both hold about 18.3 km², ' +
        '9.1 % of the smaller',
    ],
  );
  // A line that two drew apart by metres is none.
  assert.deepEqual(
    await textsOf(
      await planted(withBoundary('place'), {
        'own.geojson': city(-29.6).replaceAll('-29.71', '-29.70001'),
      }),
    ),
    [],
  );
});

test('a boundary without jurisdiction', async () => {
  assert.deepEqual(
    await textsOf(
      await planted(withBoundary('county'), {
        'own.geojson': JSON.stringify({
          type: 'Feature',
          properties: { GEOID: '91009' },
          geometry: rectangle(-31, 10, -30.5, 10.5),
        }),
      }),
    ),
    ['error boundary-without-jurisdiction: county 91009: no list and no fact names it'],
  );
});

test('a jurisdiction without boundary', async () => {
  const rate = '\t\town\t0.01\t0.01\t2020-01-01\t\tinvented\t2026-01-01\t\n';
  const row = `QA\tcity\t91001\t\tHeath${rate}`;
  const county = `QA\tcounty\t91007\t\tOak${rate}`;
  const name = '91007\tQA\tOak County\tOak\t\tinvented\t20260101\n';
  assert.deepEqual(
    await textsOf(
      await planted((fixture) => fixture, {}, [
        ['rates/QA.tsv', (text) => text + row + county],
        ['county_names.tsv', (text) => text + name],
      ]),
    ),
    [
      'warning jurisdiction-without-boundary: Oak County: county 91007 has a rate and no boundary',
      'warning jurisdiction-without-boundary: Heath, QA: the list names the city, no boundary of it ' +
        'is held',
    ],
  );
});

test('a county outside its state, by its code and by its ZIPs', async () => {
  assert.deepEqual(
    await textsOf(
      await planted((fixture) => fixture, {}, [
        ['county_names.tsv', (text) => text.replace('91003\tQA', '91003\tQB')],
      ]),
    ),
    ["error county-outside-state: Birch County, QB: its code 91003 is none of the state's, 92"],
  );
  const {
    areas: [area],
    zips: [zip],
    ...more
  } = tinyContent(50);
  assert.deepEqual(
    await textsOf(
      await write({
        ...more,
        areas: [{ ...area!, countyFips: '001', countyFullName: 'Ash County' }],
        zips: [
          { ...zip!, state: 'QB' },
          { ...zip!, zip: 91011, state: 'QB' },
        ],
      }),
    ),
    [
      'warning zip-outside-state: ZIP 91010: its post office is in QB, all its parts lie in QA',
      'warning zip-outside-state: ZIP 91011: its post office is in QB, all its parts lie in QA',
      'error county-outside-state: Ash County, QA: none of its ZIPs is of the state, but 2 of QB',
    ],
  );
});

test('totals that no law allows', async () => {
  assert.deepEqual(await textsOf(await writePeriods([10])), []);
  assert.deepEqual(await textsOf(await writePeriods([11])), [
    'error total-out-of-bounds: QA: 16 % on 2020-01-01, more than 15 %',
  ]);
  assert.deepEqual(await textsOf(await writePeriods([2, 2.25], {}, { state: 'TX' })), [
    'error total-out-of-bounds: TX: 2.25 % of local taxes on 2021-01-01, the law allows 2 %',
    'warning zip-outside-state: ZIP 91010: its post office is in QA, all its parts lie in TX',
  ]);
  const level = { source: 'law', asOf: '', until: '', jurisdictions: 0 };
  assert.deepEqual(
    await textsOf(
      await writePeriods([1], {
        coverage: [
          {
            state: 'QA',
            name: 'Aldermark',
            placeBoundaries: false,
            addressPoints: 0,
            gaps: [],
            levels: [
              { ...level, level: 'state', completeness: 'complete' },
              { ...level, level: 'county', completeness: 'not-levied' },
            ],
          },
        ],
      }),
    ),
    ['error total-out-of-bounds: QA: 1 % of local taxes on 2020-01-01, the law allows 0 %'],
  );
});

test('a rate that jumps by more than three points; not over days that are refused', async () => {
  assert.deepEqual(await textsOf(await writePeriods([1, 4])), []);
  assert.deepEqual(await textsOf(await writePeriods([1, 4.1])), [
    'warning rate-jump: QA county ASH (001): 1 % until 2020-12-31, 4.1 % from the day after',
  ]);
  const from = 20200101 as DateInt;
  assert.deepEqual(
    await textsOf(
      await writePeriods(
        [1, 4.1],
        {},
        {
          unknown: [{ level: 'county', from, to: 20201231 as DateInt, reason: 'not held' }],
        },
      ),
    ),
    [],
  );
});

test('a list with a tenth fewer rows than before', async () => {
  const level = { level: 'city', completeness: 'partial', source: 'cities', asOf: '', until: '' };
  const coverage = (jurisdictions: number, doors: number): readonly CoverageState[] => [
    {
      state: 'QA',
      name: 'Aldermark',
      placeBoundaries: false,
      addressPoints: doors,
      gaps: [],
      levels: [{ ...level, jurisdictions }],
    },
  ];
  const earlier = await writePeriods([1], { coverage: coverage(100, 1000) });
  assert.deepEqual(
    await textsOf(await writePeriods([1], { coverage: coverage(91, 901) }), earlier),
    [],
  );
  assert.deepEqual(
    await textsOf(await writePeriods([1], { coverage: coverage(90, 500) }), earlier),
    [
      'warning list-shrunk: QA city list (cities): 90 where there were 100, 10.0 % fewer',
      'error list-shrunk: QA doors: 500 where there were 1000, 50.0 % fewer',
    ],
  );
  const byList = (lists: Readonly<Record<string, number>>): readonly CoverageState[] =>
    coverage(0, 0).map((state) => ({
      ...state,
      levels: [
        {
          ...level,
          jurisdictions: Object.values(lists).reduce((sum, own) => sum + own, 0),
          lists,
        },
      ],
    }));
  const two = await writePeriods([1], { coverage: byList({ cities: 100, resorts: 100 }) });
  assert.deepEqual(
    await textsOf(await writePeriods([1], { coverage: byList({ cities: 90, resorts: 300 }) }), two),
    ['warning list-shrunk: QA city list (cities): 90 where there were 100, 10.0 % fewer'],
    'another list of the level that grew hides nothing',
  );
  assert.deepEqual(
    await textsOf(
      await writePeriods([1], { coverage: byList({ cities: 100, 'resorts-2': 99 }) }),
      two,
    ),
    [],
  );
  assert.deepEqual(
    await textsOf(await writePeriods([1], { coverage: byList({ cities: 140 }) }), two),
    ['error list-shrunk: QA city list (resorts): 0 where there were 100, 100.0 % fewer'],
  );
  const manifest = readManifest(join(releasesDir(folder), earlier));
  assert.equal(isComparable(manifest, { ...manifest, recipe: 'tiny+layer:own' }), true);
  assert.equal(isComparable({ ...manifest, recipe: 'tiny+layer:own' }, manifest), false);
});

test('a table of places that cannot be read is no state without places', async () => {
  const file = 'places/QA.tsv';
  const broken = (change: (text: string) => string): Promise<string> =>
    planted((fixture) => fixture, {}, [[file, change]]);
  await assert.rejects(
    broken((text) => text.replace('9100200', '91002')),
    /facts\/places\/QA\.tsv, line 3: geoid "91002" has not 7 or 10 digits/,
  );
  await assert.rejects(
    broken((text) => text.replace('\t91001 91003\t', '\tGorse County\t')),
    /facts\/places\/QA\.tsv, line 4: counties has Gorse, no county's five digits/,
  );
});

test('every kind was found', () => {
  assert.deepEqual([...found].sort(), Object.keys(FINDING_KINDS).sort());
});

test('verify fails by an error and tells its time; a warning is told', async () => {
  const jump = await writePeriods([1, 4.2]);
  assert.match(situs(folder, ['dataset', 'verify', jump]), /: sound\n$/);
  const wrong = await writePeriods([12]);
  assert.throws(
    () => situs(folder, ['dataset', 'verify', wrong]),
    (error: unknown) => {
      const { status, stdout, stderr } = error as {
        status: number;
        stdout: Buffer;
        stderr: Buffer;
      };
      assert.equal(status, 1);
      assert.match(stdout.toString(), /: 1 errors\n$/);
      assert.match(stderr.toString(), /error total-out-of-bounds[^\n]*\n1 errors, 0 warnings; \d/);
      return true;
    },
  );
  const json = JSON.parse(
    situs(folder, ['dataset', 'verify', jump, '--json']),
  ) as readonly Finding[];
  assert.deepEqual(
    json.map(({ kind }) => kind),
    ['rate-jump'],
  );
  assert.throws(
    () => situs(folder, ['dataset', 'verify', jump, '--against', sound]),
    /list-shrunk/,
  );
});
