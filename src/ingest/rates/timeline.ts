/**
 * A jurisdiction's rates over time, from rows of several lists, and from several publications of
 * one list.
 */
import { type DateInt, dayBefore } from '../../tax/date.js';
import { formatRate, type Rate } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { DistrictMember, ListMark } from './facts.js';
import { DATE_MIN, DATE_OPEN, dayAfter, formatDate } from './list.js';
import type { DaySpan } from '../../tax/yearly-days.js';

/** A rate, or its absence, in a period. A filled timeline has exactly one segment for every day. */
export interface Segment {
  readonly from: DateInt;
  readonly to: DateInt;
  readonly basis: RateRow['basis'];
  readonly sales: Rate;
  readonly use: Rate;
  readonly source: number;
  readonly asOf: DateInt;
  /** Why the rate is unknown. */
  readonly reason: string;
}

/** The rate of segments in which nothing is levied, or nothing is known. */
const NO_RATE = 0 as Rate;

/** A segment in which nothing is levied. */
export function nothing(from: DateInt, to: DateInt, source: number, asOf: DateInt): Segment {
  return { from, to, basis: 'own', sales: NO_RATE, use: NO_RATE, source, asOf, reason: '' };
}

/** A segment about which nothing is known. */
export function unknown(from: DateInt, to: DateInt, reason: string): Segment {
  return {
    from,
    to,
    basis: 'unknown',
    sales: NO_RATE,
    use: NO_RATE,
    source: 0,
    asOf: DATE_MIN,
    reason,
  };
}

/** Applies rows in their order: where two overlap, the later row counts. */
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

/** Restricts a district's rates to the days of its memberships; outside them nothing is levied. */
export function during(
  line: readonly Segment[],
  memberships: readonly Pick<Segment, 'from' | 'to'>[],
): readonly Segment[] {
  const out: Segment[] = [];
  for (const segment of line) {
    for (const { from, to } of memberships) {
      const first = segment.from > from ? segment.from : from;
      const last = segment.to < to ? segment.to : to;
      if (first <= last) out.push({ ...segment, from: first, to: last });
    }
  }
  return out.sort((a, b) => a.from - b.from);
}

/** Names for the sentences in a filled timeline. */
interface Subject {
  /** "Alabama" */
  readonly state: string;
  /** "the city of Moody" */
  readonly jurisdiction: string;
}

/**
 * Fills the days without a row, by what it means that the list has none (decisions on
 * completeness).
 */
export function fill(
  segments: readonly Segment[],
  mark: ListMark,
  subject: Subject,
): readonly Segment[] {
  const first = segments[0];
  const silent =
    `${subject.state}: no rate is held for ${subject.jurisdiction}; ` +
    `${mark.fill} or the estimated layer would fill it.`;
  if (!first && mark.unlisted === 'unknown') return [unknown(DATE_MIN, DATE_OPEN, silent)];
  const start = first ? first.from : DATE_OPEN;
  const known = first && mark.history === 'current' ? start : mark.since;
  const out: Segment[] = [];
  let next: DateInt = DATE_MIN;
  if (known > DATE_MIN && start > DATE_MIN) {
    const edge = known < start ? known : start;
    const earlier =
      `${subject.state}: the rates of ${subject.jurisdiction} are held from ` +
      `${formatDate(edge)} on; an older list would fill the time before.`;
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

/** The segment of a day in a filled timeline. */
export function segmentOn(timeline: readonly Segment[], day: DateInt): Segment {
  for (const segment of timeline) if (segment.to >= day && segment.from <= day) return segment;
  throw new RangeError(`no segment on ${String(day)}`);
}

/*
 * Joins publications of one list from several dates. Each counts from its own date until the next
 * one's. For earlier days a newer publication counts too if it mentions them, since the publisher
 * has corrected the older one. Differences are reported.
 */

/** One publication of a list. */
export interface Vintage {
  /** Its name in reports: its reader and file. */
  readonly list: string;
  /** The day it was published for. */
  readonly asOf: DateInt;
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
}

interface JoinedVintages {
  /** In order of precedence, the last row counting most. */
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
  /** A sentence for each period for which two rows have different rates. */
  readonly contradictions: readonly string[];
}

function overlapOf(one: DaySpan, other: DaySpan): DaySpan | null {
  const from = one.from > other.from ? one.from : other.from;
  const to = one.to < other.to ? one.to : other.to;
  return from <= to ? { from, to } : null;
}

/** What a row is about, as a key. */
function subjectOf({ state, level, county, place, code, basis }: RateRow): string {
  const own = level === 'county' || level === 'city' ? '' : code;
  return [state, level, county, place, own, basis].join('/');
}

function memberOf({ code, scope, state, county, place }: DistrictMember): string {
  return [code, scope, state, county, place].join('/');
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

function ratesOf({ sales, use }: RateRow): string {
  return sales === use ? formatRate(sales) : `${formatRate(sales)} (use ${formatRate(use)})`;
}

interface Numbered {
  readonly row: RateRow;
  readonly list: string;
  /** Its number among the rates of its list, from 1. */
  readonly number: number;
  /** Whether it has no last day, so that it lasts until another one begins. */
  readonly isOpen: boolean;
}

function numbered({ rows, list }: Pick<Vintage, 'rows' | 'list'>): readonly Numbered[] {
  return rows.map((row, index) => ({ row, list, number: index + 1, isOpen: row.to === DATE_OPEN }));
}

/**
 * A sentence on two rows of the same subject that have different rates on the same days; null for
 * none. If the earlier one has no end and the later one begins later, that is a change and no
 * contradiction.
 */
function contradiction(before: Numbered, after: Numbered): string | null {
  const [one, other] = [before.row, after.row];
  if (before.isOpen && other.from > one.from) return null;
  const days = overlapOf(one, other);
  if (days === null || (one.sales === other.sales && one.use === other.use)) return null;
  const until = days.to === DATE_OPEN ? 'on' : `to ${formatDate(days.to)}`;
  const where =
    before.list === after.list
      ? `rates ${before.number} and ${after.number} of ${after.list}`
      : `rate ${before.number} of ${before.list} and rate ${after.number} of ${after.list}`;
  return (
    `${other.name || other.state} (${other.level}) from ${formatDate(days.from)} ${until}: ` +
    `${ratesOf(one)} and ${ratesOf(other)}, ${where}; the latter holds`
  );
}

/** Contradictions among rows, which are in order of precedence. */
function contradictionsOf(rows: readonly Numbered[]): readonly string[] {
  const found: string[] = [];
  for (const group of grouped(rows, ({ row }) => subjectOf(row)).values()) {
    for (let at = 1; at < group.length; at += 1) {
      for (const before of group.slice(0, at)) {
        const told = contradiction(before, group[at]!);
        if (told !== null) found.push(told);
      }
    }
  }
  return found;
}

/** A row or member cut off after a day; null where nothing remains. */
function until<T extends DaySpan>(one: T, last: DateInt): T | null {
  if (one.from > last) return null;
  return one.to <= last ? one : { ...one, to: last };
}

/** Members of older publications, except where a newer one says the same of the same days. */
function joinMembers(
  older: readonly DistrictMember[],
  newer: readonly DistrictMember[],
): readonly DistrictMember[] {
  const known = grouped(newer, memberOf);
  const isSaid = (member: DistrictMember): boolean =>
    (known.get(memberOf(member)) ?? []).some((each) => overlapOf(each, member) !== null);
  return [...older.filter((member) => !isSaid(member)), ...newer];
}

/**
 * Joins the publications of a list, in any order.
 * @throws RangeError where two were published for the same day.
 */
export function joinVintages(vintages: readonly Vintage[]): JoinedVintages {
  const inOrder = [...vintages].sort((one, other) => one.asOf - other.asOf);
  let rows: readonly Numbered[] = [];
  let members: readonly DistrictMember[] = [];
  for (const [index, vintage] of inOrder.entries()) {
    const earlier = inOrder[index - 1];
    if (earlier?.asOf === vintage.asOf) {
      throw new RangeError(
        `${earlier.list} and ${vintage.list} are both of ${formatDate(
          vintage.asOf,
        )}: which of them is newer?`,
      );
    }
    const last = dayBefore(vintage.asOf);
    const past = rows.flatMap((each) => {
      const row = until(each.row, last);
      return row === null ? [] : [{ ...each, row }];
    });
    rows = [...past, ...numbered(vintage)];
    members = joinMembers(
      members.flatMap((member) => until(member, last) ?? []),
      vintage.members,
    );
  }
  return { rows: rows.map(({ row }) => row), members, contradictions: contradictionsOf(rows) };
}
