/**
 * What boundary files state for ZIPs and ZIP+4s, divided so that each add-on has its areas by day.
 */
import { addOnsKey, statedZipKey } from '../../dataset/street-format.js';
import type { DateInt } from '../../tax/date.js';
import { ByteSink, IntColumn } from './bytes.js';
import {
  keyOf,
  knownPeriods,
  latest,
  NO_AREA,
  outside,
  type Period,
  type Statement,
  statementsOf,
  Sweep,
  together,
  writePeriods,
} from './periods.js';

/** A record on ZIPs, or on add-ons of them. */
export interface ZipRange extends Statement {
  /** `zip5` is for whole ZIPs, so that its add-ons are ignored. */
  readonly kind: 'zip9' | 'zip5';
  /** Two-letter code. */
  readonly state: string;
  readonly zipLow: number;
  readonly zipHigh: number;
  readonly plus4Low: number;
  readonly plus4High: number;
}

const PLUS4_MAX = 9999;
const ZIP_MAX = 99_999;
/** Most ZIPs in one record; states write a few dozen at most. */
const ZIP_SPAN_MAX = 1000;
/** Used as the first add-on of a record on whole ZIPs. */
const WHOLE = -1;

/** Whether its ends are valid ZIPs and add-ons. */
export function isSound({ zipLow, zipHigh, plus4Low, plus4High }: ZipRange): boolean {
  const isWhole = (value: number): boolean => Number.isInteger(value) && value >= 0;
  return (
    isWhole(zipLow) &&
    zipLow <= ZIP_MAX &&
    isWhole(zipHigh) &&
    [plus4Low, plus4High].every((own) => isWhole(own) && own <= PLUS4_MAX)
  );
}

/** The last ZIP of a range that is used. */
export function lastZip(range: ZipRange): number {
  return Math.min(range.zipHigh, range.zipLow + ZIP_SPAN_MAX, ZIP_MAX);
}

/** The ranges of one state, in columns of integers. */
class ZipColumns {
  readonly #zipLow = new IntColumn();
  readonly #zipHigh = new IntColumn();
  readonly #plus4Low = new IntColumn();
  readonly #plus4High = new IntColumn();
  readonly #begin = new IntColumn();
  readonly #end = new IntColumn();
  readonly #area = new IntColumn();
  /** Statements on streets, by ZIP, each once. */
  readonly #streets = new Map<number, Map<string, Statement>>();

  get length(): number {
    return this.#area.length;
  }

  add(range: ZipRange): void {
    this.#zipLow.push(range.zipLow);
    this.#zipHigh.push(range.zipHigh);
    this.#plus4Low.push(range.kind === 'zip5' ? WHOLE : range.plus4Low);
    this.#plus4High.push(range.plus4High);
    this.#begin.push(range.begin);
    this.#end.push(range.end);
    this.#area.push(range.area);
  }

  street(zip: number, statement: Statement): void {
    let own = this.#streets.get(zip);
    if (own === undefined) this.#streets.set(zip, (own = new Map()));
    own.set(keyOf(statement), statement);
  }

  /** The entries of the ZIPs in a range; `tell` is called with what each ZIP has. */
  *entries(
    state: string,
    first: number,
    last: number,
    tell: (zip: number, all: readonly Period[]) => void,
  ): Generator<readonly [string, Uint8Array]> {
    const { starts, rows } = this.#byZip(first, last);
    const sweep = new Sweep();
    const sink = new ByteSink();
    for (let zip = first; zip <= last; zip += 1) {
      const own = rows.subarray(starts[zip - first]!, starts[zip - first + 1]!);
      const streets = this.#streets.get(zip);
      if (own.length === 0 && streets === undefined) continue;
      const { whole, nowhere } = this.#cut(zip, own, sweep);
      const addOns = sweep.isEmpty ? null : sweep.encode();
      if (addOns !== null && sweep.isKnown) yield [addOnsKey(state, zip), addOns];
      const latestOfZip = latest(whole);
      const stated = [
        ...statementsOf(latestOfZip),
        ...sweep.statements(),
        ...(streets?.values() ?? []),
        ...nowhere,
      ];
      const all = together(stated.filter(({ area }) => area !== NO_AREA));
      if (all.length === 0) continue;
      // Where a statement leads to no area, rates may differ. Then the ZIP's own record does not
      // cover all of it.
      const record = outside(
        knownPeriods(latestOfZip),
        stated.filter(({ area }) => area === NO_AREA),
      );
      tell(zip, all);
      sink.clear();
      sink.u32(0);
      writePeriods(sink, record);
      sink.patchU32(0, sink.length);
      writePeriods(sink, all);
      yield [statedZipKey(state, zip), sink.copy()];
    }
  }

  /** Calls `visit` for each ZIP in a range that a row includes. */
  #visit(first: number, last: number, visit: (zip: number, row: number) => void): void {
    for (let row = 0; row < this.length; row += 1) {
      const low = this.#zipLow.at(row);
      const high = Math.min(this.#zipHigh.at(row), low + ZIP_SPAN_MAX, last);
      for (let zip = Math.max(low, first); zip <= high; zip += 1) visit(zip, row);
    }
  }

  /** Row numbers by ZIP, for one ZIP after the other. */
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
   * Puts the add-ons of one ZIP into the sweep. Returns the records on the whole ZIP, and those
   * with add-ons in the wrong order, which are in force somewhere in the ZIP.
   */
  #cut(
    zip: number,
    rows: Int32Array,
    sweep: Sweep,
  ): {
    readonly whole: readonly Statement[];
    readonly nowhere: readonly Statement[];
  } {
    const whole: Statement[] = [];
    const nowhere: Statement[] = [];
    sweep.clear();
    for (const row of rows) {
      const statement: Statement = {
        begin: this.#begin.at(row) as DateInt,
        end: this.#end.at(row) as DateInt,
        area: this.#area.at(row),
      };
      if (this.#plus4Low.at(row) === WHOLE) whole.push(statement);
      else {
        const low = zip === this.#zipLow.at(row) ? this.#plus4Low.at(row) : 0;
        const high = zip === this.#zipHigh.at(row) ? this.#plus4High.at(row) : PLUS4_MAX;
        if (low > high) nowhere.push(statement);
        else sweep.add(low, high, statement);
      }
    }
    return { whole, nowhere };
  }
}

/** The ranges of all states. */
export class StatedZips {
  readonly #states = new Map<string, ZipColumns>();

  /** Adds a range; false when its ends are not valid. */
  add(range: ZipRange): boolean {
    if (!isSound(range)) return false;
    this.#of(range.state).add(range);
    return true;
  }

  /** Adds what is stated for a street, or for some doors, in a ZIP. */
  street(state: string, zip: number, statement: Statement): void {
    this.#of(state).street(zip, statement);
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

  /** The entries of the ZIPs in a range; `tell` is called with what each ZIP has. */
  *entries(
    first = 0,
    last = ZIP_MAX,
    tell: (zip: number, all: readonly Period[]) => void = () => undefined,
  ): Generator<readonly [string, Uint8Array]> {
    for (const state of this.states()) {
      yield* this.#states.get(state)!.entries(state, first, last, tell);
    }
  }

  #of(state: string): ZipColumns {
    let columns = this.#states.get(state);
    if (columns === undefined) this.#states.set(state, (columns = new ZipColumns()));
    return columns;
  }
}
