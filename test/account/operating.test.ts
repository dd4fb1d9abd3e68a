/**
 * The tables of docs/operating.md are those of the program. To write them again after a change:
 * SITUS_GOLDEN=write npm test.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SETTINGS } from '../../src/config.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { plansTable, settingsTable, withTable } from '../support/documented-tables.js';

const FILE = join(packageRoot(), 'docs', 'operating.md');
const REWRITE = process.env['SITUS_GOLDEN'] === 'write';

test('settings and plans are documented as they are', () => {
  const text = readFileSync(FILE, 'utf8');
  const right = withTable(withTable(text, 'settings', settingsTable()), 'plans', plansTable());
  if (REWRITE) writeFileSync(FILE, right);
  else assert.equal(text, right);
});

test('every setting has its row', () => {
  const rows = settingsTable().split('\n').slice(2);
  assert.deepEqual(
    rows.map((row) => /^\| `([A-Z_]+)` \|/.exec(row)?.[1]),
    SETTINGS.map(({ name }) => name),
  );
});
