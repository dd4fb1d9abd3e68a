/** Days of rate lists: the day after, and dates as lists print them. */
import { DATE_MIN, DATE_OPEN, dateOf, formatDate, parseDate } from '../../tax/date.js';
import type { DateInt } from '../../tax/date.js';

export { DATE_MIN, DATE_OPEN, dateOf, formatDate };

/** The day after a date; "still in force" stays what it is. */
export function dayAfter(date: DateInt): DateInt {
  if (date >= DATE_OPEN) return DATE_OPEN;
  const year = Math.floor(date / 10000);
  const month = Math.floor(date / 100) % 100;
  const day = date % 100;
  return dateOf(year, month, day + 1)
    ?? dateOf(year, month + 1, 1)
    ?? dateOf(year + 1, 1, 1)
    ?? DATE_OPEN;
}

/** Reads a date of a list; "" gives `empty`, a date no calendar has is an error of the file. */
export function listDate(text: string, empty: DateInt): DateInt {
  if (text === '') return empty;
  const date = parseDate(text);
  if (date === null) throw new RangeError(`not a date: ${text}`);
  // Publishers write "no end" as the last day of some far year (2999, 9999).
  return date >= 29990101 ? DATE_OPEN : date;
}
