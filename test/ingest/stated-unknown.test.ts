/** Boundary files of which some records lead to no tax area, or to no range: what is certain then. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { buildIn } from '../support/build-in.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { boundaryRow, type Columns } from '../support/boundary-rows.js';
import { byLookup } from '../support/three-ways.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-unknown-'));
const HELD: Columns = { 2: '20240101', 3: '99991231', 23: '91', 24: '91', 25: '003' };
const GORSE: Columns = { 26: '00300', 27: 'C1' };
/** A county that there is not. */
const NOWHERE: Columns = { 25: '999' };
const LATER: Columns = { 2: '20250701' };

function whole(zip: string, more: Columns = {}): Columns {
  return { 1: 'Z', ...HELD, 18: zip, 20: zip, ...more };
}

function addOns(zip: string, low: string, high: string, more: Columns = {}): Columns {
  return { 1: '4', ...HELD, 18: zip, 19: low, 20: zip, 21: high, ...more };
}

function street(zip: string, low: string, high: string, more: Columns = {}): Columns {
  return { 1: 'A', ...HELD, 4: low, 5: high, 6: 'B', 8: 'SAGE', 9: 'RD', 16: zip, ...more };
}

/** ZIPs that no list has, so that the file alone decides. */
const ROWS: readonly Columns[] = [
  // All that is stated agrees, but for what is meant by one record.
  whole('91061'),
  addOns('91061', '1', '9'),
  whole('91062'),
  addOns('91062', '1', '9', NOWHERE),
  whole('91063'),
  street('91063', '1', '9', NOWHERE),
  // Doors that are no range of whole numbers, post office boxes, and add-ons the wrong way round.
  whole('91064'),
  street('91064', '12A', '14A', GORSE),
  whole('91065'),
  street('91065', '1', '99', { ...GORSE, 8: 'PO BOX', 9: '' }),
  whole('91066'),
  addOns('91066', '90', '10', GORSE),
  // The same where they agree.
  whole('91067'),
  street('91067', '12A', '14A'),
  addOns('91067', '90', '10'),
  // What is stated later leads nowhere: what was stated before does not hold either.
  addOns('91068', '1', '100', GORSE),
  addOns('91068', '50', '60', { ...NOWHERE, ...LATER }),
  whole('91069'),
  whole('91069', { ...NOWHERE, ...LATER }),
  street('91073', '1', '99', GORSE),
  street('91073', '41', '49', { ...NOWHERE, ...LATER }),
  street('91073', '101', '199', GORSE),
  // Even numbers stated of the odd side, and a block of which one end is.
  street('91071', '100', '198', { 6: 'O' }),
  street('91072', '100', '199', { 6: 'O' }),
  // A county of zeros is none, and a municipality of zeros is none.
  addOns('91070', '1', '9', { 25: '000' }),
  addOns('91070', '10', '19', { 26: '00000' }),
];
let dataset: Dataset;

before(async () => {
  writeFileSync(join(FOLDER, 'QAB.csv'), `${ROWS.map((row) => boundaryRow(row)).join('\n')}\n`);
  const { recipe, rates } = readRecipe('fixture');
  const name = await buildIn(FOLDER, {
    recipe: {
      ...recipe,
      sst: [{ file: 'QAB.csv', state: 'QA', source: 'invented', tolerance: '60' }],
    },
    rates,
  });
  dataset = openDataset(join(releasesDir(FOLDER), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

/** "postal", "zip9" and so on; "" where it is refused. */
function precisionOf(zip: string, month = ''): string {
  const found = byLookup(dataset, `77 Thistle Way, QA ${zip}`, month);
  return found.refusal === '' ? found.precision : '';
}

test('a ZIP is not certain where a record of it leads to no tax area', () => {
  assert.equal(precisionOf('91061'), 'postal');
  assert.equal(precisionOf('91062'), '');
  assert.equal(precisionOf('91063'), '');
});

test('what is stated of doors that are no range of numbers counts for their ZIP', () => {
  assert.deepEqual(
    ['91064', '91065', '91066'].map((zip) => precisionOf(zip)),
    ['', '', ''],
  );
  assert.equal(precisionOf('91067'), 'postal');
});

test('where the latest record leads nowhere the one before it does not hold', () => {
  assert.equal(precisionOf('91068-0049'), 'zip9');
  assert.equal(precisionOf('91068-0055'), '');
  assert.equal(precisionOf('91068-0055', '202506'), 'zip9');
  assert.equal(precisionOf('91069'), '');
  assert.equal(precisionOf('91069', '202506'), 'postal');
});

test('where the latest range leads nowhere the one before it does not hold', () => {
  const range = (number: string): string =>
    byLookup(dataset, `${number} Sage Rd, QA 91073`, '').precision;
  assert.equal(range('145'), 'range');
  assert.notEqual(range('45'), 'range');
});

test('of a range whose ends are on the other side nobody can tell which side is meant', () => {
  const range = (number: string, zip: string): string =>
    byLookup(dataset, `${number} Sage Rd, QA ${zip}`, '').precision;
  assert.notEqual(range('101', '91071'), 'range');
  assert.notEqual(range('102', '91071'), 'range');
  assert.equal(range('101', '91072'), 'range');
  assert.notEqual(range('102', '91072'), 'range');
});

test('a municipality of zeros leads to no tax area, nor does a county of zeros', () => {
  assert.equal(precisionOf('91070-0005'), '');
  assert.equal(precisionOf('91070-0015'), '');
});
