/**
 * Days of a year as a law names them: "last Friday of July through Sunday", "Friday before first
 * Sunday of August through Monday", "17 days before fourth Monday of August through Sunday",
 * "last full weekend of February through Sunday" (a Friday to Sunday within the month), "October 1
 * through March 31" (of the next year); or days of one year, "2026-08-08 through 2026-08-09".
 */
import { dateOf, dateOfNumber, type DateInt, dayNumber, parseDate, weekdayOf } from './date.js';

export interface DaySpan {
  readonly from: DateInt;
  readonly to: DateInt;
}

/** The span of days that begins in a year; null where the rule names days of another year. */
export type YearlyDays = (year: number) => DaySpan | null;

const WEEKDAYS: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];
const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const ORDINALS: readonly string[] = ['first', 'second', 'third', 'fourth', 'last'];

const WEEK = 7;
const FRIDAY = 5;
const SUNDAY_AFTER_FRIDAY = 2;

const oneOf = (words: readonly string[]): string => `(${words.join('|')})`;
const FIXED = new RegExp(`^${oneOf(MONTHS)} (\\d{1,2})$`);
const NTH = new RegExp(
  `^${oneOf(ORDINALS)} ${oneOf([...WEEKDAYS, 'full weekend'])} of ${oneOf(MONTHS)}$`,
);
const BEFORE = new RegExp(`^(?:${oneOf(WEEKDAYS)}|(\\d{1,2}) days) before (.+)$`);

/** A day of a year, as a day number. */
type DayOf = (year: number) => number;

/** The first day of a month (0 is January, 12 the next one), which every year has. */
function monthDay(year: number, month: number): number {
  return dayNumber(dateOf(year + Math.floor(month / 12), (month % 12) + 1, 1)!);
}

/** How many days after weekday `from` the next weekday `to` comes, 0 to 6. */
function ahead(from: number, to: number): number {
  return (to - from + WEEK) % WEEK;
}

function nth(ordinal: string, name: string, month: number): DayOf {
  const isWeekend = name === 'full weekend';
  const weekday = isWeekend ? FRIDAY : WEEKDAYS.indexOf(name);
  const rest = isWeekend ? SUNDAY_AFTER_FRIDAY : 0;
  const at = ORDINALS.indexOf(ordinal);
  return (year) => {
    if (ordinal === 'last') {
      const end = monthDay(year, month + 1) - 1 - rest;
      return end - ahead(weekday, weekdayOf(end));
    }
    const start = monthDay(year, month);
    return start + ahead(weekdayOf(start), weekday) + at * WEEK;
  };
}

function anchor(text: string): DayOf | null {
  const fixed = FIXED.exec(text);
  if (fixed !== null) {
    const month = MONTHS.indexOf(fixed[1] ?? '');
    // The year 2024 is a leap year and so has every day that a rule may name.
    if (dateOf(2024, month + 1, Number(fixed[2])) === null) return null;
    return (year) => monthDay(year, month) + Number(fixed[2]) - 1;
  }
  const found = NTH.exec(text);
  if (found === null) return null;
  const [, ordinal = '', name = '', month = ''] = found;
  return nth(ordinal, name, MONTHS.indexOf(month));
}

function firstDay(text: string): DayOf | null {
  const before = BEFORE.exec(text);
  if (before === null) return anchor(text);
  const [, weekday, count, rest = ''] = before;
  const base = anchor(rest);
  if (base === null) return null;
  if (count !== undefined) return (year) => base(year) - Number(count);
  const wanted = WEEKDAYS.indexOf(weekday ?? '');
  return (year) => {
    const day = base(year);
    return day - (ahead(wanted, weekdayOf(day)) || WEEK);
  };
}

function lastDay(text: string, first: DayOf): DayOf | null {
  const weekday = WEEKDAYS.indexOf(text);
  if (weekday < 0) return anchor(text);
  return (year) => first(year) + ahead(weekdayOf(first(year)), weekday);
}

/** Reads a rule of the forms above; null for any other text. */
export function parseYearlyDays(text: string): YearlyDays | null {
  const [start = '', end = '', ...more] = text.split(' through ');
  if (more.length > 0) return null;
  const from = parseDate(start);
  const to = parseDate(end);
  if (from !== null && to !== null) {
    return from > to ? null : (year) => (year === Math.floor(from / 10_000) ? { from, to } : null);
  }
  const first = firstDay(start);
  const last = first === null ? null : lastDay(end, first);
  if (first === null || last === null) return null;
  return (year) => {
    const end = last(year) < first(year) ? last(year + 1) : last(year);
    return { from: dateOfNumber(first(year)), to: dateOfNumber(end) };
  };
}
