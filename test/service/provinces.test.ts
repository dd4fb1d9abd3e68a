/** Canada by coordinates: provinces, spots at their shores and near the lines between them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { askQuery, openRecipe } from '../support/ask-dataset.js';
import { runMany } from '../support/run-command.js';

const { built, dataset } = openRecipe('default');

/** Points of cities, by the provinces' rates; from Quebec City on the map has them in the water. */
const POINTS: readonly (readonly [city: string, point: string, total: number])[] = [
  ['Toronto', 'lat=43.6532&lng=-79.3832', 0.13],
  ['Montreal', 'lat=45.5019&lng=-73.5674', 0.14975],
  ['Vancouver', 'lat=49.2827&lng=-123.1207', 0.12],
  ['Calgary', 'lat=51.0447&lng=-114.0719', 0.05],
  ['Ottawa', 'lat=45.4215&lng=-75.6972', 0.13],
  ['Hawkesbury', 'lat=45.6072&lng=-74.6043', 0.13],
  [
    'Fort Smith, where the line is near and both sides are taxed alike',
    'lat=60.0044&lng=-111.8937',
    0.05,
  ],
  ['Quebec City', 'lat=46.8131&lng=-71.2075', 0.14975],
  ['the old town of Quebec', 'lat=46.8119&lng=-71.2053', 0.14975],
  ['Charlottetown', 'lat=46.2382&lng=-63.1311', 0.15],
  ['Saint John', 'lat=45.2733&lng=-66.0633', 0.15],
  ['St. Stephen, over the river from Maine', 'lat=45.1942&lng=-67.2756', 0.15],
  ['Brockville, over the river from New York', 'lat=44.5895&lng=-75.6843', 0.13],
];

for (const [city, point, total] of POINTS) {
  test(city, () => {
    const asked = askQuery(dataset, `${point}&countryCode=CAN`);
    assert.deepEqual(
      [asked.code, asked.precision, asked.total],
      [100, 'polygon', total],
      asked.message,
    );
  });
}

/** Points that the map has in the neighbour, or as near to it as its lines may be off. */
const LINES: readonly (readonly [town: string, point: string])[] = [
  ['Gatineau QC', 'lat=45.4287&lng=-75.7133'],
  ['Grenville QC', 'lat=45.6226&lng=-74.6024'],
  ['Creighton SK', 'lat=54.7659&lng=-101.8894'],
  ['Lloydminster', 'lat=53.2783&lng=-110.0000'],
];

for (const [town, point] of LINES) {
  test(`${town}: the line is not known finely enough to tell`, () => {
    const { code, message } = askQuery(dataset, `${point}&countryCode=CAN`);
    assert.equal(code, 110);
    assert.match(message, /within 2 km of the line between .*: give an address with its postal/);
  });
}

test('codes of federal offices are of the province that the address names', () => {
  const ask = (address: string): ReturnType<typeof askQuery> =>
    askQuery(dataset, `countryCode=CAN&address=${encodeURIComponent(address)}`);
  assert.equal(ask('50 Victoria St, Gatineau, QC K1A 0C9').total, 0.14975);
  assert.equal(ask('235 Queen St, Ottawa, ON K1A 0H5').total, 0.13);
  const neither = ask('50 Victoria St, Gatineau K1A 0C9');
  assert.equal(neither.code, 109);
  assert.match(neither.message, /name the province/);
  assert.equal(ask('50 Victoria St, Gatineau, SK K1A 0C9').code, 109);
  assert.equal(ask('100 Main St, Ottawa, ON').total, 0.13);
});

test('lint tells a code that two provinces have from one that none has', () => {
  const rows =
    'street,city,state,zip,country\n50 Victoria St,Gatineau,,K1A 0C9,CAN\n' +
    '50 Victoria St,Gatineau,QC,K1A 0C9,CAN\n1 Main St,Nowhere,,D1A 0C9,CAN\n';
  const file = join(built.varDir, 'rows.csv');
  writeFileSync(file, rows);
  const [{ code, out } = { code: null, out: '' }] = runMany(built.varDir, [['lint', file]]);
  assert.equal(code, 3);
  assert.match(out, /^ {2}postal +1 .* line 3$/m);
  assert.match(out, /^ {2}ambiguous +1 .* line 2$/m);
  assert.match(out, /^ {2}not found +1 .* line 4$/m);
});

test('the provincial tax that is mostly not collected in Lloydminster is not told as its rate', () => {
  const ask = (address: string): ReturnType<typeof askQuery> =>
    askQuery(dataset, `countryCode=CAN&address=${encodeURIComponent(address)}`);
  for (const place of ['Lloydminster, SK S9V 0A1', 'Lloydminster, Saskatchewan', 'S9V 0A1']) {
    const { code, message } = ask(`4420 50 Ave, ${place}`);
    assert.equal(code, 110, place);
    assert.match(message, /not collected on most goods/);
  }
  const point = askQuery(dataset, 'countryCode=CAN&lat=53.285&lng=-109.95');
  assert.equal(point.code, 110, 'a spot that is farther from the line');
  assert.match(point.message, /not collected on most goods\.$/);
  assert.equal(askQuery(dataset, 'countryCode=CAN&lat=53.285&lng=-109.6').total, 0.11);
  assert.equal(ask('4420 50 Ave, Lloydminster, AB T9V 0W2').total, 0.05);
  assert.equal(ask('100 Main St, Regina, SK').total, 0.11);
  assert.equal(ask('100 Main St, Creighton, SK S0P 0A0').total, 0.11);
});

test('in a bay between two provinces, far out and in a state nothing is told', () => {
  for (const point of ['lat=48.01&lng=-66.67', 'lat=44&lng=-60', 'lat=49&lng=-123.06']) {
    assert.equal(askQuery(dataset, `${point}&countryCode=CAN`).code, 110, point);
  }
  assert.equal(askQuery(dataset, 'lat=46.8119&lng=-71.2053').code, 110, 'not in the USA');
});

test('the file of provinces carried is the one that its record names', () => {
  const folder = join(datasetsDir(), 'geometry');
  const { file, unpacked } = JSON.parse(readFileSync(join(folder, 'ca.json'), 'utf8')) as {
    readonly file: string;
    readonly unpacked: { readonly sha256: string; readonly bytes: number };
  };
  const bytes = gunzipSync(readFileSync(join(folder, file)));
  assert.equal(bytes.length, unpacked.bytes);
  assert.equal(createHash('sha256').update(bytes).digest('hex'), unpacked.sha256);
  assert.equal(bytes.toString('utf8').match(/"id":"CA-[A-Z]{2}"/g)?.length, 13);
});
