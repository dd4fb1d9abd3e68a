/** Boundary files of invented states, from the file to answers three ways. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { readManifest } from '../../src/dataset/manifest.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';
import { isFailure } from '../../src/failure.js';
import { buildDataset } from '../../src/ingest/build.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { engineOf } from '../support/engine-of.js';
import { ALDERMARK_FALLEN, aldermarkFile, brookmarkFile } from '../support/boundary-rows.js';
import {
  byLookup,
  byMerchantCart,
  lineOf,
  MERCHANT_DIGITS,
  NOON_MS,
  staleWays,
  type Told,
  type Written,
} from '../support/three-ways.js';
import { byLookupAndRow, assertAgrees } from '../support/ways-agree.js';
import { zipOf } from '../support/made-files.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-stated-'));
const told: string[] = [];
let name = '';
let dataset: Dataset;

async function build(varDir: string, workers: number, turned = false): Promise<string> {
  const { recipe, rates } = readRecipe('fixture');
  const sst = ['QA', 'QB'].map((state) => ({
    file: `${state}B2026Q1.zip`,
    state,
    source: 'invented',
  }));
  told.length = 0;
  return buildDataset({
    varDir: join(FOLDER, varDir),
    sources: FOLDER,
    layers: [],
    workers,
    progress: () => undefined,
    recipe: { recipe: { ...recipe, sst: turned ? sst.toReversed() : sst }, rates },
    report: (line) => told.push(line),
  });
}

before(async () => {
  for (const [state, data] of [
    ['QA', aldermarkFile()],
    ['QB', brookmarkFile()],
  ] as const) {
    writeFileSync(join(FOLDER, `${state}B2026Q1.zip`), zipOf([{ name: `${state}B.csv`, data }]));
  }
  name = await build('one', 1);
  dataset = openDataset(join(releasesDir(join(FOLDER, 'one')), name));
});

after(() => {
  dataset.close();
  rmSync(FOLDER, { recursive: true });
});

function at(street: string, city: string, zip: string, state = 'QA'): Written {
  return { street, city, state, zip };
}

/** The same of a lookup, a row and a cart; `month` is YYYYMM, "" for today. */
function ask(place: Written, month = ''): Told {
  const lookup = byLookupAndRow(dataset, place, month);
  const seller = at('1 Border Ave', 'Elmton', '91011');
  const cart = byMerchantCart(dataset, seller, place, 10_000, month);
  if (lookup.refusal === '') assertAgrees(cart, lookup, 10_000, MERCHANT_DIGITS, lineOf(place));
  return lookup;
}

const STATE = 50_000_000;
const [ASH, BIRCH, ELMTON, GORSE, TRANSIT] = [
  10_000_000, 7_500_000, 12_500_000, 3_750_000, 5_000_000,
];

function expect(place: Written, precision: string, levels: readonly number[], month = ''): void {
  const found = ask(place, month);
  assert.deepEqual(
    [found.refusal, found.precision, found.levels],
    ['', precision, [STATE, ...levels]],
    `${lineOf(place)} ${month}`,
  );
}

function outcomeOf(address: string, nowMs = NOON_MS) {
  return engineOf(dataset).lookup({ kind: 'address', address, options: NO_OPTIONS }, nowMs);
}

function explained(address: string): string {
  const outcome = outcomeOf(address);
  assert.ok(!isFailure(outcome), address);
  return engineOf(dataset).explain(outcome).boundary;
}

test("a door is where the state's file has it, on the days that it says so", () => {
  expect(at('21 Border Ave', 'Elmton', '91011'), 'point', [ASH, ELMTON, 0]);
  expect(at('21 Border Ave', 'Elmton', '91011'), 'point', [ASH, 0, 0], '202312');
  expect(at('22 Border Ave', 'Elmton', '91011'), 'point', [ASH, ELMTON, TRANSIT], '202506');
  expect(at('22 Border Ave', 'Elmton', '91011'), 'point', [ASH, 0, TRANSIT]);
  assert.match(explained('21 Border Ave, Elmton, QA 91011'), /boundary file, which decides/);
  assert.equal(explained('22 Border Ave, Elmton, QA 91011'), 'address point');
});

test('streets without doors have ranges, the one stated last before the one before it', () => {
  expect(at('12 Quill Ln', 'Gorse', '91012'), 'range', [BIRCH, GORSE, 0]);
  expect(at('120 Quill Ln', 'Gorse', '91012'), 'range', [BIRCH, GORSE, 0]);
  expect(at('120 Quill Ln', 'Gorse', '91012'), 'range', [BIRCH, 0, 0], '202506');
  expect(at('150 Quill Ln', 'Gorse', '91012'), 'range', [BIRCH, 0, 0]);
  expect(at('3 N Wren Rd W', 'Birchwood', '91020'), 'range', [BIRCH, 0, 0]);
  assert.notEqual(ask(at('12 Quill Ln', 'Gorse', '91012'), '202312').precision, 'range');
  assert.equal(
    explained('12 Quill Ln, Gorse, QA 91012'),
    "address range of the state's boundary file",
  );
});

test('of two towns of a ZIP each has its own street, whatever was stated later', () => {
  expect(at('3 Fennel Rd', 'Gorse', '91012'), 'range', [BIRCH, GORSE, 0]);
  expect(at('3 Fennel Rd', 'Birchwood', '91012'), 'range', [BIRCH, 0, 0]);
  assert.match(explained('3 Fennel Rd, Birchwood, QA 91012'), /boundary file/);
  assert.ok(isFailure(outcomeOf('3 Fennel Rd, QA 91012')));
});

test('what is stated of a street in another town moves no door', () => {
  assert.match(ask(at('38 Border Ave', 'Elmton', '91011')).refusal, /taxed differently/);
  expect(at('38 Border Ave', 'Gorse', '91011'), 'range', [ASH, ELMTON, 0]);
  expect(at('36 Border Ave', 'Elmton', '91011'), 'point', [ASH, 0, TRANSIT]);
});

test('a range without a side has that of its ends', () => {
  expect(at('3 Sage Rd', 'Gorse', '91012'), 'range', [BIRCH, GORSE, 0]);
  assert.notEqual(ask(at('4 Sage Rd', 'Gorse', '91012')).precision, 'range');
});

test('units that lie elsewhere make their building refused, others do not', () => {
  assert.match(ask(at('5 Tessel Ct', 'Gorse', '91012')).refusal, /several places/);
  expect(at('7 Tessel Ct', 'Gorse', '91012'), 'range', [BIRCH, 0, 0]);
  expect(at('9 Tessel Ct', 'Gorse', '91012'), 'range', [BIRCH, 0, 0]);
});

test("where the state's own tax does not apply it is said that this is not known", () => {
  const found = ask(at('3 Mesa Trl', 'Elmton', '91010'));
  assert.deepEqual([found.code, found.precision], [110, 'none']);
  assert.match(found.refusal, /its own tax does not apply here/);
});

test('a ZIP+4 that is sent decides before the street and the ZIP, and is kept', () => {
  const sent = (addOn: string): Written => at('1 Nowhere Rd', 'Gorse', `91012-${addOn}`);
  expect(sent('0042'), 'zip9', [BIRCH, GORSE, 0]);
  expect(sent('0101'), 'zip9', [BIRCH, 0, 0]);
  expect(sent('0155'), 'zip9', [BIRCH, GORSE, 0]);
  expect(sent('0155'), 'zip9', [BIRCH, 0, 0], '202506');
  expect(at('1 Nowhere Rd', 'Elmton', '91011-9999'), 'zip9', [BIRCH, 0, 0]);
  assert.notEqual(ask(sent('0042'), '202312').precision, 'zip9');
  assert.notEqual(ask(sent('9000')).precision, 'zip9');
  const outcome = outcomeOf(lineOf(sent('0042')));
  assert.ok(!isFailure(outcome) && outcome.kind === 'situs');
  assert.equal(outcome.situs.postalCode, '91012-0042');
  const box = byMerchantCart(
    dataset,
    at('1 Border Ave', 'Elmton', '91011'),
    at('PO Box 7', 'Gorse', '91012-0042'),
    10_000,
    '',
  );
  assert.deepEqual([box.precision, box.levels], ['zip9', [STATE, BIRCH, GORSE, 0]]);
});

test('a ZIP is certain where all that the file has of it agrees, while it says so', () => {
  expect(at('1 Nowhere Rd', 'Birchwood', '91020'), 'postal', [BIRCH, 0, 0]);
  assert.match(explained('1 Nowhere Rd, Birchwood, QA 91020'), /^ZIP record of the state's/);
  // Its own record has the lowest rate of a ZIP that also has others.
  assert.notEqual(ask(at('1 Nowhere Rd', 'Gorse', '91012')).precision, 'postal');
  assert.notEqual(ask(at('1 Nowhere Rd', 'Elmton', '91011')).precision, 'postal');
});

test('of a ZIP that only the file has its records decide, where they do', () => {
  expect(at('1 Nowhere Rd', 'Anytown', '91055'), 'postal', [BIRCH, 0, 0]);
  assert.match(explained('1 Nowhere Rd, Anytown, QA 91055'), /^ZIP record of the state's/);
  assert.match(
    ask(at('1 Nowhere Rd', 'Anytown', '91056')).refusal,
    /known from qa's boundary file alone, which has no one rate for all of it/,
  );
  expect(at('1 Nowhere Rd', 'Anytown', '91056-0007'), 'zip9', [BIRCH, GORSE, 0]);
  expect(at('1 Nowhere Rd', 'Anytown', '91057-0007'), 'zip9', [BIRCH, GORSE, 0]);
  assert.match(ask(at('1 Nowhere Rd', 'Anytown', '91057')).refusal, /no one rate/);
  assert.match(ask(at('1 Nowhere Rd', 'Anytown', '91055'), '202312').refusal, /is not known/);
  assert.match(ask(at('1 Nowhere Rd', 'Anytown', '91055', 'QB')).refusal, /91055 is not known/);
});

test('the list of a ZIP that only the file has names all that it states', () => {
  const list = (zip: string) =>
    engineOf(dataset).lookup(
      {
        kind: 'postal',
        zip,
        state: '',
        stateCode: '',
        city: '',
        county: '',
        options: NO_OPTIONS,
      },
      NOON_MS,
    );
  const rows = (zip: string) => {
    const outcome = list(zip);
    assert.ok(!isFailure(outcome) && outcome.kind === 'postal', zip);
    return outcome.rows.map(({ city, area }) => [city, area.countyFips]);
  };
  assert.deepEqual(rows('91055'), [['', '003']]);
  assert.deepEqual(rows('91056').sort(), [
    ['', '003'],
    ['GORSE', '003'],
  ]);
  assert.ok(isFailure(list('91057')), 'add-ons alone are not all of a ZIP');
  assert.ok(isFailure(list('91058')));
});

test('a file that has ended keeps being used for streets, not for whole ZIPs', () => {
  const street = byLookup(dataset, '5 Kestrel Way, Cedarville, QB 92030', '');
  assert.deepEqual([street.precision, street.levels], ['range', [40_000_000, 2_000_000, 0, 0]]);
  const ended = byLookup(dataset, '5 Merlin Way, Cedarville, QB 92030', '');
  assert.notEqual(ended.precision, 'range');
  const outcome = outcomeOf('5 Nowhere Rd, Cedarville, QB 92030');
  assert.ok(isFailure(outcome) || (outcome.kind === 'situs' && outcome.situs.stated !== true));
});

test('what a file decided is published until the file ends, whatever the lists say', () => {
  const at_ = (address: string, day: number) => {
    const outcome = outcomeOf(address, day);
    assert.ok(!isFailure(outcome) && outcome.kind === 'situs', address);
    return outcome.area.staleAfter;
  };
  const street = '5 Kestrel Way, Cedarville, QB 92030';
  assert.equal(at_(street, NOON_MS), 20230331);
  assert.equal(at_('1 Nowhere Rd, Cedarville, QB 92030-7042', NOON_MS), 20230331);
  assert.ok(at_('21 Border Ave, Elmton, QA 91011', NOON_MS) > 20230331);
  const ways = (place: Written): readonly boolean[] => staleWays(dataset, place);
  assert.deepEqual(ways(at('21 Border Ave', 'Elmton', '91011')), [false, false, false, false]);
  const ended = at('5 Kestrel Way', 'Cedarville', '92030', 'QB');
  assert.deepEqual(ways(ended), [true, true, true, true]);
});

test('where the file has doors and ZIPs elsewhere than the boundaries is counted by state', () => {
  const { coverage } = readManifest(join(releasesDir(join(FOLDER, 'one')), name));
  const of = (code: string) => coverage.find(({ state }) => state === code)!;
  // The boundaries have the odd doors of Border Ave from 21 to 39 outside Elmton.
  assert.deepEqual(of('QA').stateFile, {
    until: '',
    ranges: 14,
    zip9: 7,
    zip5: 4,
    doors: 20,
    doorsElsewhere: 10,
    zips: 7,
    // Three of them are in no list of ZIPs.
    zipsElsewhere: 5,
  });
  assert.ok(of('QA').gaps.some((gap) => gap.includes('elsewhere than the boundaries, and')));
  assert.ok(of('QB').gaps.includes("the state's boundary file ended on 2023-03-31"));
  assert.equal(of('QC').stateFile, undefined);
});

test('what falls away is told by reason; neither threads nor order of files show', async () => {
  const sentences = told.filter((line) => line.startsWith('QAB')).join('\n');
  for (const reason of ALDERMARK_FALLEN) {
    assert.ok(sentences.includes(reason), `${reason} in\n${sentences}`);
  }
  assert.equal(await build('two', 3, true), name);
});
