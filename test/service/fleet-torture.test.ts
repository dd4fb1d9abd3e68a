/** The fleet's case of `npm run torture`, as short as a test may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetCase, fleetProblem } from '../../bench/torture/fleet.js';
import { skipForWantOf } from '../support/wanting.js';

/**
 * The node that has the job is killed for a second, and then cut off for eleven: longer than one is
 * waited for before others take it for gone.
 */
const SEED = 8304;
/** The second of these begins within the time, where the machine has time for them. */
const EXTENT = { seconds: 7, rows: 8_000, writers: 3, cartsTogether: 10 };

test('a node of three that is killed or cut off loses nothing and doubles nothing', async (context) => {
  const problem = fleetProblem();
  if (problem !== null) {
    skipForWantOf(context, problem);
    return;
  }
  const { summary, wrong } = await fleetCase(EXTENT, SEED, () => undefined);
  assert.deepEqual([...wrong], []);
  // A machine that has much else to do may come to the first alone.
  assert.match(summary, /^kills 1, cuts [01], acknowledged writes [1-9]/);
});
