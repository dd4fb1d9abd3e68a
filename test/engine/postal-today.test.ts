import assert from 'node:assert/strict';
import { test } from 'node:test';
import { todayIn } from '../../src/tax/date.js';

test('today is the date at the place', () => {
  const ms = Date.UTC(2026, 6, 1, 5, 30);
  assert.equal(todayIn('America/New_York', ms), 20260701);
  assert.equal(todayIn('America/Los_Angeles', ms), 20260630);
  assert.equal(todayIn('Pacific/Guam', ms), 20260701);
  assert.equal(todayIn('Pacific/Honolulu', ms), 20260630);
});

test('the date turns at local midnight, also off the hour and back in time', () => {
  const newfoundland = 'America/St_Johns';
  const midnight = Date.UTC(2026, 0, 15, 3, 30);
  assert.equal(todayIn(newfoundland, midnight - 1), 20260114);
  assert.equal(todayIn(newfoundland, midnight), 20260115);
  assert.equal(todayIn(newfoundland, midnight - 1), 20260114);
});

test('the date turns at midnight on the days clocks change', () => {
  const denver = 'America/Denver';
  for (const [year, month, day, hours] of [
    [2026, 2, 8, 7],
    [2026, 2, 9, 6],
    [2026, 10, 1, 6],
    [2026, 10, 2, 7],
  ] as const) {
    const midnight = Date.UTC(year, month, day, hours);
    const date = year * 10000 + (month + 1) * 100 + day;
    assert.equal(todayIn(denver, midnight), date);
    assert.notEqual(todayIn(denver, midnight - 1), date);
  }
});

test('asking again within a quarter of an hour costs no formatting', (context) => {
  const denver = 'America/Denver';
  const from = 1_800_000_000_000;
  const { mock } = context.mock.method(Intl.DateTimeFormat.prototype, 'formatToParts');
  let sum = 0;
  for (let index = 0; index < 1_000; index += 1) sum += todayIn(denver, from + index);
  assert.equal(sum, 1_000 * 20270115);
  assert.equal(mock.callCount(), 1);
});
