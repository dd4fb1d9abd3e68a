/** The kill loop of `npm run torture`, as short as a test may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killCase } from '../../bench/torture/kill.js';

test('three kills during mixed writes lose nothing that was acknowledged', async () => {
  const lines: string[] = [];
  const result = await killCase({ kills: 3, seed: 7, report: (line) => lines.push(line) });
  assert.deepEqual([...result.lost, ...result.wrong], []);
  assert.equal(result.kills, 3);
  assert.ok(result.acknowledged > 0);
  assert.ok(result.repeated > 0, 'a kill came while requests were under way');
});
