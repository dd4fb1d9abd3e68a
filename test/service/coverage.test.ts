/** The coverage table of the documentation is the one the command prints. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe, publishersFiles, situs } from '../support/built-dataset.js';

const FILE = join(packageRoot(), 'docs/coverage.md');
const MARKS = /<!-- coverage -->\n([\s\S]*?)\n?<!-- \/coverage -->/;
const sources = publishersFiles();

test('docs/coverage.md shows the coverage of the reference recipe', {
  skip: sources === null ? "the publishers' files are not at hand" : false,
}, () => {
  const built = buildRecipe('reference', ['--sources', sources ?? '']);
  try {
    const table = situs(built.varDir, ['dataset', 'coverage']).trim();
    const text = readFileSync(FILE, 'utf8');
    if (process.env['SITUS_DOCS'] === 'write') {
      writeFileSync(
        FILE,
        text.replace(MARKS, () => `<!-- coverage -->\n${table}\n<!-- /coverage -->`),
      );
      return;
    }
    assert.equal(
      MARKS.exec(text)?.[1]?.trim(),
      table,
      'SITUS_DOCS=write npm test renews the table',
    );
  } finally {
    built.remove();
  }
});
