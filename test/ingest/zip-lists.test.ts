/** Readers of lists of ZIPs by county and by city. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Recipe } from '../../src/ingest/recipe.js';
import { datasetsDir, SourceFiles } from '../../src/ingest/source-files.js';
import {
  readGeonamesZips,
  readZipCities,
  readZipCounties,
} from '../../src/ingest/source/zip-lists.js';
import { loadStates } from '../../src/ingest/state-facts.js';
import { zipCounties } from '../../src/ingest/zip/bind.js';

const FACTS = join(datasetsDir(), 'fixture', 'facts');

test('the readers keep what is a ZIP and a county', () => {
  const geonames =
    'US\t00501\tAlpha\tExa\tXA\tC\t003\t\t\t40.5\t-100.25\t4\n' +
    'US\t09001\tAPO AE\t\t\t\t\t\t\t1\t2\t\n';
  assert.deepEqual(
    readGeonamesZips(geonames, (code) => (code === 'XA' ? '90' : '')),
    [
      { zip: 501, name: 'Alpha', state: 'XA', county: '90003', lat: 40_500_000, lng: -100_250_000 },
      { zip: 9001, name: 'APO', state: 'AE', county: '', lat: 1_000_000, lng: 2_000_000 },
    ],
  );
  assert.deepEqual(readZipCounties('zip,fips,county,state\n00501,90003,C,XA\nx,1,,\n'), [
    { zip: 501, county: '90003' },
  ]);
  assert.deepEqual(readZipCounties('zip\tstate\tcounty_fips\n00501\tXA\t90003\n'), [
    { zip: 501, county: '90003' },
  ]);
  assert.deepEqual(
    readZipCities(
      'state\tlevel\tname\tzip\nXA\tcounty\tC\t00501\nXA\tcity\tElm\t00501\n',
      () => '',
    ),
    [{ zip: 501, state: 'XA', name: 'Elm' }],
  );
});

test('a list of ZIPs without one, or laid out otherwise, is refused by its name', (context) => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-zips-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const recipe = JSON.parse(
    readFileSync(join(datasetsDir(), 'recipes/fixture.json'), 'utf8'),
  ) as Recipe;
  const files = new SourceFiles(dir, dir);
  const points = 'US\t91010\tElmton\t\tQA\t\t001\t\t\t10.13\t-29.85\t4\n';
  const pairs = 'zip,fips\n91010,91001\n';
  const counties = (zips: string, delivered: string): number => {
    writeFileSync(join(dir, 'zips.txt'), zips);
    writeFileSync(join(dir, 'pairs.csv'), delivered);
    const lists = { points: 'zips.txt', delivered: 'pairs.csv' };
    return zipCounties({ ...recipe, zips: lists }, files, loadStates(FACTS)).size;
  };
  assert.equal(counties(points, pairs), 1);
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['', pairs, /^Error: zips\.txt: no row of it is that of a ZIP$/],
    [points.replaceAll('\t', ';'), pairs, /^Error: zips\.txt: no row of it/],
    [points.replace('10.13', ''), pairs, /zips\.txt: its layout .* 91010 lies at "", "-29.85"/],
    [points.replace('10.13', '100.13'), pairs, /91010 lies at "100.13", .* no degrees$/],
    [points, '', /^Error: pairs\.csv: no row of it is that of a ZIP$/],
    [points, pairs.replaceAll(',', ';'), /^Error: pairs\.csv: its layout is another: /],
    [points, '91010,91001\n', /^Error: pairs\.csv: no row of it/],
  ];
  for (const [zips, delivered, reason] of refused) {
    assert.throws(() => counties(zips, delivered), reason);
  }
});

test('relations of ZIP areas: overlaps with land, of counties and of incorporated places', () => {
  const header = (other: string): string =>
    [
      'OID_ZCTA5_20',
      'GEOID_ZCTA5_20',
      'NAMELSAD_ZCTA5_20',
      'AREALAND_ZCTA5_20',
      `OID_${other}_20`,
      `GEOID_${other}_20`,
      `NAMELSAD_${other}_20`,
      `CLASSFP_${other}_20`,
      'AREALAND_PART',
      'AREAWATER_PART',
    ].join('|');
  const counties =
    `\uFEFF${header('COUNTY')}\n1|00501|ZCTA5 00501|9|2|90003|C County|H1|9|0\n` +
    '1|00501|ZCTA5 00501|9|3|90005|D County|H1|0|77\n||||4|90007|E County|H1|5|0\n';
  assert.deepEqual(readZipCounties(counties), [{ zip: 501, county: '90003' }]);
  const places =
    `${header('PLACE')}\n1|00501|ZCTA5 00501|9|2|9000010|San Elm city|C1|9|0\n` +
    '1|00501|ZCTA5 00501|9|3|9000020|Oak CDP|U1|9|0\n';
  assert.deepEqual(
    readZipCities(places, (fips) => (fips === '90' ? 'XA' : '')),
    [{ zip: 501, state: 'XA', name: 'San Elm' }],
  );
  assert.throws(
    () => readZipCounties(counties.replace('|00501|', '|501|')),
    /line 2: no ZIP area: 501/,
  );
  assert.throws(
    () => readZipCounties(counties.replace('AREALAND_PART', 'AREA')),
    /no column AREALAND_PART/,
  );
});
