/** Combines the timelines of one tuple into components and unknown periods. */
import type { RatePeriod, UnknownRecord } from '../../dataset/records.js';
import { type DateInt, dayBefore } from '../../tax/date.js';
import type { Level } from '../../tax/jurisdiction.js';
import type { Rate } from '../../tax/rate.js';
import { DATE_OPEN, dayAfter } from './list.js';
import { type Segment, segmentOn } from './timeline.js';

/** A district's timeline in a tuple. */
export interface DistrictLine {
  readonly line: readonly Segment[];
  /** Whether it is in force in the whole county, so that a county's total includes it. */
  readonly countywide: boolean;
}

/** The timelines of a tuple; null where a level has no row. */
export interface TupleLines {
  readonly state: readonly Segment[];
  readonly county: readonly Segment[] | null;
  readonly city: readonly Segment[] | null;
  readonly districts: readonly DistrictLine[];
  /** Periods in which the districts of the place are unknown. */
  readonly gaps: readonly Segment[];
  readonly cap: Rate | null;
  readonly stateName: string;
  readonly estimate: Estimate | null;
}

/** Rates of the estimated layer, for days that the lists leave unknown. */
export interface Estimate {
  readonly county: Segment | null;
  /** Legal total in the place, including the state's part. */
  readonly total: Segment | null;
}

/** Periods by component, in the order state, county, city, districts. */
export interface CombinedTuple {
  readonly state: readonly RatePeriod[];
  readonly county: readonly RatePeriod[] | null;
  readonly city: readonly RatePeriod[] | null;
  readonly districts: readonly (readonly RatePeriod[])[];
  readonly unknown: readonly UnknownRecord[];
  readonly estimated: boolean;
}

/** Rates of one level on one day. */
interface Part {
  readonly sales: number;
  readonly use: number;
  readonly source: number;
  readonly asOf: DateInt;
}

interface Day {
  readonly state: Part;
  readonly county: Part | null;
  readonly city: Part | null;
  readonly districts: readonly Part[];
  readonly unknown: readonly { readonly level: Level; readonly reason: string }[];
  readonly estimated: boolean;
}

function part(segment: Segment): Part {
  const { sales, use, source, asOf } = segment;
  return { sales, use, source, asOf };
}

function less(segment: Segment, others: readonly Part[]): Part {
  let { sales, use }: { sales: number; use: number } = segment;
  for (const other of others) {
    sales -= other.sales;
    use -= other.use;
  }
  return { ...part(segment), sales, use };
}

/** The day by whose rates a total is split into parts: never later than the date of its list. */
function anchor(segment: Segment, day: DateInt): DateInt {
  const last = segment.asOf > segment.from ? segment.asOf : segment.from;
  return day < last ? day : last;
}

function countyPart(lines: TupleLines, line: readonly Segment[], day: DateInt): Part {
  const segment = segmentOn(line, day);
  if (segment.basis !== 'total') return part(segment);
  const at = anchor(segment, day);
  const wide = lines.districts.filter((district) => district.countywide);
  const inside = wide.map((district) => part(segmentOn(district.line, at)));
  const own = less(segment, [part(segmentOn(lines.state, at)), ...inside]);
  return { ...own, sales: Math.max(0, own.sales), use: Math.max(0, own.use) };
}

interface Local {
  readonly county: Part | null;
  readonly city: Part | null;
}

/** The local parts. If a total is lower than the county's part, it replaces that. */
function localParts(lines: TupleLines, day: DateInt): Local {
  const county = lines.county && countyPart(lines, lines.county, day);
  if (!lines.city) return { county, city: null };
  const segment = segmentOn(lines.city, day);
  if (segment.basis === 'sole') {
    return { county: county && { ...part(segment), sales: 0, use: 0 }, city: part(segment) };
  }
  if (segment.basis !== 'total') return { county, city: part(segment) };
  const at = anchor(segment, day);
  const countyThen = lines.county && countyPart(lines, lines.county, at);
  const others = lines.districts.map((district) => part(segmentOn(district.line, at)));
  if (countyThen) others.push(countyThen);
  const own = less(segment, [part(segmentOn(lines.state, at)), ...others]);
  const city = { ...own, sales: Math.max(0, own.sales), use: Math.max(0, own.use) };
  if (!county) return { county, city };
  const sales = Math.max(0, county.sales + Math.min(0, own.sales));
  const use = Math.max(0, county.use + Math.min(0, own.use));
  return { county: { ...county, sales, use }, city };
}

function unknownOn(lines: TupleLines, day: DateInt): Day['unknown'] {
  const found: { level: Level; reason: string }[] = [];
  const look = (level: Level, line: readonly Segment[] | null): void => {
    if (!line) return;
    const segment = segmentOn(line, day);
    if (segment.basis === 'unknown') found.push({ level, reason: segment.reason });
  };
  look('state', lines.state);
  // A city's rate of basis `sole` replaces its county's, which then need not be known.
  const alone = lines.city !== null && segmentOn(lines.city, day).basis === 'sole';
  if (!alone) look('county', lines.county);
  look('city', lines.city);
  for (const district of lines.districts) look('district', district.line);
  for (const gap of lines.gaps) {
    if (gap.from <= day && gap.to >= day) found.push({ level: 'district', reason: gap.reason });
  }
  return found;
}

function estimateOn(lines: TupleLines, day: Day, on: DateInt): Day {
  const { county, total } = lines.estimate ?? { county: null, total: null };
  const inForce = (segment: Segment | null): segment is Segment =>
    segment !== null && segment.from <= on;
  if (day.unknown.some((entry) => entry.level === 'state')) return day;
  const countyKnown = !day.unknown.some((entry) => entry.level === 'county');
  if (lines.city && inForce(total)) {
    const base = countyKnown ? day.county : inForce(county) ? part(county) : day.county;
    const own = less(total, [day.state, ...(base ? [base] : []), ...day.districts]);
    const city = { ...own, sales: Math.max(0, own.sales), use: Math.max(0, own.use) };
    return { ...day, county: base, city, unknown: [], estimated: true };
  }
  const onlyCounty = day.unknown.every((entry) => entry.level === 'county');
  if (!lines.city && lines.county && onlyCounty && inForce(county)) {
    return { ...day, county: part(county), unknown: [], estimated: true };
  }
  return day;
}

function dayOf(lines: TupleLines, on: DateInt): Day {
  const state = part(segmentOn(lines.state, on));
  const districts = lines.districts.map((district) => part(segmentOn(district.line, on)));
  let unknown = unknownOn(lines, on);
  const { county, city } = localParts(lines, on);
  const local = [county, city, ...districts].reduce((sum, row) => sum + (row?.sales ?? 0), 0);
  if (unknown.length === 0 && lines.cap !== null && local > lines.cap) {
    const reason =
      `${lines.stateName}: the listed local parts exceed the cap of the law, so the ` +
      'lists held disagree here; a newer list would fill it.';
    unknown = [{ level: 'district', reason }];
  }
  const day: Day = { state, county, city, districts, unknown, estimated: false };
  return unknown.length > 0 && lines.estimate ? estimateOn(lines, day, on) : day;
}

function boundaries(lines: TupleLines): readonly DateInt[] {
  const starts = new Set<DateInt>();
  const add = (line: readonly Segment[]): void => {
    for (const { from, to } of line) {
      starts.add(from);
      if (to < DATE_OPEN) starts.add(dayAfter(to));
    }
  };
  add(lines.state);
  for (const line of [lines.county, lines.city, lines.gaps]) if (line) add(line);
  for (const district of lines.districts) add(district.line);
  const { county, total } = lines.estimate ?? { county: null, total: null };
  for (const segment of [county, total]) if (segment) add([segment]);
  return [...starts].sort((a, b) => a - b);
}

class PeriodList {
  readonly periods: RatePeriod[] = [];

  add(from: DateInt, to: DateInt, row: Part): void {
    const last = this.periods.at(-1);
    const joins =
      last &&
      dayAfter(last.to) === from &&
      last.sales === row.sales &&
      last.use === row.use &&
      last.source === row.source &&
      last.asOf === row.asOf;
    if (last && joins) this.periods[this.periods.length - 1] = { ...last, to };
    else {
      const { source, asOf } = row;
      const [sales, use] = [row.sales as Rate, row.use as Rate];
      this.periods.push({ from, to, sales, use, source, asOf });
    }
  }
}

function addUnknown(list: UnknownRecord[], from: DateInt, to: DateInt, day: Day): void {
  for (const { level, reason } of day.unknown) {
    const at = list.findIndex(
      (old) => old.level === level && old.reason === reason && dayAfter(old.to) === from,
    );
    const old = list[at];
    if (old) list[at] = { ...old, to };
    else if (!list.some((other) => other.reason === reason && other.to === to)) {
      list.push({ level, from, to, reason });
    }
  }
}

/** Combines the timelines day by day; successive days with equal rates become one period. */
export function combine(given: TupleLines): CombinedTuple {
  // Estimates replace missing lists, but not the time before a list begins.
  const missing = given.estimate !== null && unknownOn(given, DATE_OPEN).length > 0;
  const lines = missing ? given : { ...given, estimate: null };
  const state = new PeriodList();
  const county = lines.county && new PeriodList();
  const city = lines.city && new PeriodList();
  const districts = lines.districts.map(() => new PeriodList());
  const unknown: UnknownRecord[] = [];
  let estimated = false;
  const starts = boundaries(lines);
  starts.forEach((from, index) => {
    const next = starts[index + 1];
    const to = next === undefined ? DATE_OPEN : dayBefore(next);
    const day = dayOf(lines, from);
    estimated ||= day.estimated;
    addUnknown(unknown, from, to, day);
    const hidden = (level: Level): boolean => day.unknown.some((entry) => entry.level === level);
    if (!hidden('state')) state.add(from, to, day.state);
    if (day.county && !hidden('county')) county?.add(from, to, day.county);
    if (day.city && !hidden('city')) city?.add(from, to, day.city);
    day.districts.forEach((row, at) => {
      // A district that has ended, or has not begun, does not count as one of the place's
      // districts.
      const levies = row.sales > 0 || row.use > 0;
      if (levies && !hidden('district')) districts[at]?.add(from, to, row);
    });
  });
  return {
    state: state.periods,
    county: county && county.periods,
    city: city && city.periods,
    districts: districts.map((list) => list.periods),
    unknown,
    estimated,
  };
}
