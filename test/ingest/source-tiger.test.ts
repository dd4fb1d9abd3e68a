import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTigerRanges } from '../../src/ingest/source/ranges.js';
import { dbfOf, type Line, POLYLINE, shpOf } from '../support/made-files.js';

type Row = Readonly<Record<string, string>>;

const FIELDS = [
  'FULLNAME',
  'LFROMHN',
  'LTOHN',
  'RFROMHN',
  'RTOHN',
  'ZIPL',
  'ZIPR',
  'PARITYL',
  'PARITYR',
  'PLUS4L',
  'PLUS4R',
  'OFFSETL',
  'OFFSETR',
] as const;
const WIDTH = 12;

const dbf = (rows: readonly Row[]): Buffer => dbfOf(rows, FIELDS, WIDTH);
const shp = (lines: readonly Line[]): Buffer => shpOf(lines, POLYLINE);

const ROWS: readonly Row[] = [
  {
    FULLNAME: 'Alder Way',
    LFROMHN: '1199',
    LTOHN: '1101',
    ZIPL: '91010',
    PARITYL: 'O',
    PLUS4L: '0042',
    OFFSETL: 'N',
    OFFSETR: 'N',
  },
  {
    FULLNAME: 'Birch St',
    LFROMHN: '2',
    LTOHN: '98',
    RFROMHN: '1',
    RTOHN: '100',
    ZIPL: '91010',
    ZIPR: '91020',
    PARITYL: 'E',
    PARITYR: 'O',
    OFFSETR: 'Y',
  },
  { FULLNAME: 'Cedar Ln', LFROMHN: '1', LTOHN: '91915', ZIPL: '91010', PARITYL: 'O' },
  { FULLNAME: 'Dogwood Ln' },
  { LFROMHN: '1', LTOHN: '9', ZIPL: '91010', PARITYL: 'O' },
  { FULLNAME: 'Elm St', LFROMHN: '12-1', LTOHN: '12-9', ZIPL: '91010', PARITYL: 'O' },
];

test('address range features: both sides, empty ranges, slips, offsets', async () => {
  const line: Line = [
    [-29.5, 10.25],
    [-29.499, 10.25],
    [-29.498, 10.251],
  ];
  const folder = mkdtempSync(join(tmpdir(), 'situs-tiger-'));
  writeFileSync(join(folder, 'edges.dbf'), dbf(ROWS));
  writeFileSync(join(folder, 'edges.shp'), shp(ROWS.map(() => line)));
  const ranges = [];
  for await (const range of readTigerRanges(join(folder, 'edges.shp'), {
    source: 'edges',
    state: 'QA',
  }))
    ranges.push(range);
  assert.deepEqual(
    ranges.map((range) => range.street),
    ['Alder Way', 'Birch St'],
  );
  const [alder, birch] = ranges;
  assert.deepEqual(alder?.left, {
    from: 1199,
    to: 1101,
    parity: 'odd',
    zip: '91010',
    zip4: '0042',
    wideSetback: false,
  });
  assert.equal(alder?.right, null);
  assert.deepEqual(
    alder?.geometry,
    [10_250_000, -29_500_000, 10_250_000, -29_499_000, 10_251_000, -29_498_000],
  );
  assert.equal(birch?.right?.parity, 'both', 'the ends contradict the stated parity');
  assert.equal(birch?.right?.wideSetback, true);
});

async function streetsOf(shpBytes: Buffer, dbfBytes: Buffer): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'situs-tiger-'));
  writeFileSync(join(folder, 'edges.dbf'), dbfBytes);
  writeFileSync(join(folder, 'edges.shp'), shpBytes);
  const streets: string[] = [];
  for await (const range of readTigerRanges(join(folder, 'edges.shp'), {
    source: 'edges',
    state: 'QA',
  }))
    streets.push(range.street);
  return streets;
}

test('names in UTF-8; deleted records are none; a file that is cut short is refused', async () => {
  const line: Line = [
    [-29.5, 10.25],
    [-29.499, 10.25],
  ];
  const numbers = { LFROMHN: '1', LTOHN: '9', ZIPL: '91010', PARITYL: 'O' };
  const names = ['Calle Peña', 'Gone Rd', 'Elm St'];
  const table = dbf(names.map((FULLNAME) => ({ FULLNAME, ...numbers })));
  // The name is one byte longer than its letters.
  const wide = Buffer.from(table);
  wide.write('Calle Peña ', 33 + FIELDS.length * 32 + 1, 'utf8');
  wide[33 + FIELDS.length * 32 + 1 + FIELDS.length * WIDTH] = 42;
  const lines = shp(names.map(() => line));
  assert.deepEqual(await streetsOf(lines, wide), ['Calle Peña', 'Elm St']);
  await assert.rejects(streetsOf(lines.subarray(0, -9), wide), /edges\.shp: .* cut short: 2 of 3/);
  await assert.rejects(streetsOf(lines, wide.subarray(0, -99)), /cut short: 2 of 3/);
  await assert.rejects(streetsOf(shp([line, line, line, line]), wide), /more shapes than records/);
  const renamed = Buffer.from(wide);
  renamed.write('ANYNAME\0', 32, 'latin1');
  await assert.rejects(streetsOf(lines, renamed), /no column "FULLNAME"/);
});
