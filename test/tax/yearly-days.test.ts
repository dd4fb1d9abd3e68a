/** Days that laws name by weekdays, against days that authorities announced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYearlyDays } from '../../src/tax/yearly-days.js';

function days(text: string, year: number): readonly number[] | null {
  const span = parseYearlyDays(text)!(year);
  return span === null ? null : [span.from, span.to];
}

test('weekdays of a month, and the days that follow or precede them', () => {
  // Tennessee, announced for 2018, 2019 and 2020; the year asked for is 2026.
  const tennessee = 'last Friday of July through Sunday';
  assert.deepEqual(days(tennessee, 2018), [20180727, 20180729]);
  assert.deepEqual(days(tennessee, 2019), [20190726, 20190728]);
  assert.deepEqual(days(tennessee, 2020), [20200731, 20200802]);
  assert.deepEqual(days(tennessee, 2026), [20260731, 20260802]);
  // West Virginia, announced for 2021, 2022 and 2025.
  const virginia = 'Friday before first Sunday of August through Monday';
  assert.deepEqual(days(virginia, 2021), [20210730, 20210802]);
  assert.deepEqual(days(virginia, 2022), [20220805, 20220808]);
  assert.deepEqual(days(virginia, 2025), [20250801, 20250804]);
  assert.deepEqual(days(virginia, 2026), [20260731, 20260803]);
  // Alabama, announced for 2019, 2021, 2023 and 2026.
  const weather = 'last full weekend of February through Sunday';
  assert.deepEqual(days(weather, 2019), [20190222, 20190224]);
  assert.deepEqual(days(weather, 2021), [20210226, 20210228]);
  assert.deepEqual(days(weather, 2023), [20230224, 20230226]);
  assert.deepEqual(days(weather, 2026), [20260220, 20260222]);
  assert.deepEqual(days('third full weekend of July through Sunday', 2025), [20250718, 20250720]);
});

test('days counted back, the same weekday a week before, fixed days, days of one year', () => {
  const texas = '17 days before fourth Monday of August through Sunday';
  assert.deepEqual(days(texas, 2025), [20250808, 20250810]);
  assert.deepEqual(days(texas, 2026), [20260807, 20260809]);
  assert.deepEqual(
    days('Saturday before last Monday of May through Monday', 2026),
    [20260523, 20260525],
  );
  assert.deepEqual(
    days('Friday before first Friday of May through Friday', 2026),
    [20260424, 20260424],
  );
  assert.deepEqual(days('April 19 through April 25', 2027), [20270419, 20270425]);
  assert.deepEqual(days('October 1 through March 31', 2026), [20261001, 20270331]);
  assert.deepEqual(days('2026-08-08 through 2026-08-09', 2026), [20260808, 20260809]);
  assert.equal(days('2026-08-08 through 2026-08-09', 2027), null);
});

test('what is no rule is none', () => {
  for (const text of [
    '',
    'Friday',
    'first Friday of Julember through Sunday',
    'fifth Friday of May through Sunday',
    'February 30 through March 2',
    '2026-08-09 through 2026-08-08',
    'a through b through c',
    'first Friday of May',
    '2026-08-09 through Sunday',
    'last weekend of May through Sunday',
  ])
    assert.equal(parseYearlyDays(text), null, text);
});
