/** Turns statements of tax areas, each with its days, into periods that do not overlap. */
import { DATE_OPEN, type DateInt, dayBefore } from '../../tax/date.js';
import { dayAfter } from '../rates/list.js';
import { ByteSink } from './bytes.js';

/** Used as the area of records that lead to none. */
export const NO_AREA = -2;

/** The area that a record states, from its first day to its last. */
export interface Statement {
  readonly begin: DateInt;
  readonly end: DateInt;
  readonly area: number;
}

/**
 * Areas in a period, ascending. If there are several, they contradict each other or lie side by
 * side.
 */
export interface Period {
  readonly begin: DateInt;
  readonly end: DateInt;
  readonly areas: readonly number[];
}

/** A key that distinguishes statements by first day, last day and tax area. */
export function keyOf({ begin, end, area }: Statement): string {
  return `${begin}|${end}|${area}`;
}

function sameAreas(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((area, at) => area === other[at]);
}

/**
 * Divides time wherever a statement begins or has ended; `choose` selects those that count in
 * between.
 */
function periodsOf(
  statements: readonly Statement[],
  choose: (held: readonly Statement[]) => readonly Statement[],
): readonly Period[] {
  const cuts = [
    ...new Set(
      statements.flatMap(({ begin, end }) =>
        end === DATE_OPEN ? [begin] : [begin, dayAfter(end)],
      ),
    ),
  ].sort((a, b) => a - b);
  const periods: Period[] = [];
  cuts.forEach((begin, index) => {
    const next = cuts[index + 1];
    const end = next === undefined ? DATE_OPEN : dayBefore(next);
    const held = statements.filter((one) => one.begin <= begin && one.end >= begin);
    const areas = [...new Set(choose(held).map(({ area }) => area))].sort((a, b) => a - b);
    if (areas.length === 0) return;
    const last = periods.at(-1);
    if (last !== undefined && dayAfter(last.end) === begin && sameAreas(last.areas, areas)) {
      periods[periods.length - 1] = { ...last, end };
    } else periods.push({ begin, end, areas });
  });
  return periods;
}

/** For each day, the statement that began last; several of one day contradict each other. */
export function latest(statements: readonly Statement[]): readonly Period[] {
  return periodsOf(statements, (held) => {
    const begin = held.reduce((most, one) => Math.max(most, one.begin), 0);
    return held.filter((one) => one.begin === begin);
  });
}

/** For each day, all statements. */
export function together(statements: readonly Statement[]): readonly Period[] {
  return periodsOf(statements, (held) => held);
}

/** The periods whose areas are all known. */
export function knownPeriods(periods: readonly Period[]): readonly Period[] {
  return periods.filter(({ areas }) => !areas.includes(NO_AREA));
}

/** The periods, restricted to days on which no statement is in force. */
export function outside(
  periods: readonly Period[],
  statements: readonly Statement[],
): readonly Period[] {
  if (statements.length === 0) return periods;
  const unknown = statements.map((one) => ({ ...one, area: NO_AREA }));
  return periodsOf([...statementsOf(periods), ...unknown], (held) =>
    held.some(({ area }) => area === NO_AREA) ? [] : held,
  );
}

/** A statement for each area of each period. */
export function statementsOf(periods: readonly Period[]): readonly Statement[] {
  return periods.flatMap(({ begin, end, areas }) => areas.map((area) => ({ begin, end, area })));
}

/** Writes periods in the layout of dataset/stated-areas.ts. */
export function writePeriods(sink: ByteSink, periods: readonly Period[]): void {
  sink.u16(periods.length);
  for (const { begin, end, areas } of periods) {
    sink.u32(begin);
    sink.u32(end);
    sink.u16(areas.length);
    for (const area of areas) sink.u32(area);
  }
}

/** From the ZIP+4 records of one ZIP to add-ons with their tax areas by day. */

/** A range of add-ons, with the number of its set of periods. */
interface Stretch {
  readonly low: number;
  high: number;
  readonly set: number;
}

/** The add-ons of one ZIP, processed once from the lowest to the highest. */
export class Sweep {
  readonly #low: number[] = [];
  readonly #high: number[] = [];
  /** Number of the statement of each row. */
  readonly #said: number[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #statements: Statement[] = [];
  /** Statements in force at the current add-on, with the number of their rows. */
  readonly #open = new Map<number, number>();
  readonly #stretches: Stretch[] = [];
  readonly #setNumbers = new Map<string, number>();
  readonly #sets: (readonly Period[])[] = [];
  readonly #sink = new ByteSink();

  clear(): void {
    const { length } = this.#low;
    if (length === 0) return;
    for (const column of [
      this.#low,
      this.#high,
      this.#said,
      this.#statements,
      this.#stretches,
      this.#sets,
    ])
      column.length = 0;
    for (const map of [this.#numbers, this.#open, this.#setNumbers]) map.clear();
  }

  get isEmpty(): boolean {
    return this.#low.length === 0;
  }

  /** A range with its ends in the wrong order is nowhere in force. */
  add(low: number, high: number, statement: Statement): void {
    if (low > high) return;
    const key = keyOf(statement);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#statements.length;
      this.#numbers.set(key, number);
      this.#statements.push(statement);
    }
    this.#low.push(low);
    this.#high.push(high);
    this.#said.push(number);
  }

  /** Whether any add-on has a known area; valid after `encode`. */
  get isKnown(): boolean {
    return this.#sets.some((periods) => knownPeriods(periods).length > 0);
  }

  /** The statements that are in force somewhere among the add-ons; valid after `encode`. */
  statements(): readonly Statement[] {
    return this.#sets.flatMap(statementsOf);
  }

  /** In the layout of dataset/stated-areas.ts. */
  encode(): Uint8Array {
    this.#walk();
    const sink = this.#sink;
    sink.clear();
    sink.u16(this.#stretches.length);
    const tails: number[] = [];
    for (const { low, high } of this.#stretches) {
      sink.u16(low);
      sink.u16(high);
      tails.push(sink.length);
      sink.u32(0);
    }
    const starts = this.#sets.map((periods) => {
      const at = sink.length;
      // If the latest statement leads to no area, earlier ones do not apply either.
      writePeriods(sink, knownPeriods(periods));
      return at;
    });
    this.#stretches.forEach(({ set }, index) => sink.patchU32(tails[index]!, starts[set]!));
    return sink.copy();
  }

  #walk(): void {
    const rows = this.#low.map((_, row) => row);
    const opening = [...rows].sort((a, b) => this.#low[a]! - this.#low[b]!);
    const closing = [...rows].sort((a, b) => this.#high[a]! - this.#high[b]!);
    const cuts = [...new Set(rows.flatMap((row) => [this.#low[row]!, this.#high[row]! + 1]))].sort(
      (a, b) => a - b,
    );
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
      if (this.#open.size > 0) this.#extend(at, cuts[index + 1]! - 1);
    }
  }

  #count(row: number, step: number): void {
    const said = this.#said[row]!;
    const count = (this.#open.get(said) ?? 0) + step;
    if (count > 0) this.#open.set(said, count);
    else this.#open.delete(said);
  }

  /**
   * Adds a range of add-ons with the current statements; joins it to the one before if that has the
   * same.
   */
  #extend(low: number, high: number): void {
    const set = this.#setOf([...this.#open.keys()].sort((a, b) => a - b));
    const last = this.#stretches.at(-1);
    if (last !== undefined && last.set === set && last.high === low - 1) last.high = high;
    else this.#stretches.push({ low, high, set });
  }

  /** The number of the periods that statements result in; equal periods have the same number. */
  #setOf(statements: readonly number[]): number {
    const key = statements.join();
    const known = this.#setNumbers.get(key);
    if (known !== undefined) return known;
    const periods = latest(statements.map((number) => this.#statements[number]!));
    const text = JSON.stringify(periods);
    const set = this.#setNumbers.get(text) ?? this.#sets.push(periods) - 1;
    this.#setNumbers.set(key, set);
    this.#setNumbers.set(text, set);
    return set;
  }
}
