/** The published layouts of location codes and of county addresses, read alone (published/README.md). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRecipe } from '../../src/ingest/recipe.js';
import { recipeFaults } from '../../src/ingest/recipe-check.js';
import { FallenRows } from '../../src/ingest/source/fallen.js';
import { readLocationAddresses, readLocationZip4 } from '../../src/ingest/source/location-codes.js';
import { readCountyAddresses } from '../../src/ingest/source/county-addresses.js';
import type { BoundaryRecord } from '../../src/ingest/source/sst-boundary.js';

const PUBLISHED = join(import.meta.dirname, '../../../test/ingest/published');

async function readAll(
  read: (path: string, fallen: FallenRows) => AsyncGenerator<BoundaryRecord>,
  name: string,
): Promise<{ readonly records: readonly BoundaryRecord[]; readonly fallen: FallenRows }> {
  const fallen = new FallenRows(name, 100);
  const records: BoundaryRecord[] = [];
  for await (const record of read(join(PUBLISHED, name), fallen)) records.push(record);
  return { records, fallen };
}

test('rows that cannot be read are counted by reason', async () => {
  for (const [read, name, kept, reasons] of [
    [
      readLocationAddresses,
      'wa-addresses.csv',
      3,
      ['without a location code', 'without its quarter', 'with a ZIP that is none'],
    ],
    [
      readLocationZip4,
      'wa-zip4.csv',
      2,
      ['without a location code', 'with an add-on that is none', 'with a date that is none'],
    ],
    [
      readCountyAddresses,
      'county-addresses.txt',
      3,
      [
        'with a date that is none',
        'without a county',
        'without a state',
        'with a ZIP that is none',
      ],
    ],
  ] as const) {
    const { records, fallen } = await readAll(read, name);
    assert.equal(records.length, kept, name);
    assert.deepEqual(
      fallen.reasons.map(([reason]) => reason),
      reasons,
      name,
    );
  }
});

test('fields of fixed width are read at their places', async () => {
  const { records } = await readAll(readCountyAddresses, 'county-addresses.txt');
  const [odd, , ended] = records;
  assert.deepEqual(
    [
      odd!.begin,
      odd!.end,
      odd!.low,
      odd!.high,
      odd!.parity,
      odd!.street,
      odd!.city,
      odd!.zip,
      odd!.zip4,
      odd!.stateFips,
      odd!.county,
    ],
    [20250701, 99991231, '1', '99', 'O', 'KESTREL WAY', 'FIRTON', '94010', '7001', '94', '001'],
  );
  assert.deepEqual([ended!.end, ended!.street], [20251231, 'N MERLIN RD W']);
});

test('another file is refused, and so is a misspelt layout', async () => {
  await assert.rejects(readAll(readCountyAddresses, 'nm-grt.csv'), /no addresses of fixed width/);
  await assert.rejects(readAll(readLocationZip4, 'wa-addresses.csv'), /has no column "PLUS4_LOW"/);
  await assert.rejects(readAll(readLocationAddresses, 'wa-zip4.csv'), /has no column "ADDR_LOW"/);
  const { recipe } = readRecipe('fixture');
  const entry = { file: 'a.zip', state: 'QA', source: 'x', layout: 'wa-adresses' };
  assert.match(recipeFaults({ ...recipe, sst: [entry] }).join(), /wa-adresses.*wa-addresses/);
});
