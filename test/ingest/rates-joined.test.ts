/**
 * Publishers' files through the joins of a build, to what is levied at a spot. Names are real, so
 * that they join as they would; rates are invented.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type LoadedRates, loadRates } from '../../src/ingest/rates/load.js';
import type { RatesRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';

const DIR = mkdtempSync(join(tmpdir(), 'situs-joined-'));
const RECIPE = JSON.parse(readFileSync(
  join(datasetsDir(), 'recipes/rates-reference.json'), 'utf8')) as RatesRecipe;
const DAY = 20261122;

after(() => rmSync(DIR, { recursive: true, force: true }));

function fixture(name: string, names: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(import.meta.dirname, '../../../test/ingest/published', name),
    'utf8');
  return Object.entries(names).reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

/** The list of a state beside its own rate, in percent. */
function load(
  reader: string, state: string, rate: string, text: string,
  options?: RatesRecipe['lists'][number]['options'],
): LoadedRates {
  writeFileSync(join(DIR, 'states.tsv'), 'state\teffective_from\teffective_to\tsales_rate_pct'
    + `\tuse_rate_pct\n${state}\t2000-01-01\t\t${rate}\t${rate}\n`);
  writeFileSync(join(DIR, 'list.csv'), text);
  const source = 'state-rates';
  return loadRates({ ...RECIPE, estimates: [], lists: [
    { reader: 'state-rates', path: 'states.tsv', source },
    { reader, path: 'list.csv', source, state, ...(options === undefined ? {} : { options }) },
  ] }, { factsDir: join(datasetsDir(), 'facts'), sourcesDir: DIR, estimated: false });
}

/** Sales and use of all components at a place of a county, in percent; "?" where one is unknown. */
function levied(
  { book }: LoadedRates, county: string, place = '', districts: readonly string[] = [],
): string {
  const { components, unknown } = book.resolve({
    state: county.slice(0, 2), county, place, town: '', districts });
  if (unknown.some(({ from, to }) => from <= DAY && to >= DAY)) return '?';
  const sums = [0, 0];
  for (const { periods } of components) {
    const now = periods.find(({ from, to }) => from <= DAY && to >= DAY);
    sums[0]! += now?.sales ?? 0;
    sums[1]! += now?.use ?? 0;
  }
  return sums.map((sum) => String(sum / 1e7)).join(' / ');
}

test('Missouri: totals with a use rate of its own; a city that stands for its county', () => {
  const rates = load('mo-tables', 'MO', '4.225', fixture('mo-tables.csv', {
    'ALPHA COUNTY': 'JACKSON COUNTY', ARDEN: 'INDEPENDENCE', 'ST BOSWELL': 'KANSAS CITY',
    'BETA COUNTY': 'CLAY COUNTY', NOWHERE: 'GLADSTONE' }), { state: '4.225' });
  assert.equal(levied(rates, '29095'), '5.975 / 5.475');
  assert.equal(levied(rates, '29095', '2935000'), '8.975 / 4.225');
  assert.equal(levied(rates, '29095', '2938000'), '7.975 / 5.475');
  assert.equal(levied(rates, '29047', '2938000'), '7.225 / 4.225');
  assert.equal(levied(rates, '29047', '2927190'), '6.225 / 4.225');
});

test('Colorado: districts of a city and of a county outside its cities; divided and unlisted',
  () => {
  const rates = load('co-workbook', 'CO', '2.9', fixture('co-workbook.csv', {
    ARDEN: 'AURORA', 'ALPHA COUNTY': 'ARAPAHOE COUNTY', ALPHA: 'ARAPAHOE', "O'DELL": 'CAÑON CITY',
    'BETA COUNTY': 'FREMONT COUNTY', BETA: 'FREMONT', CARROW: 'FLORENCE',
      'DE WITT': 'BROOKSIDE' }), { state: '2.9' });
  assert.equal(levied(rates, '08005', '0804000'), '8 / 8');
  assert.equal(levied(rates, '08005'), '4.15 / 4.15');
  assert.equal(levied(rates, '08005', '0812815'), '?', 'Centennial is not listed');
  assert.equal(levied(rates, '08043', '0811810'), '6.4 / 6.4');
  assert.equal(levied(rates, '08043', '0827040'), '?', 'districts divide Florence');
  assert.equal(levied(rates, '08043', '0809115'), '6 / 6');
});

test('Iowa and Louisiana: a city\'s part stands in the place of its county\'s', () => {
  const iowa = load('ia-lost', 'IA', '6', fixture('ia-lost.csv', {
    Alpha: 'Polk', Arden: 'Des Moines', 'St. Boswell': 'Ankeny', Beta: "O'Brien" }));
  assert.deepEqual(['1921000', '1902305', ''].map((place) => levied(iowa, '19153', place)),
    ['7 / 7', '6 / 6', '7 / 7']);
  assert.equal(levied(iowa, '19153', '1983910'), '7 / 7', 'West Des Moines is not listed');
  const louisiana = load('la-domiciles', 'LA', '5', fixture('la-domiciles.html', {
    'Alpha County': 'Acadia Parish', 'Beta County': 'St. Landry Parish', Arden: 'Crowley',
    'O&#39;Dell': 'Opelousas', 'Saint Boswell': 'Church Point' }));
  assert.deepEqual([levied(louisiana, '22001'), levied(louisiana, '22001', '2218650'),
    levied(louisiana, '22097', '2258045'), levied(louisiana, '22097')],
  ['9.25 / 9.25', '10.5 / 10.5', '9.45 / 9.45', '?']);
});

test('Alaska: a city\'s part is beside its borough\'s, or stands alone', () => {
  const alaska = load('ak-members', 'AK', '0', fixture('ak-members.csv', {
    'Alpha County': 'Kenai Peninsula Borough', Arden: 'Homer', 'St. Boswell': 'Soldotna',
    'Beta Census Area': 'Bethel Census Area', "O'Dell": 'Bethel', Nowhere: 'Juneau' }));
  assert.deepEqual([levied(alaska, '02122'), levied(alaska, '02122', '0233140'),
    levied(alaska, '02122', '0271640'), levied(alaska, '02110', '0236400')],
  ['3 / 3', '7 / 7', '2.5 / 2.5', '2 / 2']);
});

test('Utah, Oklahoma and New Mexico: totals, and parts that add up', () => {
  const utah = load('ut-combined', 'UT', '4.85', fixture('ut-combined.csv', {
    'Alpha County': 'Washington County', Arden: 'Hurricane', 'Beta County': 'Weber County',
    "O'Dell": 'Ogden' }));
  assert.deepEqual([levied(utah, '49053'), levied(utah, '49053', '4937170'),
    levied(utah, '49057', '4955980'), levied(utah, '49057')],
  ['6.1 / 6.1', '7.08 / 7.08', '6.1 / 6.1', '?']);
  const oklahoma = load('ok-copo', 'OK', '4.5', fixture('ok-copo.csv', {
    'ALPHA COUNTY': 'TULSA COUNTY', ARDEN: 'TULSA', 'BETA COUNTY': 'ADAIR COUNTY' }));
  assert.deepEqual([levied(oklahoma, '40143'), levied(oklahoma, '40143', '4075000'),
    levied(oklahoma, '40001')], ['4.75 / 4.75', '8.4 / 4.75', '5.5 / 5.5']);
  const mexico = load('nm-grt', 'NM', '4.875', fixture('nm-grt.csv', {
    Alpha: 'Bernalillo', Arden: 'Albuquerque', Beta: 'Doña Ana', "O'Dell": 'Las Cruces' }),
  { state: '4.875' });
  assert.deepEqual([levied(mexico, '35001'), levied(mexico, '35001', '3502000'),
    levied(mexico, '35013', '3539380'), levied(mexico, '35013')],
  ['6.25 / 6.25', '7.5 / 7.5', '8 / 8', '?']);
});

test('a city that a list names in one of its counties is not told in those taxed otherwise', () => {
  const oklahoma = load('ok-copo', 'OK', '4.5', fixture('ok-copo.csv', {
    'ALPHA COUNTY': 'TULSA COUNTY', ARDEN: 'TULSA', 'BETA COUNTY': 'ADAIR COUNTY' }));
  assert.deepEqual([levied(oklahoma, '40143', '4075000'), levied(oklahoma, '40113', '4075000')],
    ['8.4 / 4.75', '?']);
  const missouri = load('mo-tables', 'MO', '4.225', fixture('mo-tables.csv', {
    'ALPHA COUNTY': 'JACKSON COUNTY', ARDEN: 'LEES SUMMIT', 'ST BOSWELL': 'SPRINGFIELD',
    'BETA COUNTY': 'CASS COUNTY', NOWHERE: 'BELTON' }), { state: '4.225' });
  assert.deepEqual([levied(missouri, '29095', '2941348'), levied(missouri, '29037', '2941348')],
    ['8.975 / 4.225', '?']);
  const colorado = load('co-workbook', 'CO', '2.9', fixture('co-workbook.csv', {
    ARDEN: 'AURORA', 'ALPHA COUNTY': 'ARAPAHOE COUNTY', ALPHA: 'ARAPAHOE', "O'DELL": 'CAÑON CITY',
    'BETA COUNTY': 'DOUGLAS COUNTY', BETA: 'DOUGLAS' }), { state: '2.9' });
  assert.deepEqual([levied(colorado, '08005', '0804000'), levied(colorado, '08035', '0804000')],
    ['8 / 8', '?']);
});

test('a list whose fractions are percentages, or the reverse, is refused', () => {
  const alaska = fixture('ak-members.csv', { 'Alpha County': 'Kenai Peninsula Borough' })
    .replaceAll(/\b0\.0(\d)/g, '$1.');
  assert.throws(() => load('ak-members', 'AK', '0', alaska),
    /list\.csv: its layout is another: .* has its highest rate, \d+ %: fractions/);
  const louisiana = fixture('la-domiciles.html', { 'Alpha County': 'Acadia Parish' })
    .replaceAll(/>(\d)\.(\d\d)00%</g, '>0.0$1$2<');
  assert.throws(() => load('la-domiciles', 'LA', '5', louisiana),
    /list\.csv: its layout is another: .* has its highest rate, 0\.0\d+ %: fractions/);
});

test('a district that no authority has a code for holds beside the records of a boundary file', () => {
  const ohio = loadRates({ ...RECIPE, estimates: [], lists: [
    { reader: 'facts', path: 'facts/rates/OH.tsv' },
  ], members: ['facts/rates/members.tsv'] },
  { factsDir: join(datasetsDir(), 'facts'), sourcesDir: DIR, estimated: false });
  const sales = (complete: boolean): number => ohio.book.resolve({
    state: '39', county: '39035', place: '', town: '', districts: [], complete,
  }).components.reduce((sum, { periods }) => sum
    + (periods.find(({ from, to }) => from <= DAY && to >= DAY)?.sales ?? 0), 0);
  assert.equal(sales(false), 80_000_000);
  assert.equal(sales(true), sales(false));
});

test('Washington with the boundaries of its codes: all of the local part is theirs', () => {
  const rates = load('wa-quarter', 'WA', '6.5', 'Name,Code,State,Local,RTA,Rate,Effective Date,'
    + 'Expiration Date\nSEATTLE,1726,0.065,0.0405,0,0.1055,20261001,20261231\n', { areas: true });
  assert.equal(levied(rates, '53033', '5363000', ['1726']), '10.55 / 10.55');
  assert.equal(levied(rates, '53033', '5363000', ['1799']), '?', 'a code without a rate');
});

test('New York and South Carolina: totals out of the text of their PDFs', () => {
  const york = load('ny-718', 'NY', '4', fixture('ny-718.tsv', {
    Alpha: 'Oneida', Arden: 'Rome', Beta: 'Cayuga', 'O’Dell': 'Auburn', Gamma: 'Albany' }),
  { state: '4' });
  assert.deepEqual([levied(york, '36065'), levied(york, '36065', '3663418'), levied(york, '36011'),
    levied(york, '36011', '3603078'), levied(york, '36001')],
  ['8.75 / 8.75', '8.5 / 8.5', '8.375 / 8.375', '8.875 / 8.875', '8 / 8']);
  const carolina = load('sc-st575', 'SC', '6', fixture('sc-st575.tsv', {
    Alpha: 'Georgetown', Arden: 'Pawleys Island', Beta: 'Williamsburg', 'St. Boswell': 'Andrews',
    Nowhere: 'Kingstree' }), { state: '6' });
  assert.deepEqual([levied(carolina, '45043'), levied(carolina, '45043', '4501450'),
    levied(carolina, '45089', '4501450'), levied(carolina, '45089', '4538590')],
  ['7 / 7', '8 / 8', '7 / 7', '8.5 / 8.5']);
});
