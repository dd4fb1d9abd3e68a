/** Calendar dates as YYYYMMDD integers; periods are inclusive at both ends. */
export type DateInt = number & { readonly __date: unique symbol };

/** Bounds of periods: `DATE_MIN` stands for "always was", `DATE_OPEN` for "still in force". */
export const DATE_MIN = 10101 as DateInt;
export const DATE_OPEN = 99991231 as DateInt;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
}

/** Reads YYYYMMDD or YYYY-MM-DD; null when there is no such day. */
export function parseDate(text: string): DateInt | null {
  const found = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(text);
  if (!found) return null;
  return dateOf(Number(found[1]), Number(found[2]), Number(found[3]));
}

/** The date of a year, month (1–12) and day; null when there is no such day. */
export function dateOf(year: number, month: number, day: number): DateInt | null {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  return (year * 10000 + month * 100 + day) as DateInt;
}

/** The day before a date. */
export function dayBefore(date: DateInt): DateInt {
  const year = Math.floor(date / 10000);
  const month = Math.floor(date / 100) % 100;
  const day = date % 100;
  if (day > 1) return (date - 1) as DateInt;
  if (month > 1) return (year * 10000 + (month - 1) * 100 + daysIn(year, month - 1)) as DateInt;
  return ((year - 1) * 10000 + 1231) as DateInt;
}

const WEEKDAY_OF_DAY_0 = 3;

/**
 * Days since March 1 of the year 0 by the Gregorian rules. A year that begins in March has its leap
 * day at the end.
 */
export function dayNumber(date: DateInt): number {
  const month = Math.floor(date / 100) % 100;
  const year = Math.floor(date / 10_000) - (month < 3 ? 1 : 0);
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + (date % 100) - 1;
  return (
    365 * year + Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400) + ofYear
  );
}

/** The date of a day number. */
export function dateOfNumber(day: number): DateInt {
  const newYear = (of: number): number => dayNumber((of * 10_000 + 101) as DateInt);
  let year = Math.floor(day / 366);
  while (newYear(year + 1) <= day) year += 1;
  let rest = day - newYear(year);
  let month = 1;
  for (; rest >= daysIn(year, month); month += 1) rest -= daysIn(year, month);
  return (year * 10_000 + month * 100 + rest + 1) as DateInt;
}

/** The weekday of a day number; 0 is Sunday. */
export function weekdayOf(day: number): number {
  return (day + WEEKDAY_OF_DAY_0) % 7;
}

/**
 * Midnight of every time zone falls on a multiple of 15 minutes, so a zone's date holds for a whole
 * slot.
 */
export const SLOT_MS = 15 * 60 * 1000;

/** The number of the slot that a moment, in milliseconds since 1970 UTC, falls in. */
export function dateSlot(ms: number): number {
  return Math.floor(ms / SLOT_MS);
}

/** Prints a date as YYYY-MM-DD. */
export function formatDate(date: DateInt): string {
  const text = String(date).padStart(8, '0');
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
}

interface ZoneDay {
  readonly format: Intl.DateTimeFormat;
  slot: number;
  date: DateInt;
}

const zoneDays = new Map<string, ZoneDay>();

function dayOf(format: Intl.DateTimeFormat, ms: number): DateInt {
  const field = { year: 0, month: 0, day: 0 };
  for (const { type, value } of format.formatToParts(ms)) {
    if (type === 'year' || type === 'month' || type === 'day') field[type] = Number(value);
  }
  const date = dateOf(field.year, field.month, field.day);
  if (date === null) throw new Error(`no calendar date at ${ms}`);
  return date;
}

function openZone(timeZone: string): ZoneDay {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const opened = { format, slot: Number.NaN, date: 0 as DateInt };
  zoneDays.set(timeZone, opened);
  return opened;
}

/** The date at `nowMs` in an IANA time zone. */
export function todayIn(timeZone: string, nowMs: number): DateInt {
  const cached = zoneDays.get(timeZone) ?? openZone(timeZone);
  const slot = dateSlot(nowMs);
  if (cached.slot !== slot) {
    cached.date = dayOf(cached.format, nowMs);
    cached.slot = slot;
  }
  return cached.date;
}
