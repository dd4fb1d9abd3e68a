/**
 * Readers of rate lists on files laid out as their publishers lay them out; which description each
 * file was written from stands beside them, in published/README.md.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ListOptions } from '../../src/ingest/rates/list.js';
import { SourceFiles } from '../../src/ingest/source-files.js';
import { readPacked } from '../../src/ingest/source/container.js';
import { sheetRows, splitRows } from '../../src/ingest/source/rows.js';
import { brief, read } from '../support/listed-rates.js';
import { type CellValue, pdfOf, workbookOf, zipOf } from '../support/made-files.js';

const FILES = join(import.meta.dirname, '../../../test/ingest/published');
const DIR = mkdtempSync(join(tmpdir(), 'situs-native-'));

after(() => rmSync(DIR, { recursive: true, force: true }));

function fixture(name: string): string {
  return readFileSync(join(FILES, name), 'utf8');
}

/** The text of a sheet after it was in a workbook, where figures are numbers. */
async function sheet(csv: string): Promise<string> {
  const cells = sheetRows(csv).map((row) => (row.every((cell) => cell === '') ? []
    : row.map((cell): CellValue => (cell === '' ? null
      : /^\d*\.?\d+$/.test(cell) ? Number(cell) : cell))));
  const file = join(DIR, 'list.xlsx');
  writeFileSync(file, workbookOf({ Rates: cells }));
  return readPacked(file);
}

/** The text of a PDF with the pieces of a fixture: page, points from left and bottom, text. */
async function pdf(tsv: string): Promise<string> {
  const pieces = splitRows(tsv, '\t').map(([page, x, y, text = '']) =>
    ({ page: Number(page), piece: [Number(x), Number(y), text] as const }));
  const pages = [...new Set(pieces.map(({ page }) => page))].map((page) =>
    pieces.filter((one) => one.page === page).map(({ piece }) => piece));
  const file = join(DIR, 'list.pdf');
  writeFileSync(file, pdfOf(pages));
  return readPacked(file);
}

/** Each change of the file, and what has to be said of it. */
type Fault = readonly [from: string | RegExp, to: string, told: RegExp];

interface Native {
  readonly file: string;
  readonly options?: ListOptions;
  readonly rows: readonly string[];
  readonly members?: readonly string[];
  readonly dropped?: number;
  readonly unmatched?: readonly string[];
  readonly unplaced?: readonly string[];
  readonly faults: readonly Fault[];
}

const NATIVE: Readonly<Record<string, Native>> = {
  'ak-members': {
    file: 'ak-members.csv',
    rows: ['county 99001   own 0.03 20260401 99991231',
      'city  9900050  own 0.055 20260701 99991231',
      'city  9900010  own 0.04 20260901 99991231', 'city  9900020  sole 0.025 20260901 99991231'],
    unplaced: ['Nowhere'],
    faults: [['As of 9/1/2026', 'Rates', /no "As of M\/D\/YYYY"/], ['0.07\n', '0.08\n',
      /row 6: 0.03 and 0.04 are not 0.08/],
      ['City/Taxing Area,', 'Town,', /column G is "Town", not "City\/Taxing Area"/],
      ['46266,0.07', '46x66,0.07', /row 6: not a day: 46x66/], ['9001,', ',',
        /row 6: without a filing code/]],
  },
  'co-workbook': {
    file: 'co-workbook.csv', options: { state: '2.9', from: '2026-07-01', to: '2026-12-31' },
    rows: ['city 99001 9900010  own 0.0375 20260701 20261231',
      'district   ~Regional Transportation District - Alpha County own 0.01 20260701 20261231',
      'district   ~Scientific and Cultural Facilities District - Alpha County own 0.001 20260701 '
        + '20261231',
      'county 99001   own 0.0025 20260701 20261231', 'county 99002   own 0.02 20260701 20261231',
      'city 99002 9900050  own 0.015 20260701 20261231',
        'city 99002 9900030  unknown ? 10101 20261231',
      'city 99002 9900060  sole 0.031 20260701 20261231',
      'district 99001 9900020  unknown ? 10101 20261231',
        'district 99001 9900040  unknown ? 10101 20261231'],
    members: ['~Regional Transportation District - Alpha County place 99001 9900010',
      '~Scientific and Cultural Facilities District - Alpha County place 99001 9900010',
      '~Regional Transportation District - Alpha County remainder 99001 '],
    unplaced: ['NOWHERE'],
    faults: [['Tax Type,Rate,', 'Kind,Rate,', /column I is "Kind", not "Tax Type"/],
      ['100001', '1001', /row 2: ARDEN: no location with a code and a county: 1001/],
      ['CD,0.1', 'CD,x', /row 2: ARDEN: CD: not a percentage: x/],
        ['State,2.9,0,County,2,0,City,1.5', 'County,2,0,City,1.5',
        /row 5: O'DELL: the state's part is not 0.029/],
      ['State,2.9,', 'State,0.029,', /row 2: ARDEN: the state's part is not 0.029/]],
  },
  'ia-lost': {
    file: 'ia-lost.csv',
    rows: ['city 99002 9900050  sole 0.01 20060101 99991231',
      'city 99001 9900010  sole 0.01 20140701 20291231',
      'county 99001   own 0.01 20250701 20320630', 'city 99001 9900020  sole 0 20260701 99991231',
      'county 99002   own 0 20260701 99991231'],
    unplaced: ['Nowhere'],
    faults: [['Effective Jul 1, 2026', 'Local option', /A1 is "Local option"/],
      ['Unincorporated LOST Rate', 'Rate', /column G is "Rate", not "Unincorporated LOST Rate"/],
      ['Arden,YES,NO', 'Arden,JA,NO', /row 4: Arden in Alpha: "JA" and "NO"/],
      ['NO,0.01,n/a,7%,41821', 'NO,n/a,n/a,7%,41821', /row 4: Arden in Alpha: not a rate: n\/a/],
        ['41821', '0', /row 4.*not a day: 0/]],
  },
  'la-domiciles': {
    file: 'la-domiciles.html',
    rows: ['county 99001   own 0.0425 20260901 99991231',
      'city 99001 9900010  sole 0.055 20260901 99991231',
      'city 99001 9900020  sole 0.0525 20260901 99991231',
        'city 99002 9900050  sole 0.0445 20260901 99991231'],
    unplaced: ['Nowhere'], dropped: 1,
    faults: [[/ selected="selected" value="0100"/, ' value="0100"',
      /nothing chosen in ddlJurisdiction/],
      ['4.2500%', 'n/a', /Alpha County: Alpha Parish: not a percentage: n\/a/],
        ['<td>Alpha Parish (0100)', '<td>Alpha Parish',
        /Alpha County: a row of another layout: Alpha Parish \|/],
      ['id="grdRates"', 'id="grid"', /Alpha County: no table grdRates with rates/]],
  },
  'mo-tables': {
    file: 'mo-tables.csv', options: { state: '4.225', from: '2026-07-01' },
    rows: ['county 99001   total 0.05975 20260701 99991231',
      'county 99002   total 0.05225 20260701 99991231',
      'city  9900010  total 0.08975 20260701 99991231',
        'city 99001 9900020  total 0.07975 20260701 99991231',
      'city 99002 9900020  total 0.07225 20260701 99991231',
        'district 99002   unknown ? 10101 99991231'],
    unmatched: ['NOWHERE'], dropped: 2,
    faults: [['Jurisdiction Code', 'Code', /column C is "Code", not "Jurisdiction Code"/],
      ['5.9750%', '4.0%', /row 7: ALPHA COUNTY: a total below the state's part/],
      ['00010-001-000', '10-001', /row 9: no code: 10-001/], ['0.08975', 'x',
        /row 9: not a rate: x/]],
  },
  'nm-grt': {
    file: 'nm-grt.csv', options: { state: '5.125', from: '2026-07-01' },
    rows: ['county 99001   total 0.0625 20260701 99991231',
      'county 99002   total 0.06375 20260701 99991231',
      'city  9900010  total 0.075 20260701 99991231', 'city  9900050  total 0.08 20260701 99991231',
      'district 99002   unknown ? 10101 99991231'],
    unmatched: ["O'Dell Industrial Park TIDD 1"], dropped: 2,
    faults: [['6.25', '', /line 2: Remainder of County - Alpha: not a percentage/], ['01-100',
      '1100', /line 3: Arden: no location code: 1100/]],
  },
  'ny-718': {
    file: 'ny-718.tsv', options: { state: '4' },
    rows: ['county 99002   total 0.08375 20250301 99991231',
      'county 99001   total 0.0875 20250301 99991231',
      'city  9900050  total 0.08875 20250301 99991231',
        'city  9900010  total 0.085 20250301 99991231'],
    unmatched: ['Gamma'], unplaced: ['New York City', 'Nowhere'],
    faults: [['Effective March', 'As of March', /no "Effective <day>"/], ['only\n1\t160\t688\t4',
      'only\n1\t160\t688\t5', /"New York State only" is not 4 %/],
      ['4711', '0021', /code 0021 stands twice/]],
  },
  'ok-copo': {
    file: 'ok-copo.csv',
    rows: ['county 99002   own 0.01 10101 99991231', 'county 99001   own 0.005 20150701 20240930',
      'city 99001 9900010  own 0.0365 20200101 99991231',
        'county 99001   own 0.0025 20241001 99991231'],
    unplaced: ['NOWHERE'],
    faults: [['3.65%', '3.65', /row 3: ARDEN: not a percentage: 3.65/], ['STS,101,ARDEN,',
      'STS,101,ARDEN,x,', /row 3: ARDEN: its layout is another: 14 fields/],
      ['STS,2001', 'STS,101', /row 5: NOWHERE: code 0101 is listed twice/], ['1/1/2020',
        '13/1/2020', /row 3: ARDEN: not a day: 13/], [/88,/g, '89,', /it lists no county/]],
  },
  'sc-st575': {
    file: 'sc-st575.tsv', options: { state: '6' },
    rows: ['county 99001   total 0.07 20260205 99991231',
      'county 99002   total 0.07 20260205 99991231',
      'city  9900010  total 0.07 20260205 99991231',
        'city 99001 9900020  total 0.08 20260205 99991231',
      'city 99002 9900020  total 0.07 20260205 99991231',
        'district 99002   unknown ? 10101 99991231'],
    unmatched: ['Nowhere'],
    faults: [['(Rev. 2/5/26)', '', /no "\(Rev. M\/D\/YY\)"/], ['2\t36\t720\tMunicipality',
      '2\t36\t720\tCity', /no heading "Municipality" in its place on page 2/],
      ['370\t700\t7%', '300\t700\t7%', /page 1: "Arden" stands in no row/], ['8.5%', '5.5%',
        /Nowhere: a total below the state's part/]],
  },
  'ut-combined': {
    file: 'ut-combined.csv',
    rows: ['county 99001   total 0.061 20261001 99991231',
      'county 99002   total 0.061 20261001 99991231',
      'city  9900010  total 0.0708 20261001 99991231',
        'city  9900050  total 0.061 20261001 99991231',
      'district 99002   unknown ? 10101 99991231'],
    unmatched: ['Old Mill Resort'],
    faults: [['Rates in effect as of', 'Rates of', /no "Rates in effect as of"/], ['Sales Rate',
      'Total', /column Z is "Total", not "Sales Rate"/],
      ['0.0708', '0.0709', /row 6: Arden: its levies are not its total/], ['01-008', '1-8',
        /row 6: Arden: no code: 1-8/]],
  },
};

for (const [reader, native] of Object.entries(NATIVE)) {
  test(`${reader}: the file as published, and what is wrong with others`, async () => {
    const text = fixture(native.file);
    const isSheet = native.file.endsWith('.csv') && !/^(?:nm|ok)-/.test(native.file);
    const isPdf = native.file.endsWith('.tsv');
    const at = async (changed: string): Promise<string> =>
      (isSheet ? sheet(changed) : isPdf ? pdf(changed) : changed);
    const { rows, members, report } = read(reader, await at(text), native.options);
    assert.deepEqual(brief(rows), native.rows);
    assert.deepEqual(members.map(({ code, scope, county, place }) =>
      [code, scope, county, place].join(' ')), native.members ?? []);
    assert.deepEqual(report.unmatched, native.unmatched ?? []);
    assert.deepEqual(report.unplaced.map(({ name }) => name), native.unplaced ?? []);
    assert.equal(report.dropped.length, native.dropped ?? 0);
    for (const [from, to, told] of native.faults) {
      const changed = text.replace(from, to);
      assert.notEqual(changed, text, String(from));
      const given = await at(changed);
      assert.throws(() => read(reader, given, native.options), told);
    }
    if (reader !== 'nm-grt') assert.throws(() => read(reader, '', native.options), RangeError);
  });
}

test('sst: types by state, and cities whose rate stands in the place of their county\'s', () => {
  const of = (...rows: readonly string[]): string => rows.map((row) =>
    `99,${row},0,0,20250101,29991231`).join('\n');
  const kansas = of('45,99,0.065,0.065', '00,001,0.01,0.01', '01,00010,0.0125,0.0125',
    '63,98001,0.02,0.02', '79,11KAN,0.0875,0.0875', '79,ALIOL,0.095,0.095');
  assert.deepEqual(brief(read('sst', kansas).rows), ['state    own 0.065 20250101 99991231',
    'county 99001   own 0.01 20250101 99991231', 'city  9900010  own 0.0125 20250101 99991231',
    'district   98001 own 0.02 20250101 99991231']);
  assert.equal(read('sst', kansas).report.dropped.length, 2);
  // Iowa: counties and cities are zero, the local option is in districts; 199 is no county.
  const iowa = read('sst', of('00,001,0,0', '00,199,0,0', '01,00010,0,0', '63,98201,0.01,0.01'));
  assert.deepEqual([iowa.rows.length, iowa.report.unmatched], [3, ['county 199']]);
  // Oklahoma keeps the zeros of cities; Utah has counties and cities that add up.
  assert.deepEqual(brief(read('sst', of('00,001,0.0035,0.0035', '01,00020,0,0')).rows),
    ['county 99001   own 0.0035 20250101 99991231', 'city  9900020  own 0 20250101 99991231']);
  const tennessee = read('sst', of('00,001,0.0225,0.0225', '01,00010,0.0275,0.0275'),
    { cities: 'sole' });
  assert.deepEqual(tennessee.rows.map(({ level, basis }) => [level, basis]),
    [['county', 'own'], ['city', 'sole']]);
  assert.deepEqual(brief(read('sst', of('26,98119,0.01,0.01'), { districts: ['26'] }).rows),
    ['district   98119 own 0.01 20250101 99991231']);
  assert.deepEqual(read('sst', of('63,20001,0.08375,0.08375'), { without: ['63'] }).rows, []);
});

test('the pages of a folder are one list, and each of them is told to the manifest', async () => {
  const [first, second = ''] = fixture('la-domiciles.html').split(/(?=<!DOCTYPE)/);
  mkdirSync(join(DIR, 'la-rates'));
  writeFileSync(join(DIR, 'la-rates/0100.html'), first ?? '');
  writeFileSync(join(DIR, 'la-rates/0200.html'), second);
  writeFileSync(join(DIR, 'la-rates/notes.txt'), 'fetched by hand');
  const files = new SourceFiles(DIR, DIR);
  await files.unpack(['la-rates/*.html']);
  const { rows } = read('la-domiciles', files.text('la-rates/*.html'));
  assert.deepEqual(brief(rows), NATIVE['la-domiciles']?.rows);
  assert.deepEqual(files.list().map(({ path }) => path), ['la-rates/0100.html',
    'la-rates/0200.html']);
  // GeoNames has a readme.txt in each of its archives.
  mkdirSync(join(DIR, 'geonames'));
  for (const name of ['US', 'PR']) {
    writeFileSync(join(DIR, `geonames/${name}.zip`), zipOf([
      { name: 'readme.txt', data: 'notes' }, { name: `${name}.txt`,
        data: `${name}\t00601\tA\n` }]));
  }
  await files.unpack(['geonames/*.zip']);
  assert.equal(files.text('geonames/*.zip'), 'PR\t00601\tA\n\nUS\t00601\tA\n');
  await assert.rejects(() => files.unpack(['la-rates/*.htm']),
    /needs la-rates\/\*\.htm, and none is in/);
});
