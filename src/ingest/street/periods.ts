/** Statements of tax areas with the days they hold → periods that do not overlap. */
import { DATE_OPEN, type DateInt, dayBefore } from '../../tax/date.js';
import { dayAfter } from '../rates/list.js';
import { ByteSink } from './bytes.js';

/** In place of the area of records that lead to none. */
export const NO_AREA = -2;

/** What a record says, from its first day to its last. */
export interface Statement {
  readonly begin: DateInt;
  readonly end: DateInt;
  readonly area: number;
}

/** Areas from one day to another, ascending; several contradict each other or lie side by side. */
export interface Period {
  readonly begin: DateInt;
  readonly end: DateInt;
  readonly areas: readonly number[];
}

/** A text that tells statements apart by their first day, last day and tax area. */
export function keyOf({ begin, end, area }: Statement): string {
  return `${begin}|${end}|${area}`;
}

function sameAreas(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((area, at) => area === other[at]);
}

/** Cuts time where a statement begins or has ended; `choose` picks those that count in between. */
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

/** On each day the statement that began last; those of one day contradict each other. */
export function latest(statements: readonly Statement[]): readonly Period[] {
  return periodsOf(statements, (held) => {
    const begin = held.reduce((most, one) => Math.max(most, one.begin), 0);
    return held.filter((one) => one.begin === begin);
  });
}

/** On each day everything that is stated. */
export function together(statements: readonly Statement[]): readonly Period[] {
  return periodsOf(statements, (held) => held);
}

/** Those whose areas are all known. */
export function knownPeriods(periods: readonly Period[]): readonly Period[] {
  return periods.filter(({ areas }) => !areas.includes(NO_AREA));
}

/** The periods on the days on which none of the statements holds. */
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

/** A period as one statement for each of its areas. */
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

/*
 * ZIP+4 records of one ZIP → add-ons with their tax areas by day.
 */

/** Add-ons from one to another, with the number of their set of periods. */
interface Stretch {
  readonly low: number;
  high: number;
  readonly set: number;
}

/** The add-ons of one ZIP, walked once from the lowest to the highest. */
export class Sweep {
  readonly #low: number[] = [];
  readonly #high: number[] = [];
  /** Number of the statement of each row. */
  readonly #said: number[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #statements: Statement[] = [];
  /** Of the statements that hold where the sweep is, by how many rows. */
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

  /** A range whose ends are the wrong way round holds nowhere. */
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

  /** Whether any add-on has a known area; to be asked after `encode`. */
  get isKnown(): boolean {
    return this.#sets.some((periods) => knownPeriods(periods).length > 0);
  }

  /** What holds somewhere among the add-ons; to be asked after `encode`. */
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
      // Where the latest leads to no area, one before it does not hold either.
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

  /** Adds add-ons of what is open, to those before them where these have the same. */
  #extend(low: number, high: number): void {
    const set = this.#setOf([...this.#open.keys()].sort((a, b) => a - b));
    const last = this.#stretches.at(-1);
    if (last !== undefined && last.set === set && last.high === low - 1) last.high = high;
    else this.#stretches.push({ low, high, set });
  }

  /** The number of the periods of some statements; the same for all that come to the same. */
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
