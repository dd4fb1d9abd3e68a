/** Parts of a result (RFC 9110, 14). */
import rangeParser from 'range-parser';

/** What the library answers for a range behind the end, and for a field that is none. */
const UNSATISFIABLE = -1;
const MALFORMED = -2;

/** First and last byte, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** A range that ends before it begins is satisfied by no length, and to be ignored (14.1.1). */
function isBackward(field: string): boolean {
  return !field.includes('=-') && rangeParser(Number.MAX_SAFE_INTEGER, field) === UNSATISFIABLE;
}

/**
 * The one range that a Range field asks for; null where the whole is to be sent, since the field is
 * absent, of another unit, malformed or of several ranges.
 */
export function parseRange(field: string, bytes: number): ByteRange | 'unsatisfiable' | null {
  const parsed = rangeParser(bytes, field);
  if (parsed === UNSATISFIABLE) return isBackward(field) ? null : 'unsatisfiable';
  if (parsed === MALFORMED || parsed.type.toLowerCase() !== 'bytes') return null;
  const [only, ...more] = parsed;
  return only === undefined || more.length > 0 ? null : { first: only.start, last: only.end };
}

/** Whether an If-None-Match field names one of the tags, weakly compared. */
export function namesTag(field: string, tags: readonly string[]): boolean {
  if (field.trim() === '*') return true;
  return field.split(',').map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => tags.includes(each));
}
