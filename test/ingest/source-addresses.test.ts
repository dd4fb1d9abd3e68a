/** Files of address points and of street segments, in the layouts that recipes name. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { distanceMetres, interpolate } from '../../src/geo/microdegrees.js';
import { readPoints, readRanges } from '../../src/ingest/source/address-source.js';
import { all } from '../support/made-files.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-streets-'));

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(FOLDER, name), name.endsWith('.gz') ? gzipSync(content) : content);
  return name;
}

test('emergency sites: prefixes and suffixes belong to the number or name a unit', async () => {
  const name = file(
    'sites.tsv.gz',
    [
      'town\tstreet\tnumber\tnumber_prefix\tnumber_suffix\tzip\tcounty\tlon\tlat',
      'ASH TOWN\tALDER WAY\t12\t\t1/2\t91010\tQUILL\t-29.5\t10.25',
      'ASH TOWN\tALDER WAY\t12\tA\t\t\tQUILL\t-29.5\t10.25',
      'ASH TOWN\tALDER WAY\t12\tSUL\tLot 2\t91010\tQUILL\t-29.5\t10.25',
      'ASH TOWN\tALDER WAY\t0\t\t\t91010\tQUILL\t-29.5\t10.25',
      'ASH TOWN\t\t5\t\t\t91010\tQUILL\t-29.5\t10.25',
    ].join('\n'),
  );
  const points = await all(
    readPoints(FOLDER, {
      file: name,
      layout: 'e911-sites',
      source: 'sites',
      state: 'QA',
    }),
  );
  assert.deepEqual(
    points.map(({ number, unit, zip }) => [number, unit, zip]),
    [
      ['12 1/2', '', '91010'],
      ['A12', '', ''],
      ['12', 'SUL LOT 2', '91010'],
    ],
  );
  assert.deepEqual(
    [points[0]?.municipality, points[0]?.city, points[0]?.lat, points[0]?.lng],
    ['ASH TOWN', '', 10_250_000, -29_500_000],
  );
});

test('county points: ZIP+4 beside or within the ZIP, 0000 and bad ZIPs are none', async () => {
  const beside = await all(
    readPoints(FOLDER, {
      file: file(
        'county.tsv',
        'postal_city\tstreet\tnumber\tnumber_suffix\tzip\tzip4\tlon\tlat\n' +
          'ASHFORD\tALDER RD\t7\tB\t91010\t0042\t-29.5\t10.25\n',
      ),
      layout: 'county-zip4',
      source: 'county',
      state: 'QA',
    }),
  );
  assert.deepEqual(
    beside.map(({ number, city, zip4 }) => [number, city, zip4]),
    [['7B', 'ASHFORD', '0042']],
  );
  const within = await all(
    readPoints(FOLDER, {
      file: file(
        'units.tsv',
        'city\tstreet\tnumber\tunit\tzip\tlon\tlat\n' +
          'Ashford\tAlder Road\t7\t3\t91010-0042\t-29.5\t10.25\n' +
          'Ashford\tAlder Road\t8\t\t91010-0000\t-29.5\t10.25\n' +
          'Ashford\tAlder Road\t9\t\t910HH\t-29.5\t10.25\n',
      ),
      layout: 'city-units',
      source: 'units',
      state: 'QA',
      cityIsMunicipality: true,
    }),
  );
  assert.deepEqual(
    within.map((point) => [point.zip, point.zip4]),
    [
      ['91010', '0042'],
      ['91010', ''],
      ['', ''],
    ],
  );
  assert.deepEqual([within[0]?.city, within[0]?.municipality], ['', 'Ashford']);
});

test('OpenAddresses: quoted fields and either case of headers; lines of GeoJSON', async () => {
  const rows = await all(
    readPoints(FOLDER, {
      file: file(
        'open.csv',
        '\uFEFFLON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE\r\n' +
          '-29.5,10.25,12,"ALDER WAY, UPPER","SUITE\n4",ASHFORD,Quill,QA,91010\r\n' +
          '-29.5,10.25,,UNKNOWN,,ASHFORD,Quill,QA,91010\r\n,,4,ELM ST,,ASHFORD,,QA,91010\r\n',
      ),
      layout: 'openaddresses',
      source: 'open',
      state: '',
    }),
  );
  assert.deepEqual(
    rows.map((row) => [row.number, row.street, row.state, row.county]),
    [['12', 'ALDER WAY, UPPER', 'QA', 'Quill']],
  );
  const feature = (properties: object, coordinates: readonly number[]): string =>
    JSON.stringify({ type: 'Feature', properties, geometry: { type: 'Point', coordinates } });
  const lines = await all(
    readPoints(FOLDER, {
      file: file(
        'open.geojson',
        [
          feature(
            { number: '12', street: 'ALDER WAY', city: '', postcode: '91010' },
            [-29.5, 10.25],
          ),
          feature({ number: '', street: 'ALDER WAY' }, [-29.5, 10.25]),
          'not json',
          '{}',
        ].join('\n'),
      ),
      layout: 'geojson',
      source: 'lines',
      state: 'QA',
      city: 'Ashford',
      tolerance: '50',
    }),
  );
  assert.deepEqual(
    lines.map((row) => [row.number, row.city, row.state]),
    [['12', 'Ashford', 'QA']],
  );
  await assert.rejects(
    all(
      readPoints(FOLDER, {
        file: 'county.tsv',
        layout: 'e911-sites',
        source: '',
        state: 'QA',
      }),
    ),
    /county\.tsv has no column "number_prefix"/,
  );
});

test('segments: −1 is no range, parity follows the ends, absurd spans are dropped', async () => {
  const ranges = await all(
    readRanges(FOLDER, {
      file: file(
        'ranges.tsv',
        'street\tl_from\tl_to\tr_from\tr_to\tzip_left\tzip_right\tgeometry\n' +
          'Alder Way\t98\t2\t1\t8\t91010\t91020\t-29.5,10.25 -29.499,10.25\n' +
          'Alder Way\t-1\t-1\t-1\t-1\t91010\t91010\t-29.5,10.25 -29.499,10.25\n' +
          'Alder Way\t2\t99998\t1\t99\t91010\t91010\t-29.5,10.25 -29.499,10.25\n',
      ),
      layout: 'segments',
      source: 'ranges',
      state: 'QA',
      city: 'Ashford',
    }),
  );
  assert.equal(ranges.length, 2);
  assert.deepEqual([ranges[0]?.left?.parity, ranges[0]?.right?.parity], ['even', 'both']);
  assert.equal(ranges[0]?.right?.zip, '91020');
  assert.equal(ranges[1]?.left, null);
});

test('a door stands on its side of the street, at its share of the length', () => {
  const east = [10_000_000, 0, 10_000_000, 1000, 10_000_000, 3000];
  const right = interpolate(east, 0.5, 10);
  assert.equal(right.lng, 1500);
  assert.ok(right.lat < 10_000_000);
  assert.ok(Math.abs(distanceMetres(right.lat, right.lng, 10_000_000, 1500) - 10) < 0.2);
  assert.ok(interpolate(east, 0.5, -10).lat > 10_000_000);
  assert.ok(interpolate([0, 0, 1000, 0], 1, 5).lng > 0, 'northward, the right is east');
  assert.deepEqual(interpolate([7, 8, 7, 8], 0.5, 5), { lat: 7, lng: 8 });
});
