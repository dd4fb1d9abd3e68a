/** Statements of tax areas with the days they hold → periods that do not overlap. */
import { DATE_OPEN, type DateInt, dayBefore } from '../../tax/date.js';
import { dayAfter } from '../rates/list.js';
import type { ByteSink } from './bytes.js';

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

/** The same text for the same statement. */
export function keyOf({ begin, end, area }: Statement): string {
  return `${begin}|${end}|${area}`;
}

function sameAreas(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((area, at) => area === other[at]);
}

/** Cuts time where a statement begins or has ended; `choose` picks those that count in between. */
function periodsOf(
  statements: readonly Statement[], choose: (held: readonly Statement[]) => readonly Statement[],
): readonly Period[] {
  const cuts = [...new Set(statements.flatMap(({ begin, end }) =>
    (end === DATE_OPEN ? [begin] : [begin, dayAfter(end)])))].sort((a, b) => a - b);
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
