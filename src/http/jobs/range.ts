/** Parts of a result (RFC 9110, 14). */

/** First and last byte, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The one range that a Range field asks for; null where the whole is to be sent, since the field is
 * absent, of another unit, malformed or of several ranges.
 */
export function parseRange(field: string, bytes: number): ByteRange | 'unsatisfiable' | null {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(field.trim());
  if (found === null) return null;
  const [, from = '', to = ''] = found;
  if (from === '' && to === '') return null;
  if (from === '') {
    const length = Math.min(Number(to), bytes);
    return length === 0 ? 'unsatisfiable' : { first: bytes - length, last: bytes - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return null;
  if (first >= bytes) return 'unsatisfiable';
  return { first, last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
}

/** Whether an If-None-Match field names one of the tags, weakly compared. */
export function namesTag(field: string, tags: readonly string[]): boolean {
  if (field.trim() === '*') return true;
  return field.split(',').map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => tags.includes(each));
}
