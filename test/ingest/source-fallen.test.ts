/** Rows that fall away are told with file, row and reason, and counted against a tolerance. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadRates } from '../../src/ingest/rates/load.js';
import type { RatesRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { readPoints, readRanges, readRecords } from '../../src/ingest/source/address-source.js';
import { boundaryRow } from '../support/boundary-rows.js';

const DIR = mkdtempSync(join(tmpdir(), 'situs-fallen-'));
const HEADER = 'LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE\n';
const DOOR = '-29.5,10.25,12,ALDER WAY,,ASHFORD,,QA,91010\n';

after(() => rmSync(DIR, { recursive: true, force: true }));

function put(name: string, text: string): string {
  writeFileSync(join(DIR, name), text);
  return name;
}

async function drain(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const row of rows) if (row !== undefined) count += 1;
  return count;
}

async function points(text: string, tolerance?: string): Promise<readonly [number, string[]]> {
  const told: string[] = [];
  const file = put('points.csv', HEADER + text);
  const count = await drain(
    readPoints(
      DIR,
      {
        file,
        layout: 'openaddresses',
        source: 'open',
        state: 'QA',
        ...(tolerance === undefined ? {} : { tolerance }),
      },
      (line) => told.push(line),
    ),
  );
  return [count, told];
}

test('doors: what a row lacks is told, with the first row of each reason', async () => {
  assert.deepEqual(await points(DOOR.repeat(3)), [3, []]);
  assert.deepEqual(
    await points(
      [
        DOOR,
        DOOR.replace('12', ''),
        DOOR.replace('12', '0'),
        DOOR.replace('ALDER WAY', ' '),
        DOOR.replace('-29.5,10.25', ','),
        DOOR.replace('12', 'A'),
        DOOR.replace('-29.5,10.25', '0,0'),
      ].join(''),
    ),
    [
      1,
      [
        'points.csv: 6 of 7 rows left out: 2 without a house number (first: row 3); ' +
          '2 without coordinates (first: row 6); 1 without a street (first: row 5); ' +
          '1 with a house number that has no digit (first: row 7)',
      ],
    ],
  );
});

test('doors: rows that cannot be read are tolerated up to the stated share', async () => {
  const bad = DOOR.replace('10.25', '10250000') + DOOR.replace('-29.5', 'west');
  const told = '2 with coordinates that are no degrees (first: row 2)';
  await assert.rejects(
    () => points(bad + DOOR.repeat(1000)),
    new RegExp(
      'points.csv: 2 of 1,002 ' +
        'rows cannot be read, more than the 0.1 % that are tolerated: 2 with coordinates',
    ),
  );
  assert.deepEqual(await points(bad + DOOR.repeat(1998)), [
    1998,
    [`points.csv: 2 of 2,000 rows left out: ${told}`],
  ]);
  assert.deepEqual(await points(bad + DOOR, '70'), [
    1,
    [`points.csv: 2 of 3 rows left out: ${told}`],
  ]);
  await assert.rejects(() => points(bad + DOOR, 'all'), /"all" is no tolerance in percent/);
  await assert.rejects(() => points(''), /points\.csv: it has no rows/);
});

test('streets: segments without numbers, and with more than they can bear', async () => {
  const line = '-29.5,10.25 -29.4999,10.25';
  const told: string[] = [];
  const file = put(
    'segments.tsv',
    [
      'street\tl_from\tl_to\tr_from\tr_to\tzip_left\tzip_right\tgeometry',
      `ELM ST\t1\t9\t2\t8\t91010\t91010\t${line}`,
      `ELM ST\t\t\t\t\t91010\t91010\t${line}`,
      `ELM ST\t1\t9999\t\t\t91010\t91010\t${line}`,
      `\t1\t9\t2\t8\t91010\t91010\t${line}`,
      'ELM ST\t1\t9\t2\t8\t91010\t91010\tPOINT',
    ].join('\n'),
  );
  const source = { file, layout: 'segments', source: 's', state: 'QA', tolerance: '20' };
  assert.equal(await drain(readRanges(DIR, source, (text) => told.push(text))), 1);
  assert.deepEqual(told, [
    'segments.tsv: 4 of 5 rows left out: ' +
      '1 without house numbers (first: row 3); ' +
      '1 with more numbers than their street can bear (first: row 4); ' +
      '1 without a street (first: row 5); 1 without a line (first: row 6)',
  ]);
});

test('boundary files: a record of another kind or without a ZIP is a fault, a stranger is refused', async () => {
  const whole = { 1: 'z', 2: '20161001', 3: '20190331', 23: '91', 24: '91', 25: '001' };
  const zips = Array.from({ length: 100 }, (_, at) => String(91012 + at));
  const rows = zips.map((zip) => boundaryRow({ ...whole, 18: zip, 20: zip }));
  const read = async (lines: readonly string[], tolerance?: string): Promise<string[]> => {
    const told: string[] = [];
    const file = put('QAB2026Q4.csv', lines.join('\r\n'));
    const source = {
      file,
      state: 'QA',
      source: 'sst-qa',
      ...(tolerance === undefined ? {} : { tolerance }),
    };
    await drain(readRecords(join(DIR, file), source, (text) => told.push(text)));
    return told;
  };
  assert.deepEqual(await read(rows), []);
  const first = rows[0] ?? '';
  const bad = [
    'X' + first.slice(1),
    first.replace('20161001', '20161301'),
    first.replaceAll('91012', '910I2'),
    `${first},,,`,
    first.replace(',91,91,', ',,91,'),
  ];
  assert.deepEqual(await read([...rows, ...bad], '5'), [
    'QAB2026Q4.csv: 5 of 105 rows left out: ' +
      '1 of no record type (A, 4 or Z) (first: row 101); 1 with a date that is none (first: row 102); ' +
      '1 with a ZIP that is none (first: row 103); ' +
      '1 with another number of columns than 89 (first: row 104); 1 without a state (first: row 105)',
  ]);
  await assert.rejects(() => read([...rows, ...bad]), /5 of 105 rows cannot be read/);
  await assert.rejects(
    () => read(['state,type,code', ...rows]),
    /QAB2026Q4\.csv: this is no boundary file: a first row of no record type .*: state,type,code/,
  );
});

test('rate lists: a list whose header lacks a column is refused, and faults name the list', () => {
  const recipe = JSON.parse(
    readFileSync(join(datasetsDir(), 'recipes/rates-default.json'), 'utf8'),
  ) as RatesRecipe;
  const load = (text: string): unknown =>
    loadRates(
      {
        ...recipe,
        members: [],
        estimates: [],
        lists: [
          {
            reader: 'wa-dor',
            path: put('wa.tsv', text),
            state: 'WA',
            source: 'wa-dor',
          },
        ],
      },
      { factsDir: join(datasetsDir(), 'facts'), sourcesDir: DIR, estimated: false },
    );
  const header = [
    'location_code',
    'location',
    'state_rate',
    'local_rate',
    'rta_rate',
    'total_rate',
    'effective_from',
    'effective_to',
  ].join('\t');
  const row = ['0100', 'ADAMS COUNTY', '0.065', '0.015', '0', '0.08', '20261001', '20261231'];
  load(`\uFEFF${header}\n${row.join('\t')}\n`);
  assert.throws(
    () => load(`${header.replace('total_rate', 'total')}\n${row.join('\t')}\n`),
    /wa\.tsv: its layout is another: it has no column total_rate, but: location_code, location/,
  );
  assert.throws(() => load(''), /wa\.tsv: its layout is another: .* but: no header/);
  assert.throws(
    () => load(`${header}\n${row.join('\t').replace('0.015', 'n/a')}\n`),
    /wa\.tsv: ADAMS COUNTY: not a rate: n\/a/,
  );
});
