/** Files as spreadsheets and tables of numbers leave them. */
import assert from 'node:assert/strict';
import { isProblem } from '../../src/base/problem.js';
import { test } from 'node:test';
import { isGzip, isWide } from '../../src/bulk/row/dialect.js';
import { mapColumns } from '../../src/bulk/row/mapping.js';
import { fiveDigits, wholeZip } from '../../src/bulk/row/row-parameters.js';
import { runBulk, type BulkRun } from '../support/bulk-bodies.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';

const RUN: Omit<BulkRun, 'output'> = { dataset: memoryDataset(), nowMs: NOW_MS };
const BOM = '\ufeff';

test('a ZIP that was taken for a number is one again', () => {
  const whole: readonly (readonly [written: string, five: string, zip: string])[] = [
    ['2139', '02139', '02139'],
    ['601', '00601', '00601'],
    ['02139', '02139', '02139'],
    ['02139-1234', '02139', '02139-1234'],
    ['2139-1234', '02139', '02139-1234'],
    ['21391234', '02139', '021391234'],
    ['021391234', '02139', '021391234'],
    ['92618.0', '92618', '92618'],
    ['2139.00', '02139', '02139'],
    ['21391234.0', '02139', '021391234'],
  ];
  for (const [written, five, zip] of whole) {
    assert.equal(fiveDigits(written), five, written);
    assert.equal(wholeZip(written), zip, written);
  }
  for (const other of [
    '',
    '0',
    '12',
    '926180',
    '92618.5',
    '92618-12',
    '92618-',
    'K1A 0B1',
    '9.2618E+04',
  ]) {
    assert.equal(fiveDigits(other), other);
    assert.equal(wholeZip(other), other);
  }
});

test('wide and packed beginnings are told, with a mark and without', () => {
  for (const encoding of ['utf16le', 'latin1'] as const) {
    const marked = Buffer.from(`${BOM}zip\n`, encoding);
    assert.equal(isWide(marked), encoding === 'utf16le');
  }
  assert.ok(
    isWide(Buffer.from('zip\n', 'utf16le')) && isWide(Buffer.from('zip\n', 'utf16le').swap16()),
  );
  assert.ok(isWide(Buffer.from([0, 0, 0xfe, 0xff])));
  assert.ok(!isWide(Buffer.from('z')) && !isWide(Buffer.from('zip\n\0')));
  assert.ok(isGzip(Buffer.from([0x1f, 0x8b, 8])) && !isGzip(Buffer.from([0x1f])));
});

test('a record that is no row keeps its bytes, UTF-8 or not', () => {
  const rows = ['1,"x\u00e9"y"', '1,\u00e9,3'];
  for (const encoding of ['latin1', 'utf8'] as const) {
    const body = Buffer.from(`id,address\n${rows.join('\n')}\n`, encoding);
    const { output } = runBulk('csv', [body], { ...RUN, output: 'csv' });
    const [, first, second] = output.toString(encoding).split('\n');
    assert.ok(first?.startsWith('"1,""x\u00e9""y""",,'), first);
    assert.ok(second?.startsWith('"1,\u00e9,3",,'), second);
  }
});

test('a byte order mark before the first line of NDJSON is not part of it, one before another is', () => {
  const row = '{"id":"a","postalcode":"97001"}';
  const { output } = runBulk('ndjson', [Buffer.from(`${BOM}${row}\n${BOM}${row}\n${row}`)], {
    ...RUN,
    output: 'ndjson',
  });
  const ids = output
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly id: string | null }).id);
  assert.deepEqual(ids, ['a', null, 'a']);
});

test('a role is given once', () => {
  const found = mapColumns(['zip', 'other'], ['zip:zip', 'zip:other']);
  assert.ok(isProblem(found));
  assert.match(found.detail, /role "zip" twice/);
});
