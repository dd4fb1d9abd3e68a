/** When failed attempts are repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  JITTER_SHARE,
  nextAttempt,
  RETRY_AFTER_MS_MAX,
  RETRY_MS,
  retryAfter,
} from '../../src/event/attempt.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function waits(random: number): readonly (number | null)[] {
  return RETRY_MS.map((_, index) =>
    nextAttempt({
      attempts: index + 1,
      now: 0,
      random,
      retryAfterMs: 0,
    }),
  );
}

test('ten attempts over 75 h 35 min 5 s', () => {
  assert.deepEqual(
    RETRY_MS.map((ms) => ms / SECOND),
    [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
  );
  assert.deepEqual(waits(0), [...RETRY_MS.slice(1), null]);
  assert.equal(
    RETRY_MS.reduce((sum, ms) => sum + ms),
    75 * HOUR + 35 * 60 * SECOND + 5 * SECOND,
  );
});

test('jitter makes a wait longer by its share at most, and never shorter', () => {
  const most = waits(1 - Number.EPSILON);
  for (const [index, wait] of RETRY_MS.slice(1).entries()) {
    assert.equal(most[index], Math.round(wait * (1 + JITTER_SHARE)));
  }
});

test('a receiver that asks for more time gets it, up to a day', () => {
  const after = (retryAfterMs: number): number | null =>
    nextAttempt({ attempts: 1, now: 1_000, random: 0, retryAfterMs });
  assert.equal(after(1), 1_000 + 5 * SECOND);
  assert.equal(after(60 * SECOND), 61_000);
  assert.equal(retryAfter(String(10 ** 9), 0), RETRY_AFTER_MS_MAX);
});

test('Retry-After is seconds or a date, and nothing else', () => {
  const now = Date.parse('2026-03-01T09:30:00Z');
  assert.equal(retryAfter('120', now), 120 * SECOND);
  assert.equal(retryAfter(' 7 ', now), 7 * SECOND);
  assert.equal(retryAfter('Sun, 01 Mar 2026 09:31:00 GMT', now), 60 * SECOND);
  for (const field of [
    null,
    '',
    '-5',
    '1.5',
    'soon',
    'Sun, 01 Mar 2026 09:29:00 GMT',
    '2026-03-01',
    '9'.repeat(400),
    'Sun, 99 Mar 2026 09:31:00 GMT',
  ])
    assert.equal(retryAfter(field, now), 0, String(field));
});
