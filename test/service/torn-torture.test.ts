/** The damages of `npm run torture -- --case torn`, as few as a test may have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tornCase } from '../../bench/torture/torn.js';

test('damaged releases end no server, change no answer and are never activated', async () => {
  const { summary, wrong } = await tornCase({ damages: 4, pointers: 2 }, 5, () => undefined);
  assert.deepEqual(wrong, []);
  assert.match(
    summary,
    /activations 4, starts 4, live swaps [1-9]\d*, damaged while answering [1-9].*lost CURRENT 2/,
  );
});
