/**
 * Lists as their authorities publish them. Figures that are held in another form are laid out as
 * docs/datasets.md describes the publisher's file and have to give the same rows.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type LoadedRates, loadRates } from '../../src/ingest/rates/load.js';
import type { RateList, RatesRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir, SourceFiles } from '../../src/ingest/source-files.js';
import { readTable } from '../../src/ingest/source/table-text.js';
import { writeExcerpts } from './listed-excerpts.js';
import { type CellValue, workbookOf, zipOf } from '../support/made-files.js';

const SHARED = join(import.meta.dirname, '../../../../shared/data');
const DIR = mkdtempSync(join(tmpdir(), 'situs-published-'));
const EXCERPTS = join(DIR, 'excerpts');
const FACTS = join(datasetsDir(), 'facts');
const RECIPE = JSON.parse(
  readFileSync(join(datasetsDir(), 'recipes/rates-reference.json'), 'utf8'),
) as RatesRecipe;

writeExcerpts(EXCERPTS);
after(() => rmSync(DIR, { recursive: true, force: true }));

/** Runs a test on the excerpt of a list, and on the whole list where it is there. */
function testOnBoth(
  name: string,
  least: { readonly excerpt: number; readonly whole: number },
  run: (folder: string, rowsMin: number) => Promise<void>,
): void {
  test(`${name}, of an excerpt`, () => run(EXCERPTS, least.excerpt));
  test(
    `${name}, of the whole list`,
    { skip: existsSync(SHARED) ? false : `${SHARED} is not there` },
    () => run(SHARED, least.whole),
  );
}

function held(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

async function load(list: RateList, sourcesDir: string): Promise<LoadedRates> {
  const files = new SourceFiles(FACTS, sourcesDir);
  await files.unpack([list.path]);
  return loadRates(
    { ...RECIPE, lists: [list], members: [] },
    { factsDir: FACTS, sourcesDir, estimated: false, packed: (path) => files.text(path) },
  );
}

/** What a list says, without who said it when. */
function said({ input, derivedMembers }: LoadedRates, days = true): readonly string[] {
  return [
    ...input.rows.map((row) =>
      [
        row.level,
        row.county,
        row.place,
        row.code,
        row.basis,
        row.sales,
        row.use,
        ...(days ? [row.from, row.to] : []),
        row.note?.replace(/Washington.*/, ''),
      ].join(' '),
    ),
    ...derivedMembers.map((member) => JSON.stringify(member)),
  ].sort();
}

async function washington(folder: string, rowsMin: number): Promise<void> {
  const quarter = readTable(held(folder, 'wa-dor-rates/wa_location_rates.tsv'), '\t').filter(
    (row) => row.get('effective_to') === '20260630',
  );
  const tsv = [
    'location_code\tlocation\tstate_rate\tlocal_rate\trta_rate\ttotal_rate' +
      '\teffective_from' +
      '\teffective_to',
    ...quarter.map((row) =>
      [
        'location_code',
        'location',
        'state_rate',
        'local_rate',
        'rta_rate',
        'total_rate',
        'effective_from',
        'effective_to',
      ]
        .map((column) => row.get(column))
        .join('\t'),
    ),
  ].join('\n');
  writeFileSync(join(DIR, 'wa.tsv'), tsv);
  const csv = [
    'Name,Code,State,Local,RTA,Rate,Effective Date,Expiration Date',
    ...quarter.map((row) =>
      [
        row.get('location'),
        row.get('location_code').padStart(4, '0'),
        row.get('state_rate'),
        row.get('local_rate'),
        '0',
        row.get('total_rate'),
        row.get('effective_from'),
        row.get('effective_to'),
      ].join(','),
    ),
  ].join('\r\n');
  writeFileSync(join(DIR, 'Rates_26Q2.zip'), zipOf([{ name: 'Rates_26Q2.csv', data: csv }]));
  const list = { state: 'WA', source: 'wa-dor' };
  const native = await load({ ...list, reader: 'wa-quarter', path: 'Rates_26Q2.zip' }, DIR);
  assert.ok(native.input.rows.length >= rowsMin, String(native.input.rows.length));
  assert.deepEqual(
    said(native),
    said(await load({ ...list, reader: 'wa-dor', path: 'wa.tsv' }, DIR)),
  );
}

testOnBoth(
  'Washington: the quarter as published gives the rows of the held one',
  { excerpt: 7, whole: 351 },
  washington,
);

/** The held list of Texas as lines of four triples. */
function texasLines(folder: string): readonly string[] {
  const codes = new Map(
    readTable(held(folder, 'local-rates-more/TX.tsv'), '\t')
      .filter((row) => row.get('as_of') === '2024-08-30')
      .map((row) => [row.get('code'), row]),
  );
  const triple = (code: string, name: string): string => {
    const pct = codes.get(code)?.get('local_pct') ?? '';
    const rate = pct === '' ? 'n/a' : `.${String(Math.round(Number(pct) * 1e4)).padStart(6, '0')}`;
    return `${name}\t${code === '' ? 'n/a' : code}\t${rate}`;
  };
  return readTable(held(folder, 'local-rates-more/TX-areas.tsv'), '\t').flatMap((area) => {
    const rest = [
      ...area.get('transit_codes').split(';'),
      ...area.get('spd_codes').split(';'),
    ].filter((code) => code !== '');
    if (rest.length > 2) return [];
    const named = (code: string): string => codes.get(code)?.get('name') ?? 'n/a';
    return [
      [
        triple(area.get('city_code'), area.get('area')),
        triple(area.get('county_code'), area.get('county')),
        triple(rest[0] ?? '', named(rest[0] ?? '')),
        triple(rest[1] ?? '', named(rest[1] ?? '')),
      ].join('\t'),
    ];
  });
}

async function texas(folder: string, rowsMin: number): Promise<void> {
  const first = ['1', '20243', '202407', '2024 - 3rd', '0.0625', '0', '2924', ''].join('\t');
  const lines = [first, '20241020\tm\tx', '20241120\tq\tx', ...texasLines(folder)];
  writeFileSync(join(DIR, 'taxrates.txt'), lines.join('\r\n'));
  const list = { state: 'TX', source: 'tx-comptroller' };
  const native = await load({ ...list, reader: 'tx-quarter', path: 'taxrates.txt' }, DIR);
  const given = RECIPE.lists.find(({ reader }) => reader === 'texas')!;
  const other = await load(given, folder);
  const rates = ({ input }: LoadedRates): Map<string, number> =>
    new Map(
      input.rows
        .filter(({ basis, from, asOf }) => basis === 'own' && (asOf <= 20240830 || from < 20240830))
        .map((row) => [`${row.level} ${row.code}${row.county}`, row.sales]),
    );
  const [mine, theirs] = [rates(native), rates(other)];
  assert.ok(mine.size >= rowsMin, String(mine.size));
  for (const [code, rate] of mine) assert.equal(rate, theirs.get(code), code);
  const wrong = (line: string): Promise<unknown> => {
    writeFileSync(join(DIR, 'wrong.txt'), [first, line].join('\n'));
    return load({ ...list, reader: 'tx-quarter', path: 'wrong.txt' }, DIR);
  };
  await assert.rejects(() => wrong('Abbott\t2109064\t.02'), /line 2 has 3 fields/);
  const area = texasLines(folder)[0] ?? '';
  await assert.rejects(() => wrong(area.replace('2109064', '7109064')), /no local code/);
  await assert.rejects(() => wrong(`${area}\n${area.replace(/\.0\d+/, '.011')}`), /another rate/);
}

testOnBoth(
  'Texas: the quarter as published gives the rates of every code that areas name',
  { excerpt: 6, whole: 1501 },
  texas,
);

async function illinois(folder: string, rowsMin: number): Promise<void> {
  const table = readTable(held(folder, 'local-rates-more/IL.tsv'), '\t');
  const lower = new Map(
    table
      .filter((row) => /\) \(|\(part/.test(row.get('name')))
      .map((row) => [row.get('code'), row.get('combined_pct')]),
  );
  const digits = (pct: string): string => String(Math.round(Number(pct) * 1000)).padStart(5, '0');
  const lines = table
    .filter((row) => !/\) \(|\(part/.test(row.get('name')))
    .map((row) => {
      const [, name = '', county = ''] =
        /^(.*?)(?: County| \(([^()]+)\))$/.exec(row.get('name')) ?? [];
      const figure = row.get('combined_pct');
      const high = figure === '' ? '00000' : digits(figure);
      const low = lower.has(row.get('code')) ? digits(lower.get(row.get('code')) ?? '') : high;
      return (
        row.get('code').padEnd(10) +
        name.padEnd(25) +
        (county || name).padEnd(25) +
        (figure === '' ? 'Y' : 'N') +
        row.get('effective_from').replaceAll('-', '') +
        `${high}01000${low}01000N`.padEnd(140, '0')
      );
    });
  writeFileSync(join(DIR, 'ordmache-current.txt'), `${lines.join('\r\n')}\r\n${lines[0]}\r\n`);
  const list = { state: 'IL', source: 'il-idor' };
  const native = await load({ ...list, reader: 'il-ordmache', path: 'ordmache-current.txt' }, DIR);
  const other = await load(
    { ...list, reader: 'illinois', path: 'local-rates-more/IL.tsv' },
    folder,
  );
  assert.ok(native.input.rows.length >= rowsMin, String(native.input.rows.length));
  assert.deepEqual(said(native), said(other));
  writeFileSync(join(DIR, 'wrong.txt'), `${lines[0]}\n${lines[1]?.slice(3)}\n`);
  await assert.rejects(
    () => load({ ...list, reader: 'il-ordmache', path: 'wrong.txt' }, DIR),
    /wrong\.txt: line 2 is none of its layout/,
  );
}

testOnBoth(
  'Illinois: lines as published give the rows of the held list',
  { excerpt: 7, whole: 1501 },
  illinois,
);

async function california(folder: string, rowsMin: number): Promise<void> {
  const path = 'ca-cdtfa/cdtfa_rates_2026-01-01.csv';
  const rows = readTable(held(folder, path), ',').map((row): CellValue[] => [
    row.get('Location'),
    Number(row.get('Rate')),
    row.get('County'),
    row.get('Type'),
    row.get('Notes') || null,
  ]);
  writeFileSync(
    join(DIR, 'SalesTaxRates1-1-26.xlsx'),
    workbookOf({
      Rates: [
        ['Tax Rates Effective January 1, 2026'],
        [],
        ['Location ', 'Rate', 'County', 'Type', 'Notes'],
        ...rows,
      ],
    }),
  );
  const list = { reader: 'cdtfa', state: 'CA', source: 'ca-cdtfa', options: { floor: '7.25' } };
  const native = await load({ ...list, path: 'SalesTaxRates1-1-26.xlsx' }, DIR);
  assert.ok(native.input.rows.length >= rowsMin, String(native.input.rows.length));
  assert.deepEqual(said(native), said(await load({ ...list, path }, folder)));
}

testOnBoth(
  'California: the workbook below titles gives the rows of the held list',
  { excerpt: 7, whole: 541 },
  california,
);
