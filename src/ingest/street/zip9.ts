/** ZIP+4 ranges of publishers, cut so that each add-on has the areas stated last. */
import { zip9Key } from '../../dataset/street-format.js';
import type { DateInt } from '../../tax/date.js';
import { ByteSink, IntColumn } from './bytes.js';

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
const ZIP_MAX = 99_999;
/** ZIPs one record may span; states write a few dozen at most. */
const ZIP_SPAN_MAX = 1000;

/** Whether its ends are ZIPs and add-ons. */
export function isSound({ zipLow, zipHigh, plus4Low, plus4High }: Zip9Range): boolean {
  const isWhole = (value: number): boolean => Number.isInteger(value) && value >= 0;
  return isWhole(zipLow) && zipLow <= ZIP_MAX && isWhole(zipHigh)
    && [plus4Low, plus4High].every((own) => isWhole(own) && own <= PLUS4_MAX);
}

/** The last ZIP of a range that counts. */
export function lastZip(range: Zip9Range): number {
  return Math.min(range.zipHigh, range.zipLow + ZIP_SPAN_MAX, ZIP_MAX);
}

/** The ranges of one state, in columns of integers. */
export class Zip9Columns {
  readonly #zipLow = new IntColumn();
  readonly #zipHigh = new IntColumn();
  readonly #plus4Low = new IntColumn();
  readonly #plus4High = new IntColumn();
  readonly #area = new IntColumn();
  readonly #begin = new IntColumn();

  get length(): number {
    return this.#area.length;
  }

  add(range: Zip9Range): void {
    this.#zipLow.push(range.zipLow);
    this.#zipHigh.push(range.zipHigh);
    this.#plus4Low.push(range.plus4Low);
    this.#plus4High.push(range.plus4High);
    this.#area.push(range.area);
    this.#begin.push(range.begin);
  }

  /** Keys with their bytes, by ZIP, of the ZIPs from one to another. */
  *entries(state: string, first: number, last: number): Generator<readonly [string, Uint8Array]> {
    const { starts, rows } = this.#byZip(first, last);
    const sweep = new Sweep();
    for (let zip = first; zip <= last; zip += 1) {
      const own = rows.subarray(starts[zip - first]!, starts[zip - first + 1]!);
      if (own.length > 0) yield [zip9Key(state, zip), this.#encode(zip, own, sweep)];
    }
  }

  /** Calls `visit` with each ZIP from one to another that each row touches. */
  #visit(first: number, last: number, visit: (zip: number, row: number) => void): void {
    for (let row = 0; row < this.length; row += 1) {
      const low = this.#zipLow.at(row);
      const high = Math.min(this.#zipHigh.at(row), low + ZIP_SPAN_MAX, last);
      for (let zip = Math.max(low, first); zip <= high; zip += 1) visit(zip, row);
    }
  }

  /** Numbers of the rows that touch each ZIP, one ZIP after the other. */
  #byZip(first: number, last: number): { readonly starts: Int32Array; readonly rows: Int32Array } {
    const starts = new Int32Array(last - first + 2);
    this.#visit(first, last, (zip) => {
      starts[zip - first + 1]! += 1;
    });
    for (let at = 1; at < starts.length; at += 1) starts[at]! += starts[at - 1]!;
    const rows = new Int32Array(starts[starts.length - 1]!);
    const next = starts.slice();
    this.#visit(first, last, (zip, row) => {
      rows[next[zip - first]!] = row;
      next[zip - first]! += 1;
    });
    return { starts, rows };
  }

  /**
   * Bytes of one ZIP: disjoint ranges in order, each with the areas of the record that began last;
   * several areas where records of the same day contradict one another.
   */
  #encode(zip: number, rows: Int32Array, sweep: Sweep): Uint8Array {
    sweep.clear();
    for (const row of rows) {
      const low = zip === this.#zipLow.at(row) ? this.#plus4Low.at(row) : 0;
      const high = zip === this.#zipHigh.at(row) ? this.#plus4High.at(row) : PLUS4_MAX;
      sweep.add(low, high, this.#begin.at(row), this.#area.at(row));
    }
    return sweep.encode();
  }
}

/** The add-ons of one ZIP, walked once from the lowest to the highest. */
class Sweep {
  readonly #low: number[] = [];
  readonly #high: number[] = [];
  readonly #begin: number[] = [];
  readonly #area: number[] = [];
  /** Of the ranges that hold where the sweep is: begin → area → how many. */
  readonly #open = new Map<number, Map<number, number>>();
  readonly #sink = new ByteSink();

  clear(): void {
    for (const column of [this.#low, this.#high, this.#begin, this.#area]) column.length = 0;
    this.#open.clear();
    this.#sink.clear();
  }

  /** A range whose ends are the wrong way round holds nowhere, but is a cut as any other. */
  add(low: number, high: number, begin: number, area: number): void {
    this.#low.push(low);
    this.#high.push(high);
    this.#begin.push(begin);
    this.#area.push(area);
  }

  encode(): Uint8Array {
    const rows = this.#low.map((_, row) => row);
    const held = rows.filter((row) => this.#low[row]! <= this.#high[row]!);
    const opening = [...held].sort((a, b) => this.#low[a]! - this.#low[b]!);
    const closing = [...held].sort((a, b) => this.#high[a]! - this.#high[b]!);
    const cuts = [...new Set(rows.flatMap((row) => [this.#low[row]!, this.#high[row]! + 1]))]
      .sort((a, b) => a - b);
    let opened = 0;
    let closed = 0;
    for (let index = 0; index + 1 < cuts.length; index += 1) {
      const at = cuts[index]!;
      while (opened < opening.length && this.#low[opening[opened]!]! <= at) {
        this.#count(opening[opened]!, 1);
        opened += 1;
      }
      while (closed < closing.length && this.#high[closing[closed]!]! < at) {
        this.#count(closing[closed]!, -1);
        closed += 1;
      }
      this.#write(at, cuts[index + 1]! - 1);
    }
    return this.#sink.copy();
  }

  #count(row: number, step: number): void {
    const begin = this.#begin[row]!;
    const area = this.#area[row]!;
    let areas = this.#open.get(begin);
    if (areas === undefined) {
      areas = new Map();
      this.#open.set(begin, areas);
    }
    const count = (areas.get(area) ?? 0) + step;
    if (count > 0) areas.set(area, count);
    else areas.delete(area);
    if (areas.size === 0) this.#open.delete(begin);
  }

  #write(low: number, high: number): void {
    if (this.#open.size === 0) return;
    let latest = -1;
    for (const begin of this.#open.keys()) latest = Math.max(latest, begin);
    const areas = [...this.#open.get(latest)!.keys()].sort((a, b) => a - b);
    this.#sink.u16(low);
    this.#sink.u16(high);
    this.#sink.u16(areas.length);
    for (const area of areas) this.#sink.u32(area);
  }
}

/** The ranges of all states. */
export class Zip9Table {
  readonly #states = new Map<string, Zip9Columns>();

  /** False when its ends are no ZIPs and add-ons. */
  add(range: Zip9Range): boolean {
    if (!isSound(range)) return false;
    let columns = this.#states.get(range.state);
    if (columns === undefined) {
      columns = new Zip9Columns();
      this.#states.set(range.state, columns);
    }
    columns.add(range);
    return true;
  }

  get length(): number {
    let total = 0;
    for (const columns of this.#states.values()) total += columns.length;
    return total;
  }

  /** Two-letter codes. */
  states(): readonly string[] {
    return [...this.#states.keys()].sort();
  }

  /** Keys with their bytes, ascending, of the ZIPs from one to another. */
  *entries(first = 0, last = ZIP_MAX): Generator<readonly [string, Uint8Array]> {
    for (const state of this.states()) {
      yield* this.#states.get(state)!.entries(state, first, last);
    }
  }
}
