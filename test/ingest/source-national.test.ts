/** Addresses of the whole nation: the National Address Database, collections of OpenAddresses. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readPoints } from '../../src/ingest/source/address-source.js';
import type { AddressPoint } from '../../src/ingest/source/points.js';
import { zipOf } from '../support/made-files.js';

const FILES = join(import.meta.dirname, '../../../test/ingest/published');
const DIR = mkdtempSync(join(tmpdir(), 'situs-national-'));
const NAD = readFileSync(join(FILES, 'nad.txt'));
const FEATURES = readFileSync(join(FILES, 'openaddresses.geojson'));

after(() => rmSync(DIR, { recursive: true, force: true }));

interface Found {
  readonly points: readonly AddressPoint[];
  readonly told: readonly string[];
}

async function doors(layout: string, file: string, tolerance?: string): Promise<Found> {
  const points: AddressPoint[] = [];
  const told: string[] = [];
  const source = {
    file,
    layout,
    source: layout,
    state: '',
    ...(tolerance === undefined ? {} : { tolerance }),
  };
  for await (const point of readPoints(DIR, source, (line) => told.push(line))) points.push(point);
  return { points, told };
}

test('nad: doors out of the archive, what stands for nothing, retired and moved rows', async () => {
  writeFileSync(
    join(DIR, 'NAD_r21_TXT.zip'),
    zipOf([
      { name: 'TXT/NAD_r21.txt', data: NAD },
      { name: 'TXT/schema.ini', data: '[NAD_r21.txt]\n' },
    ]),
  );
  const { points, told } = await doors('nad', 'NAD_r21_TXT.zip!*.txt', '50');
  assert.deepEqual(
    points.map((at) => [
      at.number,
      at.street,
      at.unit,
      at.city,
      at.municipality,
      at.county,
      at.state,
      at.zip,
      at.zip4,
      at.lat,
      at.lng,
    ]),
    [
      [
        '12',
        'East Alder Street',
        'Apt 3',
        'Ashford',
        'Ashford',
        'Quill',
        'QA',
        '91010',
        '0042',
        10_250_000,
        -29_500_000,
      ],
      ['12 1/2', 'Alder Way', '', '', '', 'Quill', 'QA', '91010', '', 10_250_000, -29_500_000],
    ],
  );
  for (const part of [
    '5 of 7 rows',
    '1 without coordinates (first: row 4)',
    '1 that are retired (first: row 5)',
    '1 without a house number (first: row 6)',
    'fields than the header (first: row 7)',
    '1 with a state that is none (first: row 8)',
  ]) {
    assert.ok(told[0]?.includes(part), `${part} in ${told[0]}`);
  }
  await assert.rejects(
    () => doors('nad', 'NAD_r21_TXT.zip!*.txt'),
    /2 of 7 rows cannot be read, more than the 0\.1 % that are tolerated/,
  );
  writeFileSync(join(DIR, 'other.txt'), NAD.toString('utf8').replace('StNam_Full', 'Street'));
  await assert.rejects(() => doors('nad', 'other.txt'), /has no column "StNam_Full"/);
});

test('openaddresses-collection: members of a state, whose path names it', async () => {
  writeFileSync(
    join(DIR, 'collection-us-northeast.zip'),
    zipOf([
      { name: 'us/qa/statewide-addresses-state.geojson', data: FEATURES },
      { name: 'us/qa/statewide-parcels-state.geojson', data: FEATURES },
      { name: 'us/qb/cedar-addresses-county.geojson', data: FEATURES },
      { name: 'us/qa/statewide-addresses-state.geojson.meta', data: '{}' },
    ]),
  );
  const all = await doors('openaddresses-collection', 'collection-us-northeast.zip');
  assert.deepEqual(
    all.points.map(({ number, state }) => number + state),
    ['12QA', '14QA', '12QB', '14QB'],
  );
  const one = await doors('openaddresses-collection', 'collection-us-northeast.zip!us/qb/*');
  assert.deepEqual(
    one.points.map(({ state, zip, city }) => [state, zip, city]),
    [
      ['QB', '91010', 'ASHFORD'],
      ['QB', '91010', 'ASHFORD'],
    ],
  );
  await assert.rejects(
    () => doors('openaddresses-collection', 'collection-us-northeast.zip!us/qc/*'),
    /has no member us\/qc\/\*/,
  );
});
