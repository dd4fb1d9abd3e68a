/** A job is answered with the settings that it was made with, whatever its server begins again with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { SILENT } from '../../src/log.js';
import { buildRecipe } from '../support/built-dataset.js';
import { startBulkApp } from '../support/bulk-client.js';
import { JobClient, table } from '../support/job-service.js';

/** No door of it is known, but all of the street lies in one tax area. */
const BY_STREET = '5000 Main St, Elmton, QA 91010';
const ROWS = 1_500;
/** More than run at a time, so that some have not begun when the server stops. */
const JOBS = 6;

test('rows behind a restart are answered as those before it', async (context) => {
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const before = await startBulkApp(built.varDir);
  const made = [];
  for (let count = 0; count < JOBS; count += 1) {
    made.push(await new JobClient(before.port).create(table(ROWS, BY_STREET)));
  }
  await before.app.stop();
  const after = await App.start({
    config: loadConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_VAR: built.varDir,
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      SITUS_PRECISION_MIN: 'point',
    }),
    log: SILENT,
  });
  context.after(() => after.stop());
  const jobs = new JobClient(await after.listen());
  for (const { id } of made) {
    const { state, codes } = await jobs.until(id, 'done', 'failed');
    assert.deepEqual([state, codes], ['done', { 100: ROWS }]);
  }
  const { id } = await jobs.create(table(1, BY_STREET));
  assert.deepEqual((await jobs.until(id, 'done', 'failed')).codes, { 109: 1 });
});
