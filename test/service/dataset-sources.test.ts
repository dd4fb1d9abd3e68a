/** `situs dataset fetch` of the catalogue, from a mirror that plays the publishers. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { sourcesTable } from '../../src/cli/catalogue-fetch.js';
import { readCatalogue } from '../../src/ingest/publisher/catalogue.js';
import type { FetchRecord } from '../../src/ingest/publisher/fetched-folder.js';
import { CommandProcess } from '../support/command-process.js';
import { Publishers } from '../support/publishers.js';
import type { Ran } from '../support/run-command.js';
import { workbookOf, zipOf } from '../support/made-files.js';

const SST = '/www.streamlinedsalestax.org/ratesandboundry/Rates/';
const TX = '/comptroller.texas.gov/data/edi/sales-tax/taxrates.txt';
const IL =
  '/tax.illinois.gov/content/dam/soi/en/web/tax/research/taxrates/documents/' + 'salestaxrates/';
const VA = '/www.tax.virginia.gov/sites/default/files/inline-files/sales-tax-rates.xlsx';
const CA_PAGE = '/cdtfa.ca.gov/taxes-and-fees/sales-use-tax-rates.htm';
const RATES = zipOf([
  { name: 'MNR.csv', data: '27,45,27,0.06875,0.06875,0,0,20050101,29991231\n' },
]);

const publishers = new Publishers();
const commands = new CommandProcess();
const { files } = publishers;
let mirror = '';
let dir = '';

before(async () => {
  await publishers.start();
  mirror = publishers.mirror;
});

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'situs-sources-'));
  publishers.clear();
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

after(async () => {
  publishers.stop();
  await commands.end();
});

function run(...args: readonly string[]): Promise<Ran> {
  return commands.run(['dataset', 'fetch', '--to', join(dir, 'to'), ...args]);
}

function records(): Readonly<Record<string, FetchRecord>> {
  return JSON.parse(readFileSync(join(dir, 'to/fetched.json'), 'utf8')) as Record<
    string,
    FetchRecord
  >;
}

test('the newest file of a listing; unchanged, under a new name, and changed', async () => {
  publishers.list(SST, 'MNR2026Q3MAY18.zip', 'MNR2026Q4AUG18.zip', 'WIR2026Q4AUG17.csv');
  files.set(`${SST}MNR2026Q4AUG18.zip`, RATES);
  const rates = ['--source', 'sst-rates/MN', '--mirror', mirror];
  const first = await run(...rates);
  assert.equal(first.out, 'fetched   sst-rates/MNR2026Q4AUG18.zip\n', first.err);
  assert.match(first.err, /sst-rates\/MN: \d+ of \d+/);
  assert.deepEqual(readFileSync(join(dir, 'to/sst-rates/MNR2026Q4AUG18.zip')), RATES);
  const [key, record] = Object.entries(records())[0] ?? [];
  assert.deepEqual(
    [key, record?.bytes, record?.url],
    [
      'sst-rates/MN',
      RATES.length,
      'https://www.streamlinedsalestax.org/ratesandboundry/Rates/MNR2026Q4AUG18.zip',
    ],
  );
  publishers.asked = [];
  assert.equal((await run(...rates, '--quiet')).out, 'same      sst-rates/MNR2026Q4AUG18.zip\n');
  assert.deepEqual(publishers.asked, [SST, `${SST}MNR2026Q4AUG18.zip conditional`]);

  publishers.list(SST, 'MNR2026Q4AUG18.zip', 'MNR2027Q1NOV20.zip');
  files.set(`${SST}MNR2027Q1NOV20.zip`, RATES);
  assert.match(
    (await run(...rates, '--quiet')).out,
    /^same {6}sst-rates\/MNR2026Q4AUG18\.zip \(the publisher calls it MNR2027Q1NOV20\.zip/,
  );
  assert.deepEqual(readdirSync(join(dir, 'to/sst-rates')), ['MNR2026Q4AUG18.zip']);

  files.set(`${SST}MNR2027Q1NOV20.zip`, zipOf([{ name: 'MNR.csv', data: 'new' }]));
  assert.equal((await run(...rates, '--quiet')).out, 'fetched   sst-rates/MNR2027Q1NOV20.zip\n');
  assert.equal(records()['sst-rates/MN']?.path, 'sst-rates/MNR2027Q1NOV20.zip');
});

test('refusals, pages in place of files, torn archives and missing links are told', async () => {
  files.set(`${IL}ordmache-current.txt`, 403);
  files.set(`${IL}ordmacha-current.txt`, Buffer.from('<!DOCTYPE html><html>Not found</html>'));
  files.set(VA, workbookOf({ Rates: [['x']] }).subarray(0, 200));
  files.set(CA_PAGE, Buffer.from('<a href="/other.xlsx">Rates</a>'));
  files.set(TX, { moved: '/moved/rates.txt' });
  files.set('/moved/rates.txt', Buffer.from('1\t20264\t202610\n'));
  const { code, out, err } = await run(
    '--quiet',
    '--mirror',
    mirror,
    ...['il-rates', 'il-addresses', 'va-rates', 'ca-rates', 'tx-rates'].flatMap((name) => [
      '--source',
      name,
    ]),
  );
  assert.equal(code, 1);
  assert.equal(out, 'fetched   tx-rates/taxrates.txt\n');
  assert.match(err, /il-rates: ordmache-current\.txt from https:.*: the publisher answers 403;/);
  assert.match(err, /answers 403; visit https:\/\/tax/);
  assert.match(err, /il-addresses: .*: it is a web page, not a table/);
  assert.match(err, /va-rates: .*: its archive is torn/);
  assert.match(err, /ca-rates: no link of .* is named as \^SalesTaxRates/);
  assert.deepEqual(
    readdirSync(join(dir, 'to')).sort(),
    ['ca-rates', 'fetched.json', 'il-addresses', 'il-rates', 'tx-rates', 'va-rates'].filter(
      (name) => existsSync(join(dir, 'to', name)),
    ),
  );
  assert.deepEqual(readdirSync(join(dir, 'to/va-rates')), []);
});

test('a quarter that has not begun is passed over; a year without files falls back', async () => {
  const ahead = new Date().getUTCFullYear() + 1;
  const [next, now] = [`SalesTaxRates1-1-${ahead % 100}.xlsx`, 'SalesTaxRates04-01-26.xlsx'];
  files.set(CA_PAGE, Buffer.from(`<a href="/${next}">a</a><a href="${now}">b</a>`));
  files.set(`/cdtfa.ca.gov/taxes-and-fees/${now}`, workbookOf({ Rates: [['Location']] }));
  publishers.list(
    '/www2.census.gov/geo/tiger/',
    'TIGER2024/',
    'TIGER2025/',
    'TIGER_RD18/',
    'TIGER2024PL/',
  );
  files.set('/www2.census.gov/geo/tiger/TIGER2024/PLACE/tl_2024_27_place.zip', RATES);
  const { out, err } = await run(
    '--quiet',
    '--mirror',
    mirror,
    '--source',
    'ca-rates',
    '--source',
    'tiger-place/27',
    '--source',
    'tiger-place/MN',
  );
  assert.match(err, /no source "tiger-place\/27"/);
  const right = await run(
    '--quiet',
    '--mirror',
    mirror,
    '--source',
    'ca-rates',
    '--source',
    'tiger-place/MN',
  );
  assert.deepEqual(
    [out, right.out],
    ['', `fetched   ca-rates/${now}\n` + 'fetched   tiger-place/tl_2024_27_place.zip\n'],
    right.err,
  );
});

test('a folder is a mirror as well; what is withheld names the page and the folder', async () => {
  const held = (path: string, bytes: string | Buffer): void => {
    mkdirSync(dirname(join(dir, 'mirror', path)), { recursive: true });
    writeFileSync(join(dir, 'mirror', path), bytes);
  };
  held(`${SST}MNR2026Q4AUG18.zip`, RATES);
  const options = ['--quiet', '--mirror', join(dir, 'mirror')];
  assert.equal(
    (await run(...options, '--source', 'sst-rates/MN')).out,
    'fetched   sst-rates/MNR2026Q4AUG18.zip\n',
  );
  assert.equal(
    (await run(...options, '--source', 'sst-rates/MN')).out,
    'same      sst-rates/MNR2026Q4AUG18.zip\n',
  );
  const hand = await run(...options, '--source', 'la-rates');
  const folder = join(dir, 'to/la-rates');
  assert.match(hand.out, /^by hand {3}la-rates: The rates are answers to a form/);
  assert.ok(hand.out.includes('https://remotesellersfiling.la.gov/lookup/lookup.aspx'));
  assert.ok(hand.out.trimEnd().endsWith(` and put it into ${folder}`), hand.out);
  assert.equal(hand.code, 0);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'acadia.html'), 'x');
  assert.match((await run(...options, '--source', 'la-rates')).out, /^held {6}la-rates\n$/);
  assert.match(
    (await run('--mirror', '/nowhere', '--source', 'la-rates')).err,
    /no mirror in \/nowhere/,
  );
  assert.equal((await run('--mirror', mirror)).code, 2);
  assert.match((await run('--state', 'XX')).err, /no source of "XX"/);
});

test('a file whose address has no name gets one; a page of the year it is', async () => {
  const year = new Date().getUTCFullYear();
  const book = workbookOf({ Rates: [['County'], ['Alpha']] });
  files.set('/revenue.iowa.gov/media/195/download?inline', book);
  files.set(
    `/dor.mo.gov/taxation/business/tax-types/sales-use/rate-tables/${year}/`,
    Buffer.from(
      [`jan${year}`, `july${year + 1}`, `jan${year - 1}`]
        .map((name) => `<a href="/pdf/rates/${name}.xlsx">01/${year} - 03/${year} - XLS</a>`)
        .join(''),
    ),
  );
  files.set(`/dor.mo.gov/pdf/rates/jan${year}.xlsx`, book);
  const got = await run(
    '--source',
    'ia-lost',
    '--source',
    'mo-rates',
    '--mirror',
    mirror,
    '--quiet',
  );
  assert.equal(
    got.out,
    `fetched   ia-lost/ia-lost.xlsx\nfetched   mo-rates/jan${year}.xlsx\n`,
    got.err,
  );
});

test('a page that alone publishes a figure is asked whether it still says it', async () => {
  const page = '/portal.ct.gov/drs/sales-tax/tax-information';
  const says = (rate: string): Buffer =>
    Buffer.from(
      `<html><p>The sales tax rate of <b>${rate}%</b> applies to the ` +
        'retail sale, lease or rental of most goods.</p><p>There are no additional sales taxes ' +
        'imposed by local&nbsp;' +
        'jurisdictions in Connecticut.</p></html>',
    );
  files.set(page, says('6.35'));
  const asks = ['--source', 'ct-rate', '--mirror', mirror];
  const same = await run(...asks, '--quiet');
  assert.deepEqual([same.code, same.out], [0, 'as held   ct-rate\n'], same.err);
  files.set(page, says('6.5'));
  const changed = await run(...asks, '--quiet');
  assert.equal(changed.code, 1);
  assert.match(
    changed.err,
    /situs: ct-rate: the page does not say ".*6\\\.35%.*" any more.*visit https:\/\/portal/,
  );
  files.delete(page);
  assert.match(
    (await run(...asks, '--quiet')).err,
    /ct-rate: https:\/\/portal.*the publisher answers 404/,
  );
});

test('the documentation has the catalogue as it is', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/datasets.md'), 'utf8');
  assert.ok(
    docs.includes(sourcesTable(readCatalogue())),
    'put the output of `situs dataset sources` into docs/datasets.md',
  );
});
