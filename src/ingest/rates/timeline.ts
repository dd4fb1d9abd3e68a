/** One jurisdiction's rates in time: rows of several lists painted over one another. */
import { type DateInt, dayBefore } from '../../tax/date.js';
import type { Rate } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { ListMark } from './facts.js';
import { DATE_MIN, DATE_OPEN, dayAfter, formatDate } from './list.js';

/** What holds over some days. A filled timeline has one segment for every day. */
export interface Segment {
  readonly from: DateInt;
  readonly to: DateInt;
  readonly basis: RateRow['basis'];
  readonly sales: Rate;
  readonly use: Rate;
  readonly source: number;
  readonly asOf: DateInt;
  /** Why an unknown one is unknown. */
  readonly reason: string;
}

/** Nothing levied, or nothing known. */
export const NO_RATE = 0 as Rate;

/** A segment in which nothing is levied. */
export function nothing(from: DateInt, to: DateInt, source: number, asOf: DateInt): Segment {
  return { from, to, basis: 'own', sales: NO_RATE, use: NO_RATE, source, asOf, reason: '' };
}

/** A segment about which nothing is known. */
export function unknown(from: DateInt, to: DateInt, reason: string): Segment {
  const rate = { sales: NO_RATE, use: NO_RATE };
  return { from, to, basis: 'unknown', ...rate, source: 0, asOf: DATE_MIN, reason };
}

/** Paints rows over one another in their order: where two overlap, the later row holds. */
export function paint(rows: readonly RateRow[]): readonly Segment[] {
  let painted: Segment[] = [];
  for (const row of rows) {
    if (row.to < row.from) continue;
    const next: Segment[] = [];
    for (const old of painted) {
      if (old.to < row.from || old.from > row.to) {
        next.push(old);
        continue;
      }
      if (old.from < row.from) next.push({ ...old, to: dayBefore(row.from) });
      if (old.to > row.to) next.push({ ...old, from: dayAfter(row.to) });
    }
    const { from, to, basis, sales, use, source, asOf } = row;
    next.push({ from, to, basis, sales, use, source, asOf, reason: row.note ?? '' });
    painted = next;
  }
  return painted.sort((a, b) => a.from - b.from);
}

/** Names used in the sentences of a filled timeline. */
export interface Subject {
  /** "Alabama" */
  readonly state: string;
  /** "the city of Moody" */
  readonly jurisdiction: string;
}

/** Fills the days without a row by what the list's silence means (decisions on completeness). */
export function fill(
  segments: readonly Segment[],
  mark: ListMark,
  subject: Subject,
): readonly Segment[] {
  const first = segments[0];
  const silent = `${subject.state}: no rate is held for ${subject.jurisdiction}; `
    + `${mark.fill} or the estimated layer would fill it.`;
  if (!first && mark.unlisted === 'unknown') return [unknown(DATE_MIN, DATE_OPEN, silent)];
  const start = first ? first.from : DATE_OPEN;
  const known = first && mark.history === 'current' ? start : mark.since;
  const out: Segment[] = [];
  let next: DateInt = DATE_MIN;
  if (known > DATE_MIN && start > DATE_MIN) {
    const edge = known < start ? known : start;
    const earlier = `${subject.state}: the rates of ${subject.jurisdiction} are held from `
      + `${formatDate(edge)} on; an older list would fill the time before.`;
    out.push(unknown(DATE_MIN, dayBefore(edge), earlier));
    next = edge;
  }
  for (const segment of segments) {
    if (segment.from > next) {
      out.push(nothing(next, dayBefore(segment.from), mark.source, mark.since));
    }
    out.push(segment);
    if (segment.to === DATE_OPEN) return out;
    next = dayAfter(segment.to);
  }
  out.push(nothing(next, DATE_OPEN, mark.source, mark.since));
  return out;
}

/** The segment of a day; the timeline must be filled. */
export function segmentOn(timeline: readonly Segment[], day: DateInt): Segment {
  for (const segment of timeline) if (segment.to >= day && segment.from <= day) return segment;
  throw new RangeError(`no segment on ${String(day)}`);
}
