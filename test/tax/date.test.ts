import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dateOf,
  dateOfNumber,
  dayBefore,
  dayNumber,
  formatDate,
  parseDate,
  weekdayOf,
  type DateInt,
} from '../../src/tax/date.js';

test('days that exist are read in both forms, others are refused', () => {
  assert.equal(parseDate('20240229'), 20240229);
  assert.equal(parseDate('2024-02-29'), 20240229);
  for (const text of ['20230229', '2024-13-01', '2024-00-10', '2024-04-31', '19000229', 'x', '']) {
    assert.equal(parseDate(text), null, text);
  }
  assert.equal(dateOf(2000, 2, 29), 20000229);
});

test('the day before crosses months, years and leap days', () => {
  const table: readonly (readonly [number, number])[] = [
    [20240301, 20240229],
    [20230301, 20230228],
    [20240101, 20231231],
    [20240515, 20240514],
  ];
  for (const [date, before] of table) assert.equal(dayBefore(date as DateInt), before);
  assert.equal(formatDate(20240301 as DateInt), '2024-03-01');
});

test('numbers of days and weekdays agree with the calendar of two centuries', () => {
  const first = dayNumber(18990101 as DateInt);
  for (let at = 0; at < 74_000; at += 1) {
    const day = new Date(Date.UTC(1899, 0, 1 + at));
    const date = Number(day.toISOString().slice(0, 10).replaceAll('-', ''));
    assert.equal(dateOfNumber(first + at), date);
    assert.equal(dayNumber(date as DateInt), first + at);
    assert.equal(weekdayOf(first + at), day.getUTCDay(), String(date));
  }
});
