/** docs/bulk.md says what the program does. */
import assert from 'node:assert/strict';
import { isProblem } from '../../src/base/problem.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { JSON_DEPTH_MAX } from '../../src/base/json-scan.js';
import { CART_COLUMNS, APPENDED_COLUMNS } from '../../src/bulk/row/columns.js';
import { CART_PARAMETERS } from '../../src/bulk/row/cart-parameters.js';
import {
  CART_ROW_BYTES_MAX,
  CHUNK_ROWS_MAX,
  COLUMNS_MAX,
  HEADER_BYTES_MAX,
  ID_CHARS_MAX,
  ROW_BYTES_MAX,
} from '../../src/bulk/row/record-form.js';
import { columnRulesOf, LOOKUP_COLUMNS, mapColumns } from '../../src/bulk/row/mapping.js';
import { SHARED_PARAMETERS } from '../../src/api/lookup/parameter-table.js';

const PAGE = readFileSync(join(packageRoot(), 'docs', 'bulk.md'), 'utf8');

/** The part of the page below a heading. */
function section(heading: string): string {
  return PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

function columnsOf(text: string): readonly string[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| `situs_'));
  return rows.flatMap((line) => (line.split('|')[1] ?? '').match(/situs_\w+/g) ?? []);
}

test('the appended columns are listed in their order', () => {
  const own = (names: readonly string[]): readonly string[] => [...names].sort();
  assert.deepEqual(own(columnsOf(section('CSV'))), own(APPENDED_COLUMNS));
  assert.deepEqual(columnsOf(section('Carts')), CART_COLUMNS);
});

test('roles, defaults and limits are named', () => {
  for (const role of LOOKUP_COLUMNS.roles) assert.ok(section('CSV').includes(`\`${role}\``), role);
  for (const name of SHARED_PARAMETERS) assert.ok(PAGE.includes(`\`${name}\``), name);
  for (const name of [...columnRulesOf('cart', {}).roles, ...CART_PARAMETERS]) {
    assert.ok(section('Carts').includes(`\`${name}\``), name);
  }
  const limits = [
    ROW_BYTES_MAX,
    CART_ROW_BYTES_MAX,
    HEADER_BYTES_MAX,
    COLUMNS_MAX,
    ID_CHARS_MAX,
    CHUNK_ROWS_MAX,
    JSON_DEPTH_MAX,
  ];
  for (const limit of limits) assert.ok(PAGE.includes(limit.toLocaleString('en')), String(limit));
});

test('the names it lists for columns are known', () => {
  for (const name of ['full address', 'address line', 'zip code', 'lat', 'post code']) {
    const headers = name === 'lat' ? [name, 'longitude'] : [name];
    assert.ok(!isProblem(mapColumns(headers)), name);
  }
});

test('the names it lists for columns of carts are known', () => {
  const { roleOf } = columnRulesOf('cart', {});
  for (const [name, role] of [
    ['shipto', 'destination'],
    ['toaddress', 'destination'],
    ['fulladdress', 'destination'],
    ['shippingcity', 'city'],
    ['shipfrom', 'origin'],
    ['fromaddress', 'origin'],
    ['originzip', 'originZip'],
    ['shipfromstreet', 'originStreet'],
    ['unitprice', 'price'],
    ['units', 'quantity'],
    ['sku', 'itemId'],
    ['orderdate', 'transactionDate'],
  ] as const) {
    assert.equal(roleOf.get(name), role, name);
  }
});
