/** Boundary files of the streamlined states, read row by row. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type BoundaryRecord,
  boundaryRange,
  readSstBoundary,
} from '../../src/ingest/source/sst-boundary.js';
import { boundaryRow } from '../support/boundary-rows.js';
import { all } from '../support/made-files.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-sst-boundary-'));

function file(name: string, content: string): string {
  const path = join(FOLDER, name);
  writeFileSync(path, content);
  return path;
}

/** A record of each kind, and one of none. */
const RECORDS = [
  boundaryRow({
    1: 'a',
    2: '20240101',
    3: '99991231',
    4: '1',
    5: '99999',
    6: 'O',
    7: 'N',
    8: 'ALDER',
    9: 'WAY',
    15: 'ASHFORD',
    16: '91010',
    17: '42',
    23: '97',
    24: '97',
    25: '1',
    26: '100',
  }),
  boundaryRow({
    1: '4',
    2: '20200101',
    3: '20231231',
    18: '91010',
    19: '7',
    20: '91012',
    21: '42',
    23: '97',
    24: '97',
    25: '001',
    30: 'ST',
    31: '80004',
    32: '63',
    33: 'ST',
    34: '70001',
    35: '63',
  }),
  boundaryRow({ 1: 'z', 2: '20200101', 3: '20231231', 18: '91010', 20: '91012', 23: '97' }),
  boundaryRow({ 1: 'X' }),
];

test('boundary files: three kinds in either case, byte order mark, unpadded add-ons', async () => {
  const path = file('SSB.csv', `\uFEFF${RECORDS.join('\n')}`);
  const records = await all(readSstBoundary(path));
  assert.deepEqual(
    records.map((record) => record.kind),
    ['address', 'zip9', 'zip5'],
  );
  const [address, zip9] = records as [BoundaryRecord, BoundaryRecord];
  assert.deepEqual(
    [zip9.zipLow, zip9.plus4Low, zip9.zipHigh, zip9.plus4High],
    [91010, 7, 91012, 42],
  );
  assert.deepEqual(
    [zip9.county, zip9.place, zip9.districts.map(({ code }) => code)],
    ['001', '', ['80004', '70001']],
  );
  assert.deepEqual([address.county, address.place, address.end], ['001', '00100', 99991231]);
  const range = boundaryRange(address, 5, 'QA', 'sst');
  assert.ok(range !== null && typeof range !== 'string');
  assert.deepEqual(
    [range.street, range.area, range.geometry, range.begin, range.end],
    ['N ALDER WAY', 5, [], 20240101, 99991231],
  );
  assert.deepEqual(
    [range.left?.from, range.left?.to, range.left?.parity, range.left?.zip4],
    [1, 99_999, 'odd', '0042'],
  );
});

test('boundary files: traps of single states', async () => {
  const held = { 2: '20240101', 3: '20991231', 23: '7', 24: '07', 25: '1' };
  const street = { 1: 'A', ...held, 4: '1', 5: '9', 6: 'B', 8: 'ALDER', 9: 'WAY', 16: '91010' };
  const records = await all(
    readSstBoundary(
      file(
        'traps.csv',
        [
          {
            ...street,
            26: '100',
            27: 'C1',
            30: 'ST',
            31: 'L1704',
            32: '45',
            33: 'ST',
            34: '5',
            35: '63',
          },
          { ...street, 26: '100', 27: 'U1', 24: '' },
          { ...street, 12: '1', 13: '20', 24: '6' },
          { ...street, 4: '1256 1/2', 5: '1258' },
          { ...street, 8: 'PO BOX', 9: '' },
          { ...street, 8: '', 9: '' },
          { ...street, 4: '' },
          { ...street, 4: '0', 5: '0' },
        ]
          .map((columns) => boundaryRow(columns))
          .join('\n'),
      ),
    ),
  );
  const [city, noCity, units] = records as [BoundaryRecord, BoundaryRecord, BoundaryRecord];
  assert.deepEqual(
    city.districts.map(({ code }) => code),
    ['5'],
    'type 45 is a location code',
  );
  assert.deepEqual([city.place, noCity.place], ['00100', ''], 'class U1 is no municipality');
  assert.deepEqual(
    [city, noCity, units].map(({ stateTaxed }) => stateTaxed),
    [true, false, false],
  );
  assert.deepEqual([city.units, units.units], [false, true]);
  assert.equal(city.end, 99991231, 'some write "no end" as a day of 2099');
  assert.deepEqual(
    records.slice(3).map((record) => boundaryRange(record, 5, 'QA', 'sst')),
    [
      'with house numbers that are no integers',
      'of post office boxes',
      'without a street',
      'without house numbers',
      null,
    ],
  );
});
