/**
 * Lists as their authorities publish them. Figures that are held in another form are laid out as
 * docs/datasets.md describes the publisher's file and have to give the same rows; the rest are
 * invented states in the described layout.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type LoadedRates, loadRates } from '../../src/ingest/rates/load.js';
import type { RateList, RatesRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir, SourceFiles } from '../../src/ingest/source-files.js';
import { readTable } from '../../src/ingest/source/rows.js';
import { brief, read, type Read } from '../support/listed-rates.js';
import { type CellValue, workbookOf, zipOf } from '../support/made-files.js';

const SHARED = join(import.meta.dirname, '../../../../shared/data');
const HELD = { skip: existsSync(SHARED) ? false : `${SHARED} is not there` };
const DIR = mkdtempSync(join(tmpdir(), 'situs-published-'));
const FACTS = join(datasetsDir(), 'facts');
const RECIPE = JSON.parse(readFileSync(
  join(datasetsDir(), 'recipes/rates-reference.json'), 'utf8')) as RatesRecipe;

after(() => rmSync(DIR, { recursive: true, force: true }));

function held(path: string): string {
  return readFileSync(join(SHARED, path), 'utf8');
}

async function load(list: RateList, sourcesDir: string): Promise<LoadedRates> {
  const files = new SourceFiles(FACTS, sourcesDir);
  await files.unpack([list.path]);
  return loadRates({ ...RECIPE, lists: [list], members: [] },
    { factsDir: FACTS, sourcesDir, estimated: false, packed: (path) => files.text(path) });
}

/** What a list says, without who said it when. */
function said({ input, derivedMembers }: LoadedRates, days = true): readonly string[] {
  return [
    ...input.rows.map((row) => [row.level, row.county, row.place, row.code, row.basis, row.sales,
      row.use, ...(days ? [row.from, row.to] : []), row.note?.replace(/Washington.*/,
        '')].join(' ')),
    ...derivedMembers.map((member) => JSON.stringify(member)),
  ].sort();
}

test('Washington: the quarter as published gives the rows of the held one', HELD, async () => {
  const quarter = readTable(held('wa-dor-rates/wa_location_rates.tsv'), '\t')
    .filter((row) => row.get('effective_to') === '20260630');
  const tsv = ['location_code\tlocation\tstate_rate\tlocal_rate\trta_rate\ttotal_rate'
    + '\teffective_from'
    + '\teffective_to', ...quarter.map((row) => ['location_code', 'location', 'state_rate',
    'local_rate', 'rta_rate', 'total_rate', 'effective_from', 'effective_to']
    .map((column) => row.get(column)).join('\t'))].join('\n');
  writeFileSync(join(DIR, 'wa.tsv'), tsv);
  const csv = ['Name,Code,State,Local,RTA,Rate,Effective Date,Expiration Date',
    ...quarter.map((row) => [row.get('location'), row.get('location_code').padStart(4, '0'),
      row.get('state_rate'), row.get('local_rate'), '0', row.get('total_rate'),
      row.get('effective_from'), row.get('effective_to')].join(','))].join('\r\n');
  writeFileSync(join(DIR, 'Rates_26Q2.zip'), zipOf([{ name: 'Rates_26Q2.csv', data: csv }]));
  const list = { state: 'WA', source: 'wa-dor' };
  const native = await load({ ...list, reader: 'wa-quarter', path: 'Rates_26Q2.zip' }, DIR);
  assert.ok(native.input.rows.length > 350);
  assert.deepEqual(said(native), said(await load({ ...list, reader: 'wa-dor', path: 'wa.tsv' },
    DIR)));
});

/** The held list of Texas as lines of four triples. */
function texasLines(): readonly string[] {
  const codes = new Map(readTable(held('local-rates-more/TX.tsv'), '\t')
    .filter((row) => row.get('as_of') === '2024-08-30').map((row) => [row.get('code'), row]));
  const triple = (code: string, name: string): string => {
    const pct = codes.get(code)?.get('local_pct') ?? '';
    const rate = pct === '' ? 'n/a' : `.${String(Math.round(Number(pct) * 1e4)).padStart(6, '0')}`;
    return `${name}\t${code === '' ? 'n/a' : code}\t${rate}`;
  };
  return readTable(held('local-rates-more/TX-areas.tsv'), '\t').flatMap((area) => {
    const rest = [...area.get('transit_codes').split(';'), ...area.get('spd_codes').split(';')]
      .filter((code) => code !== '');
    if (rest.length > 2) return [];
    const named = (code: string): string => codes.get(code)?.get('name') ?? 'n/a';
    return [[triple(area.get('city_code'), area.get('area')),
      triple(area.get('county_code'), area.get('county')),
      triple(rest[0] ?? '', named(rest[0] ?? '')),
      triple(rest[1] ?? '', named(rest[1] ?? ''))].join('\t')];
  });
}

test('wa-quarter with areas: the local part of each location code, the last quarter open, and none outside', () => {
  const csv = 'Name,Code,State,Local,RTA,Rate,Effective Date,Expiration '
    + 'Date\nARDEN,726,0.065,0.0265,0.014,0.1055,'
    + '20260701,20260930\nARDEN,0726,0.065,0.0275,0.014,0.1065,20261001,20261231\nALPHA COUNTY '
      + 'NON-RTA,4000,0.065,0.024,0,0.089,20261001,20261231\n';
  assert.deepEqual(brief(read('wa-quarter', csv, { areas: true }).rows),
    ['district   0726 own 0.0405 20260701 20260930',
      // Of land in no location nothing is known.
      'district    unknown ? 20260701 99991231',
      'district   0726 own 0.0415 20261001 99991231', 'district   4000 own 0.024 20261001 99991231']);
});

test('Texas: the quarter as published gives the rates of every code that areas name', HELD,
  async () => {
  const first = ['1', '20243', '202407', '2024 - 3rd', '0.0625', '0', '2924', ''].join('\t');
  const lines = [first, '20241020\tm\tx', '20241120\tq\tx', ...texasLines()];
  writeFileSync(join(DIR, 'taxrates.txt'), lines.join('\r\n'));
  const list = { state: 'TX', source: 'tx-comptroller' };
  const native = await load({ ...list, reader: 'tx-quarter', path: 'taxrates.txt' }, DIR);
  const given = RECIPE.lists.find(({ reader }) => reader === 'texas')!;
  const other = await load(given, SHARED);
  const rates = ({ input }: LoadedRates): Map<string, number> => new Map(input.rows
    .filter(({ basis, from, asOf }) => basis === 'own' && (asOf <= 20240830 || from < 20240830))
    .map((row) => [`${row.level} ${row.code}${row.county}`, row.sales]));
  const [mine, theirs] = [rates(native), rates(other)];
  assert.ok(mine.size > 1500, String(mine.size));
  for (const [code, rate] of mine) assert.equal(rate, theirs.get(code), code);
  const wrong = (line: string): Promise<unknown> => {
    writeFileSync(join(DIR, 'wrong.txt'), [first, line].join('\n'));
    return load({ ...list, reader: 'tx-quarter', path: 'wrong.txt' }, DIR);
  };
  await assert.rejects(() => wrong('Abbott\t2109064\t.02'), /line 2 has 3 fields/);
  const area = texasLines()[0] ?? '';
  await assert.rejects(() => wrong(area.replace('2109064', '7109064')), /no local code/);
  await assert.rejects(() => wrong(`${area}\n${area.replace(/\.0\d+/, '.011')}`), /another rate/);
});

test('Illinois: lines as published give the rows of the held list', HELD, async () => {
  const table = readTable(held('local-rates-more/IL.tsv'), '\t');
  const lower = new Map(table.filter((row) => /\) \(|\(part/.test(row.get('name')))
    .map((row) => [row.get('code'), row.get('combined_pct')]));
  const digits = (pct: string): string => String(Math.round(Number(pct) * 1000)).padStart(5, '0');
  const lines = table.filter((row) => !/\) \(|\(part/.test(row.get('name'))).map((row) => {
    const [, name = '',
      county = ''] = /^(.*?)(?: County| \(([^()]+)\))$/.exec(row.get('name')) ?? [];
    const figure = row.get('combined_pct');
    const high = figure === '' ? '00000' : digits(figure);
    const low = lower.has(row.get('code')) ? digits(lower.get(row.get('code')) ?? '') : high;
    return row.get('code').padEnd(10) + name.padEnd(25) + (county || name).padEnd(25)
      + (figure === '' ? 'Y' : 'N') + row.get('effective_from').replaceAll('-', '')
      + `${high}01000${low}01000N`.padEnd(140, '0');
  });
  writeFileSync(join(DIR, 'ordmache-current.txt'), `${lines.join('\r\n')}\r\n${lines[0]}\r\n`);
  const list = { state: 'IL', source: 'il-idor' };
  const native = await load({ ...list, reader: 'il-ordmache', path: 'ordmache-current.txt' }, DIR);
  const other = await load({ ...list, reader: 'illinois', path: 'local-rates-more/IL.tsv' },
    SHARED);
  assert.ok(native.input.rows.length > 1500);
  assert.deepEqual(said(native), said(other));
  writeFileSync(join(DIR, 'wrong.txt'), `${lines[0]}\n${lines[1]?.slice(3)}\n`);
  await assert.rejects(() => load({ ...list, reader: 'il-ordmache', path: 'wrong.txt' }, DIR),
    /wrong\.txt: line 2 is none of its layout/);
});

test('California: the workbook below titles gives the rows of the held list', HELD, async () => {
  const path = 'ca-cdtfa/cdtfa_rates_2026-01-01.csv';
  const rows = readTable(held(path), ',').map((row): CellValue[] => [row.get('Location'),
    Number(row.get('Rate')), row.get('County'), row.get('Type'), row.get('Notes') || null]);
  writeFileSync(join(DIR, 'SalesTaxRates1-1-26.xlsx'), workbookOf({ Rates: [
    ['Tax Rates Effective January 1, 2026'], [],
    ['Location ', 'Rate', 'County', 'Type', 'Notes'], ...rows] }));
  const list = { reader: 'cdtfa', state: 'CA', source: 'ca-cdtfa', options: { floor: '7.25' } };
  const native = await load({ ...list, path: 'SalesTaxRates1-1-26.xlsx' }, DIR);
  assert.ok(native.input.rows.length > 540);
  assert.deepEqual(said(native), said(await load({ ...list, path }, SHARED)));
});

test('cdtfa: a city that nobody has drawn is in doubt only where it is taxed otherwise', () => {
  const undrawn = (rate: string): readonly string[] => read('cdtfa',
    `location\ttype\tcounty\trate\nAlpha County\tCounty\tAlpha\t0.08\nNewtown\tCity\tAlpha\t${rate}`,
    { floor: '7.25', from: '2026-01-01' })
    .report.unplaced.map(({ name, county }) => `${name} ${county}`);
  assert.deepEqual([undrawn('0.08'), undrawn('0.085')], [[], ['Newtown 99001']]);
});

test('al-text: general sales tax of counties and of cities by county, police districts are told',
  () => {
  const list = ['\uFEFFLocality Code,Locality Name,County Number,TaxType,Rate Type,Administered,'
    + 'Active Date,Inactive Date,Rate,Indicator,PJ,County Code,PJ_Rate',
    '"7001","ALPHA COUNTY","1","ST","GENER","STATE","20240101","","2.500","","N","","0"',
    '"7002","BETA CO","2","ST","GENER","STATE","20200101","20251231","1","","N","","0"',
    '"9001","ST BOSWELL","1","ST","GENER","SELF","20260901","99991231","3.0","","Y","7001","1.5"',
    '"9001","ST BOSWELL","1","ST","FARM","SELF","20260901","99991231","1.0","","N","7001","0"',
    '"9001","ST BOSWELL","1","RT","GENER","SELF","20260901","99991231","4.0","","N","7001","0"',
    '"9009","NOWHERE","1","ST","GENER","SELF","20260901","","3.0","","N","7001","0"'].join('\r\n');
  const { rows, report } = read('al-text', list);
  assert.deepEqual(brief(rows), ['county 99002   own 0.01 20200101 20251231',
    'county 99001   own 0.025 20240101 99991231',
    'city 99001 9900020  own 0.03 20260901 99991231']);
  assert.deepEqual([report.dropped.length, report.unplaced.map(({ name }) => name)], [1,
    ['NOWHERE']]);
  assert.throws(() => read('al-text', list.replace('"9001"', '"X001"')),
    /line 4: no locality code/);
  assert.throws(() => read('al-text', list.replace('3.0', 'n/a')), /line 4: not a percentage/);
  assert.throws(() => read('al-text', list.replaceAll('GENER', 'GEN')), /no general sales tax/);
});

test('al-text: what counties take inside cities and outside them', () => {
  const list = (...counties: readonly (readonly [string, string])[]): Read => read('al-text', [
    'Locality Code,Locality Name,TaxType,Rate Type,Active Date,Inactive Date,Rate,PJ,County Code',
    ...counties.map(([name, rate], at) => `700${at},${name},ST,GENER,20240101,,${rate},N,`),
    '9001,ARDEN,ST,GENER,20240101,,3,N,7000', '9002,ST BOSWELL,ST,GENER,20240101,,4,N,7000',
  ].join('\n'));
  const county = (...counties: readonly (readonly [string, string])[]): readonly string[] =>
    brief(list(...counties).rows.filter(({ level }) => level === 'county'))
      .map((row) => row.replace(/^county 99001 | 20240101 99991231$/g, ''));
  assert.deepEqual(county(['ALPHA COUNTY', '3'], ['ALPHA COUNTY - CL', '1']),
    ['  own 0.03', '9900010  own 0.01', '9900020  own 0.01']);
  assert.deepEqual(county(['ALPHA COUNTY', '3'], ['ALPHA CO CL & PJ ARD', '1']),
    ['  own 0.03', '9900010  own 0.01']);
  assert.deepEqual(county(['ALPHA COUNTY EXC CL ARDEN', '3'], ['ALPHA COUNTY CL ARDEN', '2.5'],
    ['ALPHA COUNTY PJ', '2'], ['ALPHA COUNTY UNABATED', '9']),
  ['  own 0.03', '9900010  own 0.025']);
  assert.deepEqual(county(['ALPHA COUNTY', '2'], ['ALPHA COUNTY CL 4 CITIES', '1']),
    ['  own 0.02', '9900010  unknown ?', '9900020  unknown ?']);
  assert.deepEqual(county(['ALPHA COUNTY UNINCORP AREAS', '3'], ['ALPHA COUNTY CL ARDEN', '1']),
    ['  own 0.03', '9900010  own 0.01', '9900020  unknown ?']);
  assert.deepEqual(county(['ALPHA COUNTY COUNTY-WIDE TAX', '0.5']),
    ['  unknown ?', '9900010  unknown ?', '9900020  unknown ?']);
  assert.match(list(['ALPHA COUNTY CL 4 CITIES', '1']).rows.at(-1)!.note!,
    /^Alpha County: its list has "ALPHA COUNTY CL 4 CITIES", which does not say for which/i);
});

test('az-tpt: retail alone; a county\'s figure includes the state\'s, a city\'s does not', () => {
  const list = ['RegionCode,RegionName,BusinessCode,BusinessCodesName,TaxRate,TaxRateType,'
    + 'RateStartDate,RateEndDate',
    'APA,Alpha,017,Retail,6.1,Percent,9/1/2026,12/31/9999',
    'AR,Arden,017,Retail,2.5,Percent,10/01/2026,12/31/9999',
    'AR,Arden,017,Retail,2,Percent,1/1/2020,9/30/2026',
    'AR,Arden,011,Restaurants,3,Percent,1/1/2020,12/31/9999',
    'ZZQ,Some Reservation,017,Retail,5.6,Percent,1/1/2020,12/31/9999'].join('\n');
  const options = { state: '5.6', counties: ['APA'] };
  const { rows, report } = read('az-tpt', list, options);
  assert.deepEqual(brief(rows), ['city  9900010  own 0.02 20200101 20260930',
    'county 99001   own 0.005 20260901 99991231', 'city  9900010  own 0.025 20261001 99991231']);
  assert.equal(report.dropped.length, 1);
  assert.throws(() => read('az-tpt', list.replace('6.1', '0.5'), options),
    /without the state's part/);
  assert.throws(() => read('az-tpt', list.replace('9/1/2026', '2026-09-01'), options),
    /not a date/);
  assert.throws(() => read('az-tpt', list.replaceAll('017', '999'), options), /no row of retail/);
});

test('fl-surtax and va-localities: parts of counties, days of the list', () => {
  const surtax = 'County,Surtax Rate\nALPHA,1.5%\nBETA COUNTY,0%\n\n'
    + '"* Rates shown above are current as of 9/15/2026",\n';
  assert.deepEqual(brief(read('fl-surtax', surtax).rows), [
    'county 99001   own 0.015 20260915 99991231', 'county 99002   own 0 20260915 99991231']);
  assert.throws(() => read('fl-surtax', surtax.replace('current as of', '')),
    /current as of M\/D\/YYYY/);
  assert.throws(() => read('fl-surtax', surtax.replace('0%', 'None')), /BETA COUNTY: not a perc/);
  assert.throws(() => read('fl-surtax', surtax.replaceAll('%', '')), /lists no county/);
  const header = 'State Code (FIPS),"County or City\nCode (FIPS)",Locality Name,'
    + 'Total General Sales Tax,Total Food';
  const localities = `Virginia,,\n,,\n${header}\n99,1,Alpha County,0.053,0.01\n`
    + '99,3,Beta City,0.07,0.01\n99,9,Nowhere,0.07,0.01\nA note below,,\n';
  const { rows, report } = read('va-localities', localities, { state: '0.043',
    from: '2023-07-01' });
  assert.deepEqual(brief(rows), ['county 99001   own 0.01 20230701 99991231',
    'county 99003   own 0.027 20230701 99991231']);
  assert.deepEqual(report.unmatched, ['Nowhere (99009)']);
  assert.throws(() => read('va-localities', localities.replace('Locality Name', 'Place'),
    { state: '0.043' }), /no header has State Code/);
});
