/** What the soak of `npm run torture` needs of the dataset it swaps to. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { otherContent } from '../../bench/torture/soak.js';
import { TicCatalogue } from '../../src/api/catalogue/pages.js';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { writeRelease } from '../../src/ingest/release-writer.js';

test('the dataset that a soak makes to swap to has product codes to search', async () => {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-soak-test-'));
  try {
    const release = await writeRelease(varDir, otherContent(), () => undefined);
    const dataset = openDataset(join(releasesDir(varDir), release));
    try {
      const tics = new TicCatalogue({
        release: () => release,
        document: (name) => dataset.document(name),
      });
      assert.ok(tics.pages() !== null);
    } finally {
      dataset.close();
    }
  } finally {
    rmSync(varDir, { recursive: true, force: true });
  }
});
