/** Outcomes that could not be stored: tried again, and none waits for one that never can be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFault } from '../../src/store/fault.js';
import { type UnstoredOutcome, UnstoredOutcomes } from '../../src/store/idempotency-record.js';

/** Longer than the test: only closing tries. */
const RETRY_MS = 3_600_000;

/** What is tried, stored and told of when each of some outcomes fails with what it says. */
async function round(errors: readonly (Error | null)[]): Promise<{
  readonly tried: readonly number[];
  readonly left: readonly number[];
  readonly told: readonly string[];
}> {
  const [tried, told]: [number[], string[]] = [[], []];
  const outcomes = new UnstoredOutcomes((error) => told.push(String(error)), RETRY_MS);
  for (const [index, error] of errors.entries()) {
    const outcome: UnstoredOutcome = {
      fingerprint: 'f',
      answer: null,
      store: () => {
        tried.push(index);
        return error === null ? Promise.resolve() : Promise.reject(error);
      },
    };
    outcomes.add(String(index), outcome);
  }
  await outcomes.close();
  const left = [...errors.keys()].filter((index) => outcomes.find(String(index)) !== null);
  return { tried, left, told };
}

test('an outcome that can never be stored holds up no other', async () => {
  const damaged = (): Error => new Error('damaged');
  assert.deepEqual(await round([damaged(), null, damaged(), new Error('other'), null]), {
    tried: [0, 1, 2, 3, 4],
    left: [0, 2, 3],
    told: ['Error: damaged', 'Error: other'],
  });
});

test('a store that takes nothing is not asked for each of them', async () => {
  const { tried, left, told } = await round([null, new StoreFault('full'), null]);
  assert.deepEqual([tried, left, told.length], [[0, 1], [1, 2], 1]);
});
