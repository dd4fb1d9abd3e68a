/** Random bodies, cut anywhere: as many rows out as in, in order, and the table stays one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../bench/case/case.js';
import { fuzzOnce } from '../support/bulk-check.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';

const BODIES = 2_000;

test('as many rows out as in, whatever the body and the cuts', () => {
  const random = seeded(6);
  const dataset = memoryDataset();
  for (let index = 0; index < BODIES; index += 1) {
    assert.deepEqual(fuzzOnce(random, { dataset, nowMs: NOW_MS }), [], `body ${index}`);
  }
});
