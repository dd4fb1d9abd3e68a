/** A boundary file that has ended, and districts that begin to levy after its last day. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { boundaryRow, type Columns } from '../support/boundary-rows.js';
import { buildIn } from '../support/build-in.js';
import { byLookup } from '../support/three-ways.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-ended-'));
const ENDED: Columns = { 2: '20200101', 3: '20230331', 23: '91', 24: '91', 25: '003' };
const RECORDS: readonly Columns[] = [
  { 1: '4', ...ENDED, 18: '91012', 19: '1', 20: '91012', 21: '100' },
  { 1: 'A', ...ENDED, 4: '1', 5: '99', 6: 'B', 8: 'QUILL', 9: 'LN', 16: '91012' },
];
/** Both cover the county of the records, which name neither. */
const MEMBERS = `state	code	scope	county	place	except	from	to	source
QA	OLD	county	91003					invented
QA	NEW	county	91003					invented
`;
const RATES = `state	level	county	place	name	code	basis	sales	use	from	to	source	as_of	note
QA	district			Old roads	OLD	own	0.002	0.002	2020-01-01		invented	2026-01-01	
QA	district			New roads	NEW	own	0.003	0.003	2023-10-01		invented	2026-01-01	
`;
let dataset: Dataset;

before(async () => {
  writeFileSync(join(FOLDER, 'QAB.csv'), RECORDS.map((columns) => boundaryRow(columns)).join('\n'));
  writeFileSync(join(FOLDER, 'members.tsv'), MEMBERS);
  writeFileSync(join(FOLDER, 'rates.tsv'), RATES);
  const { recipe, rates } = readRecipe('fixture');
  const name = await buildIn(FOLDER, {
    recipe: { ...recipe, sst: [{ file: 'QAB.csv', state: 'QA', source: 'invented' }] },
    rates: {
      ...rates,
      members: [...rates.members, 'members.tsv'],
      lists: [...rates.lists, { reader: 'facts', path: 'rates.tsv' }],
    },
  });
  dataset = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

const [STATE, BIRCH, BIRCH_THEN, NEW] = [50_000_000, 7_500_000, 5_000_000, 3_000_000];

for (const [address, precision] of [
  ['1 Nowhere Rd, Gorse, QA 91012-0050', 'zip9'],
  ['5 Quill Ln, Gorse, QA 91012', 'range'],
] as const) {
  test(`${precision}: districts that began after the file's last day count, older ones do not`, () => {
    const today = byLookup(dataset, address, '');
    assert.deepEqual([today.precision, today.levels], [precision, [STATE, BIRCH, 0, NEW]]);
    const between = byLookup(dataset, address, '202306');
    assert.deepEqual([between.precision, between.levels], [precision, [STATE, BIRCH_THEN, 0, 0]]);
  });
}
