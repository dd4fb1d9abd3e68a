/** The calendar date at a place. */
import type { StateRecord } from '../dataset/records.js';
import { dateOf, type DateInt } from '../tax/date.js';

/** Every zone's midnight falls on a multiple of this, so a date holds for a whole slot. */
const SLOT_MS = 15 * 60 * 1000;

interface Cached {
  readonly format: Intl.DateTimeFormat;
  slot: number;
  date: DateInt;
}

const cache = new Map<string, Cached>();

function read(format: Intl.DateTimeFormat, ms: number): DateInt {
  const field = { year: 0, month: 0, day: 0 };
  for (const { type, value } of format.formatToParts(ms)) {
    if (type === 'year' || type === 'month' || type === 'day') field[type] = Number(value);
  }
  const date = dateOf(field.year, field.month, field.day);
  if (date === null) throw new Error(`no calendar date at ${ms}`);
  return date;
}

function open(timeZone: string): Cached {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone, calendar: 'gregory', numberingSystem: 'latn',
    year: 'numeric', month: '2-digit', day: '2-digit',
  });
  const opened = { format, slot: Number.NaN, date: 0 as DateInt };
  cache.set(timeZone, opened);
  return opened;
}

/** The date at `nowMs` (milliseconds since 1970 UTC) in the state's main time zone. */
export function todayAt(state: StateRecord, nowMs: number): DateInt {
  return todayIn(state.timeZone, nowMs);
}

/** The date at `nowMs` in an IANA time zone. */
export function todayIn(timeZone: string, nowMs: number): DateInt {
  const cached = cache.get(timeZone) ?? open(timeZone);
  const slot = Math.floor(nowMs / SLOT_MS);
  if (cached.slot !== slot) {
    cached.date = read(cached.format, nowMs);
    cached.slot = slot;
  }
  return cached.date;
}
