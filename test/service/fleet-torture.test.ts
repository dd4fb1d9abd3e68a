/** The fleet's case of `npm run torture`, as short as a test may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetCase, fleetProblem } from '../../bench/torture/fleet.js';
import { skipForWantOf } from '../support/wanting.js';

test('a node of three that is killed or cut off loses nothing and doubles nothing', async (context) => {
  const problem = fleetProblem();
  if (problem !== null) {
    skipForWantOf(context, problem);
    return;
  }
  const { summary, wrong } = await fleetCase({ seconds: 8, rows: 10_000 }, 4, () => undefined);
  assert.deepEqual([...wrong], []);
  assert.match(summary, /^kills \d, cuts \d, acknowledged writes [1-9]/);
});
