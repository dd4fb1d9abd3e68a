/** The day in states, asked in turns and over midnights. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { StateRecord } from '../../src/dataset/records.js';
import { States } from '../../src/engine/rate/on-day.js';
import { todayIn } from '../../src/tax/date.js';

const ZONES: Readonly<Record<string, string>> = {
  NY: 'America/New_York',
  CA: 'America/Los_Angeles',
  HI: 'Pacific/Honolulu',
  ZZ: 'Pacific/Kiritimati',
  AA: 'UTC',
  long: 'America/Chicago',
};

test('the day is that of the zone, whichever state was asked before', () => {
  const state = (code: string): StateRecord | null => {
    const timeZone = ZONES[code];
    return timeZone === undefined ? null : ({ code, timeZone } as StateRecord);
  };
  const states = new States({ state } as Dataset);
  const begin = Date.UTC(2026, 11, 31);
  for (let step = 0; step < 24 * 8; step += 1) {
    const now = begin + step * 900_000 - (step % 3 === 0 ? 1 : 0);
    for (const [code, zone] of [...Object.entries(ZONES), ...Object.entries(ZONES)]) {
      assert.equal(states.today(code, now), todayIn(zone, now), `${code} at ${now}`);
    }
  }
  for (const code of ['B@', 'A[', '@A', 'ny', '', 'N', 'QQ']) {
    assert.throws(() => states.today(code, begin), /no such state/, code);
  }
});
