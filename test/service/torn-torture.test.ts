/** The damages of `npm run torture -- --case torn`, as few as a test may have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tornCase } from '../../bench/torture/torn.js';

test('a dozen damaged releases end no server, change no answer and are never activated', async () => {
  const { summary, wrong } = await tornCase(12, 5, () => undefined);
  assert.deepEqual(wrong, []);
  assert.match(summary, /activations 12, starts 12, live swaps \d+, .*lost CURRENT 7/);
});
