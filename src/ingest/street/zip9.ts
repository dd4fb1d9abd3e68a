/** ZIP+4 ranges of publishers, cut so that each add-on has the areas stated last. */
import type { DateInt } from '../../tax/date.js';
import type { BoundaryRecord } from '../source/sst-boundary.js';
import { ByteSink } from './bytes.js';

export interface Zip9Range {
  /** Two-letter code. */
  readonly state: string;
  readonly zipLow: number;
  readonly zipHigh: number;
  readonly plus4Low: number;
  readonly plus4High: number;
  readonly area: number;
  readonly begin: DateInt;
}

const PLUS4_MAX = 9999;
/** ZIPs one record may span; states write a few dozen at most. */
const ZIP_SPAN_MAX = 1000;

/**
 * The records in force on a day. When a file has wholly ended by then, its last day counts: a
 * list that was not renewed keeps being used.
 */
export function boundariesInForce(
  records: readonly BoundaryRecord[],
  day: DateInt,
): readonly BoundaryRecord[] {
  let last = 0;
  for (const record of records) last = Math.max(last, record.end);
  const on = Math.min(day, last);
  return records.filter((record) => record.begin <= on && record.end >= on);
}

/** The add-ons of a range that lie in one of its ZIPs. */
function withinZip(range: Zip9Range, zip: number): readonly [number, number] {
  return [
    zip === range.zipLow ? range.plus4Low : 0,
    zip === range.zipHigh ? range.plus4High : PLUS4_MAX,
  ];
}

/** Spreads ranges over the ZIPs they touch: state and ZIP → ranges. */
export function rangesByZip(ranges: readonly Zip9Range[]): Map<string, Zip9Range[]> {
  const byZip = new Map<string, Zip9Range[]>();
  for (const range of ranges) {
    const last = Math.min(range.zipHigh, range.zipLow + ZIP_SPAN_MAX);
    for (let zip = range.zipLow; zip <= last; zip += 1) {
      const key = `${range.state}${String(zip).padStart(5, '0')}`;
      const list = byZip.get(key);
      if (list === undefined) byZip.set(key, [range]);
      else list.push(range);
    }
  }
  return byZip;
}

/**
 * Bytes of one ZIP: disjoint ranges in order, each with the areas of the record that began last;
 * several areas where records of the same day contradict one another.
 */
export function encodeZip9(zip: number, ranges: readonly Zip9Range[]): Uint8Array {
  const cuts = new Set<number>();
  for (const range of ranges) {
    const [low, high] = withinZip(range, zip);
    cuts.add(low);
    cuts.add(high + 1);
  }
  const edges = [...cuts].sort((a, b) => a - b);
  const sink = new ByteSink();
  for (let index = 0; index + 1 < edges.length; index += 1) {
    const low = edges[index]!;
    const areas = areasAt(zip, low, ranges);
    if (areas.length === 0) continue;
    sink.u16(low);
    sink.u16(edges[index + 1]! - 1);
    sink.u16(areas.length);
    for (const area of areas) sink.u32(area);
  }
  return sink.copy();
}

function areasAt(zip: number, plus4: number, ranges: readonly Zip9Range[]): readonly number[] {
  let latest = -1;
  const areas = new Set<number>();
  for (const range of ranges) {
    const [low, high] = withinZip(range, zip);
    if (plus4 < low || plus4 > high || range.begin < latest) continue;
    if (range.begin > latest) areas.clear();
    latest = range.begin;
    areas.add(range.area);
  }
  return [...areas].sort((a, b) => a - b);
}
