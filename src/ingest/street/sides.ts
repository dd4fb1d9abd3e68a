/** Sides of street ranges in columns of integers, with their lines as encoded bytes. */
import {
  RANGE_DESCENDING,
  RANGE_EVEN,
  RANGE_ODD,
  RANGE_RIGHT,
  RANGE_STATED,
  RANGE_WIDE_SETBACK,
} from '../../dataset/street-format.js';
import type { RangeSide } from '../source/ranges.js';
import { ByteSink, IntColumn } from './bytes.js';

/** All of a side except for its street and line. */
export interface SideFacts {
  readonly from: number;
  readonly to: number;
  /** Flags as in the layout of ranges: parity, direction, right or left, setback. */
  readonly flags: number;
  /** ZIP+4 add-on plus 1; 0 for none. */
  readonly zip4: number;
  /** The tax area; −1 where it changes along the side. */
  readonly area: number;
  /** First and last day, if the state's boundary file states the side; otherwise 0. */
  readonly begin: number;
  readonly end: number;
}

/** A side's flags in the layout, as one number. */
export function sideFlags(side: RangeSide, right: boolean): number {
  return (
    (side.parity === 'odd' ? RANGE_ODD : side.parity === 'even' ? RANGE_EVEN : 0) |
    (side.from > side.to ? RANGE_DESCENDING : 0) |
    (right ? RANGE_RIGHT : 0) |
    (side.wideSetback ? RANGE_WIDE_SETBACK : 0)
  );
}

/** Writes a line: its first vertex, then steps from vertex to vertex. */
export function writeLine(sink: ByteSink, geometry: readonly number[]): void {
  if (geometry.length === 0) return;
  sink.i32(geometry[0]!);
  sink.i32(geometry[1]!);
  for (let at = 2; at < geometry.length; at += 1) sink.zigzag(geometry[at]! - geometry[at - 2]!);
}

/** Reads what `writeLine` wrote. */
function readLine(bytes: Uint8Array): number[] {
  if (bytes.length === 0) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const line = [view.getInt32(0, true), view.getInt32(4, true)];
  for (let at = 8; at < bytes.length; ) {
    let [value, scale] = [0, 1];
    for (; bytes[at]! > 127; at += 1, scale *= 128) value += (bytes[at]! - 128) * scale;
    value += bytes[at]! * scale;
    at += 1;
    line.push(line[line.length - 2]! + (value % 2 === 1 ? -(value + 1) / 2 : value / 2));
  }
  return line;
}

export class SideColumns {
  readonly street = new IntColumn();
  readonly #from = new IntColumn();
  readonly #to = new IntColumn();
  readonly #flags = new IntColumn();
  readonly #zip4 = new IntColumn();
  readonly #area = new IntColumn();
  readonly #begin = new IntColumn();
  readonly #end = new IntColumn();
  readonly #lineStart = new IntColumn();
  readonly #vertices = new IntColumn();
  readonly #lines = new ByteSink();

  get length(): number {
    return this.street.length;
  }

  add(street: number, facts: SideFacts, vertices: number, line: Uint8Array): void {
    this.street.push(street);
    this.#from.push(facts.from);
    this.#to.push(facts.to);
    this.#flags.push(facts.flags);
    this.#zip4.push(facts.zip4);
    this.#area.push(facts.area);
    this.#begin.push(facts.begin);
    this.#end.push(facts.end);
    this.#vertices.push(vertices);
    this.#lineStart.push(this.#lines.length);
    this.#lines.raw(line);
  }

  facts(row: number): SideFacts {
    return {
      from: this.#from.at(row),
      to: this.#to.at(row),
      flags: this.#flags.at(row),
      zip4: this.#zip4.at(row),
      area: this.#area.at(row),
      begin: this.#begin.at(row),
      end: this.#end.at(row),
    };
  }

  area(row: number): number {
    return this.#area.at(row);
  }

  /** Whether the state's boundary file states the side. */
  isStated(row: number): boolean {
    return (this.#flags.at(row) & RANGE_STATED) !== 0;
  }

  vertices(row: number): number {
    return this.#vertices.at(row);
  }

  /** A view of the line's bytes, valid until a side is added. */
  line(row: number): Uint8Array {
    const end = row + 1 < this.length ? this.#lineStart.at(row + 1) : this.#lines.length;
    return this.#lines.view(this.#lineStart.at(row), end);
  }

  /** A total order of sides by content; `zipOf` gives the ZIP of a side's street, 0 for none. */
  compare(a: number, b: number, zipOf: (row: number) => number): number {
    const [one, other] = [this.facts(a), this.facts(b)];
    return (
      Math.min(one.from, one.to) - Math.min(other.from, other.to) ||
      Math.max(one.from, one.to) - Math.max(other.from, other.to) ||
      (one.flags & RANGE_RIGHT) - (other.flags & RANGE_RIGHT) ||
      other.begin - one.begin ||
      one.area - other.area ||
      one.end - other.end ||
      one.flags - other.flags ||
      compareText(this.#text(a, zipOf(a)), this.#text(b, zipOf(b)))
    );
  }

  #text(row: number, zip: number): string {
    const { from, to, flags, zip4 } = this.facts(row);
    const parity = (flags & RANGE_ODD) > 0 ? 'odd' : (flags & RANGE_EVEN) > 0 ? 'even' : 'both';
    const side: RangeSide = {
      from,
      to,
      parity,
      zip: zip === 0 ? '' : String(zip).padStart(5, '0'),
      zip4: zip4 === 0 ? '' : String(zip4 - 1).padStart(4, '0'),
      wideSetback: (flags & RANGE_WIDE_SETBACK) > 0,
    };
    return JSON.stringify([side, readLine(this.line(row))]);
  }
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Writes a side in the layout of dataset/street-format.ts. */
export function writeSide(
  sink: ByteSink,
  sides: SideColumns,
  row: number,
  areas: readonly number[],
): void {
  const { from, to, flags, zip4, area, begin, end } = sides.facts(row);
  const start = sink.length;
  sink.u16(0);
  sink.u16(sides.vertices(row));
  sink.u8(flags);
  sink.u8(0);
  sink.u32(Math.min(from, to));
  sink.u32(Math.max(from, to));
  sink.u16(area < 0 ? 0 : areas.indexOf(area) + 1);
  sink.u16(zip4);
  sink.u32(begin);
  if ((flags & RANGE_STATED) !== 0) sink.u32(end);
  sink.raw(sides.line(row));
  sink.patchU16(start, sink.length - start);
}
