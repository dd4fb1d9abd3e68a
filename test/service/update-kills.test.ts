/** The kills of `npm run torture -- --case update`, as few as a test may have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { updateKills } from '../../bench/torture/update-kills.js';

test('an update that is killed three times and called again makes the same release', async () => {
  const { wrong } = await updateKills(3, 11, () => undefined);
  assert.deepEqual(wrong, []);
});
