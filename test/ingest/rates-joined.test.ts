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
const RECIPE = JSON.parse(
  readFileSync(join(datasetsDir(), 'recipes/rates-reference.json'), 'utf8'),
) as RatesRecipe;
const DAY = 20261122;

type Options = RatesRecipe['lists'][number]['options'];

after(() => rmSync(DIR, { recursive: true, force: true }));

function fixture(name: string, names: Readonly<Record<string, string>>): string {
  const text = readFileSync(
    join(import.meta.dirname, '../../../test/ingest/published', name),
    'utf8',
  );
  return Object.entries(names).reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

/** The list of a state beside its own rate, in percent. */
function load(
  reader: string,
  state: string,
  rate: string,
  text: string,
  options?: Options,
): LoadedRates {
  writeFileSync(
    join(DIR, 'states.tsv'),
    'state\teffective_from\teffective_to\tsales_rate_pct' +
      `\tuse_rate_pct\n${state}\t2000-01-01\t\t${rate}\t${rate}\n`,
  );
  writeFileSync(join(DIR, 'list.csv'), text);
  const source = 'state-rates';
  return loadRates(
    {
      ...RECIPE,
      estimates: [],
      lists: [
        { reader: 'state-rates', path: 'states.tsv', source },
        { reader, path: 'list.csv', source, state, ...(options === undefined ? {} : { options }) },
      ],
    },
    { factsDir: join(datasetsDir(), 'facts'), sourcesDir: DIR, estimated: false },
  );
}

/** Reads the published list of a state, with pairs of "invented = real" name, between commas or lines. */
function list(reader: string, state: string, rate: string, file: string, options?: Options) {
  return (names: string): LoadedRates => {
    const pairs = names.trim().split(/,\s+/);
    const real = Object.fromEntries(pairs.map((pair) => pair.split(' = ')));
    return load(reader, state, rate, fixture(file, real), options);
  };
}

const published = {
  AK: list('ak-members', 'AK', '0', 'ak-members.csv'),
  CO: list('co-workbook', 'CO', '2.9', 'co-workbook.csv', { state: '2.9' }),
  IA: list('ia-lost', 'IA', '6', 'ia-lost.csv'),
  LA: list('la-domiciles', 'LA', '5', 'la-domiciles.html'),
  MO: list('mo-tables', 'MO', '4.225', 'mo-tables.csv', { state: '4.225' }),
  NM: list('nm-grt', 'NM', '4.875', 'nm-grt.csv', { state: '4.875' }),
  NY: list('ny-718', 'NY', '4', 'ny-718.tsv', { state: '4' }),
  OK: list('ok-copo', 'OK', '4.5', 'ok-copo.csv'),
  SC: list('sc-st575', 'SC', '6', 'sc-st575.tsv', { state: '6' }),
  UT: list('ut-combined', 'UT', '4.85', 'ut-combined.csv'),
};

/** Sales and use of all components at a place of a county, in percent; "?" where one is unknown. */
function levied(
  { book }: LoadedRates,
  county: string,
  place = '',
  districts: readonly string[] = [],
): string {
  const { components, unknown } = book.resolve({
    state: county.slice(0, 2),
    county,
    place,
    town: '',
    districts,
  });
  if (unknown.some(({ from, to }) => from <= DAY && to >= DAY)) return '?';
  const sums = [0, 0];
  for (const { periods } of components) {
    const now = periods.find(({ from, to }) => from <= DAY && to >= DAY);
    sums[0]! += now?.sales ?? 0;
    sums[1]! += now?.use ?? 0;
  }
  return sums.map((sum) => String(sum / 1e7)).join(' / ');
}

/** The same of several spots, each a county or county/place. */
function levies(rates: LoadedRates, ...spots: readonly string[]): string {
  const each = spots.map((spot) => {
    const [county = '', place] = spot.split('/');
    return levied(rates, county, place);
  });
  return each.join(', ');
}

test('Missouri: totals with a use rate of its own; a city that stands for its county', () => {
  const rates = published.MO(`
    ALPHA COUNTY = JACKSON COUNTY, ARDEN = INDEPENDENCE, ST BOSWELL = KANSAS CITY,
    BETA COUNTY = CLAY COUNTY, NOWHERE = GLADSTONE
  `);
  assert.equal(levied(rates, '29095'), '5.975 / 5.475');
  assert.equal(levied(rates, '29095', '2935000'), '8.975 / 4.225');
  assert.equal(levied(rates, '29095', '2938000'), '7.975 / 5.475');
  assert.equal(levied(rates, '29047', '2938000'), '7.225 / 4.225');
  assert.equal(levied(rates, '29047', '2927190'), '6.225 / 4.225');
});

test('Colorado: districts of a city and of a county outside its cities; divided and unlisted', () => {
  const rates = published.CO(`
    ARDEN = AURORA, ALPHA COUNTY = ARAPAHOE COUNTY, ALPHA = ARAPAHOE, O'DELL = CAÑON CITY,
    BETA COUNTY = FREMONT COUNTY, BETA = FREMONT, CARROW = FLORENCE, DE WITT = BROOKSIDE
  `);
  assert.equal(levied(rates, '08005', '0804000'), '8 / 8');
  assert.equal(levied(rates, '08005'), '4.15 / 4.15');
  assert.equal(levied(rates, '08005', '0812815'), '?', 'Centennial is not listed');
  assert.equal(levied(rates, '08043', '0811810'), '6.4 / 6.4');
  assert.equal(levied(rates, '08043', '0827040'), '?', 'districts divide Florence');
  assert.equal(levied(rates, '08043', '0809115'), '6 / 6');
});

test("Iowa and Louisiana: a city's part stands in the place of its county's", () => {
  const iowa = published.IA(
    "Alpha = Polk, Arden = Des Moines, St. Boswell = Ankeny, Beta = O'Brien",
  );
  assert.equal(levies(iowa, '19153/1921000', '19153/1902305', '19153'), '7 / 7, 6 / 6, 7 / 7');
  assert.equal(levied(iowa, '19153', '1983910'), '7 / 7', 'West Des Moines is not listed');
  const louisiana = published.LA(`
    Alpha County = Acadia Parish, Beta County = St. Landry Parish, Arden = Crowley,
    O&#39;Dell = Opelousas, Saint Boswell = Church Point
  `);
  assert.equal(
    levies(louisiana, '22001', '22001/2218650', '22097/2258045', '22097'),
    '9.25 / 9.25, 10.5 / 10.5, 9.45 / 9.45, ?',
  );
});

test("Alaska: a city's part is beside its borough's, or stands alone", () => {
  const alaska = published.AK(`
    Alpha County = Kenai Peninsula Borough, Arden = Homer, St. Boswell = Soldotna,
    Beta Census Area = Bethel Census Area, O'Dell = Bethel, Nowhere = Juneau
  `);
  assert.equal(
    levies(alaska, '02122', '02122/0233140', '02122/0271640', '02110/0236400'),
    '3 / 3, 7 / 7, 2.5 / 2.5, 2 / 2',
  );
});

test('Utah, Oklahoma and New Mexico: totals, and parts that add up', () => {
  const utah = published.UT(`
    Alpha County = Washington County, Arden = Hurricane, Beta County = Weber County,
    O'Dell = Ogden
  `);
  assert.equal(
    levies(utah, '49053', '49053/4937170', '49057/4955980', '49057'),
    '6.1 / 6.1, 7.08 / 7.08, 6.1 / 6.1, ?',
  );
  const oklahoma = published.OK(
    'ALPHA COUNTY = TULSA COUNTY, ARDEN = TULSA, BETA COUNTY = ADAIR COUNTY',
  );
  assert.equal(
    levies(oklahoma, '40143', '40143/4075000', '40001'),
    '4.75 / 4.75, 8.4 / 4.75, 5.5 / 5.5',
  );
  const mexico = published.NM(
    "Alpha = Bernalillo, Arden = Albuquerque, Beta = Doña Ana, O'Dell = Las Cruces",
  );
  assert.equal(
    levies(mexico, '35001', '35001/3502000', '35013/3539380', '35013'),
    '6.25 / 6.25, 7.5 / 7.5, 8 / 8, ?',
  );
});

test('a city that a list names in one of its counties is not told in those taxed otherwise', () => {
  const oklahoma = published.OK(
    'ALPHA COUNTY = TULSA COUNTY, ARDEN = TULSA, BETA COUNTY = ADAIR COUNTY',
  );
  assert.equal(levies(oklahoma, '40143/4075000', '40113/4075000'), '8.4 / 4.75, ?');
  const missouri = published.MO(`
    ALPHA COUNTY = JACKSON COUNTY, ARDEN = LEES SUMMIT, ST BOSWELL = SPRINGFIELD,
    BETA COUNTY = CASS COUNTY, NOWHERE = BELTON
  `);
  assert.equal(levies(missouri, '29095/2941348', '29037/2941348'), '8.975 / 4.225, ?');
  const colorado = published.CO(`
    ARDEN = AURORA, ALPHA COUNTY = ARAPAHOE COUNTY, ALPHA = ARAPAHOE, O'DELL = CAÑON CITY,
    BETA COUNTY = DOUGLAS COUNTY, BETA = DOUGLAS
  `);
  assert.equal(levies(colorado, '08005/0804000', '08035/0804000'), '8 / 8, ?');
});

test('a list whose fractions are percentages, or the reverse, is refused', () => {
  const alaska = fixture('ak-members.csv', {
    'Alpha County': 'Kenai Peninsula Borough',
  }).replaceAll(/\b0\.0(\d)/g, '$1.');
  assert.throws(
    () => load('ak-members', 'AK', '0', alaska),
    /list\.csv: its layout is another: .* has its highest rate, \d+ %: fractions/,
  );
  const louisiana = fixture('la-domiciles.html', { 'Alpha County': 'Acadia Parish' }).replaceAll(
    />(\d)\.(\d\d)00%</g,
    '>0.0$1$2<',
  );
  assert.throws(
    () => load('la-domiciles', 'LA', '5', louisiana),
    /list\.csv: its layout is another: .* has its highest rate, 0\.0\d+ %: fractions/,
  );
});

test('a district that no authority has a code for holds beside the records of a boundary file', () => {
  const ohio = loadRates(
    {
      ...RECIPE,
      estimates: [],
      lists: [{ reader: 'facts', path: 'facts/rates/OH.tsv' }],
      members: ['facts/rates/members.tsv'],
    },
    { factsDir: join(datasetsDir(), 'facts'), sourcesDir: DIR, estimated: false },
  );
  const sales = (complete: boolean): number =>
    ohio.book
      .resolve({
        state: '39',
        county: '39035',
        place: '',
        town: '',
        districts: [],
        complete,
      })
      .components.reduce(
        (sum, { periods }) =>
          sum + (periods.find(({ from, to }) => from <= DAY && to >= DAY)?.sales ?? 0),
        0,
      );
  assert.equal(sales(false), 80_000_000);
  assert.equal(sales(true), sales(false));
});

test('Washington with the boundaries of its codes: all of the local part is theirs', () => {
  const rates = load(
    'wa-quarter',
    'WA',
    '6.5',
    'Name,Code,State,Local,RTA,Rate,Effective Date,' +
      'Expiration Date\nSEATTLE,1726,0.065,0.0405,0,0.1055,20261001,20261231\n',
    { areas: true },
  );
  assert.equal(levied(rates, '53033', '5363000', ['1726']), '10.55 / 10.55');
  assert.equal(levied(rates, '53033', '5363000', ['1799']), '?', 'a code without a rate');
});

test('New York and South Carolina: totals out of the text of their PDFs', () => {
  const york = published.NY(
    'Alpha = Oneida, Arden = Rome, Beta = Cayuga, O’Dell = Auburn, Gamma = Albany',
  );
  assert.equal(
    levies(york, '36065', '36065/3663418', '36011', '36011/3603078', '36001'),
    '8.75 / 8.75, 8.5 / 8.5, 8.375 / 8.375, 8.875 / 8.875, 8 / 8',
  );
  const carolina = published.SC(`
    Alpha = Georgetown, Arden = Pawleys Island, Beta = Williamsburg, St. Boswell = Andrews,
    Nowhere = Kingstree
  `);
  assert.equal(
    levies(carolina, '45043', '45043/4501450', '45089/4501450', '45089/4538590'),
    '7 / 7, 8 / 8, 7 / 7, 8.5 / 8.5',
  );
});
