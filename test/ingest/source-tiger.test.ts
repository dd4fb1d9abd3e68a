import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTigerRanges } from '../../src/ingest/source/ranges.js';

type Row = Readonly<Record<string, string>>;
type Line = readonly (readonly [lng: number, lat: number])[];

const FIELDS = [
  'FULLNAME', 'LFROMHN', 'LTOHN', 'RFROMHN', 'RTOHN', 'ZIPL', 'ZIPR', 'PARITYL', 'PARITYR',
  'PLUS4L', 'PLUS4R', 'OFFSETL', 'OFFSETR',
] as const;
const WIDTH = 12;

/** A dBASE table of text columns, by the published layout. */
function dbf(rows: readonly Row[]): Buffer {
  const head = Buffer.alloc(33 + FIELDS.length * 32);
  head[0] = 3;
  head.writeUInt32LE(rows.length, 4);
  head.writeUInt16LE(head.length, 8);
  head.writeUInt16LE(1 + FIELDS.length * WIDTH, 10);
  FIELDS.forEach((name, index) => {
    head.write(name, 32 + index * 32, 'latin1');
    head.write('C', 32 + index * 32 + 11, 'latin1');
    head[32 + index * 32 + 16] = WIDTH;
  });
  head[head.length - 1] = 13;
  const body = rows.map((row) =>
    ` ${FIELDS.map((name) => (row[name] ?? '').padEnd(WIDTH)).join('')}`).join('');
  return Buffer.concat([head, Buffer.from(body, 'latin1'), Buffer.from([26])]);
}

/** A shapefile of polylines with one part each. */
function shp(lines: readonly Line[]): Buffer {
  const records = lines.map((line, index) => {
    const record = Buffer.alloc(8 + 48 + line.length * 16);
    record.writeInt32BE(index + 1, 0);
    record.writeInt32BE((record.length - 8) / 2, 4);
    record.writeInt32LE(3, 8);
    record.writeInt32LE(1, 44);
    record.writeInt32LE(line.length, 48);
    line.forEach(([lng, lat], vertex) => {
      record.writeDoubleLE(lng, 56 + vertex * 16);
      record.writeDoubleLE(lat, 64 + vertex * 16);
    });
    return record;
  });
  const head = Buffer.alloc(100);
  head.writeInt32BE(9994, 0);
  head.writeInt32BE((100 + records.reduce((sum, record) => sum + record.length, 0)) / 2, 24);
  head.writeInt32LE(1000, 28);
  head.writeInt32LE(3, 32);
  return Buffer.concat([head, ...records]);
}

test('address range features: both sides, empty ranges, slips, offsets', async () => {
  const line: Line = [[-29.5, 10.25], [-29.499, 10.25], [-29.498, 10.251]];
  const rows: readonly Row[] = [
    {
      FULLNAME: 'Alder Way', LFROMHN: '1199', LTOHN: '1101', ZIPL: '91010', PARITYL: 'O',
      PLUS4L: '0042', OFFSETL: 'N', OFFSETR: 'N',
    },
    {
      FULLNAME: 'Birch St', LFROMHN: '2', LTOHN: '98', RFROMHN: '1', RTOHN: '100', ZIPL: '91010',
      ZIPR: '91020', PARITYL: 'E', PARITYR: 'O', OFFSETR: 'Y',
    },
    { FULLNAME: 'Cedar Ln', LFROMHN: '1', LTOHN: '91915', ZIPL: '91010', PARITYL: 'O' },
    { FULLNAME: 'Dogwood Ln' },
    { LFROMHN: '1', LTOHN: '9', ZIPL: '91010', PARITYL: 'O' },
    { FULLNAME: 'Elm St', LFROMHN: '12-1', LTOHN: '12-9', ZIPL: '91010', PARITYL: 'O' },
  ];
  const folder = mkdtempSync(join(tmpdir(), 'situs-tiger-'));
  writeFileSync(join(folder, 'edges.dbf'), dbf(rows));
  writeFileSync(join(folder, 'edges.shp'), shp(rows.map(() => line)));
  const ranges = [];
  for await (const range of readTigerRanges(join(folder, 'edges.shp'), {
    source: 'edges', state: 'QA',
  })) ranges.push(range);
  assert.deepEqual(ranges.map((range) => range.street), ['Alder Way', 'Birch St']);
  const [alder, birch] = ranges;
  assert.deepEqual(alder?.left, {
    from: 1199, to: 1101, parity: 'odd', zip: '91010', zip4: '0042', wideSetback: false,
  });
  assert.equal(alder?.right, null);
  assert.deepEqual(alder?.geometry,
    [10_250_000, -29_500_000, 10_250_000, -29_499_000, 10_251_000, -29_498_000]);
  assert.equal(birch?.right?.parity, 'both', 'the ends contradict the stated parity');
  assert.equal(birch?.right?.wideSetback, true);
});

async function streetsOf(shpBytes: Buffer, dbfBytes: Buffer): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'situs-tiger-'));
  writeFileSync(join(folder, 'edges.dbf'), dbfBytes);
  writeFileSync(join(folder, 'edges.shp'), shpBytes);
  const streets: string[] = [];
  for await (const range of readTigerRanges(join(folder, 'edges.shp'), {
    source: 'edges', state: 'QA',
  })) streets.push(range.street);
  return streets;
}

test('names in UTF-8; deleted records are none; a file that is cut short is refused', async () => {
  const line: Line = [[-29.5, 10.25], [-29.499, 10.25]];
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
