/** Jobs over the ends of the process that ran them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobKillsCase } from '../../bench/torture/job-kills.js';

test('jobs of a killed server go on from their last chunk and write the same bytes', async () => {
  // Two in a table and one in lines; of so many rows most are left when the first chunk is done.
  const result = await jobKillsCase({ kills: 3, seed: 3, report: () => undefined }, 12_000);
  assert.deepEqual([...result.lost, ...result.wrong], []);
  assert.equal(result.kills, 3);
  assert.ok(result.repeated > 0, 'a kill came while a job was on its way');
});
