/** docs/bulk.md says what the program does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { APPENDED_COLUMNS } from '../../src/wire/bulk/columns.js';
import {
  CHUNK_ROWS_MAX, COLUMNS_MAX, HEADER_BYTES_MAX, ID_CHARS_MAX, ROW_BYTES_MAX,
} from '../../src/wire/bulk/limit.js';
import { mapColumns, ROLES } from '../../src/wire/bulk/mapping.js';
import { DEFAULT_PARAMETERS } from '../../src/wire/bulk/parameters.js';

const PAGE = readFileSync(join(packageRoot(), 'docs', 'bulk.md'), 'utf8');

test('the appended columns are listed in their order', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `situs_'));
  const listed = rows.flatMap((line) => (line.split('|')[1] ?? '').match(/situs_\w+/g) ?? []);
  const own = (names: readonly string[]): readonly string[] => [...names].sort();
  assert.deepEqual(own(listed), own(APPENDED_COLUMNS));
});

test('roles, defaults and limits are named', () => {
  for (const role of ROLES) assert.ok(PAGE.includes(`\`${role}\``), role);
  for (const name of DEFAULT_PARAMETERS) assert.ok(PAGE.includes(`\`${name}\``), name);
  for (const limit of [ROW_BYTES_MAX, HEADER_BYTES_MAX, COLUMNS_MAX, ID_CHARS_MAX, CHUNK_ROWS_MAX]) {
    assert.ok(PAGE.includes(limit.toLocaleString('en')), String(limit));
  }
});

test('the names it lists for columns are known', () => {
  for (const name of ['full address', 'address line', 'zip code', 'lat', 'post code']) {
    const headers = name === 'lat' ? [name, 'longitude'] : [name];
    assert.ok(!('problem' in mapColumns(headers)), name);
  }
});
