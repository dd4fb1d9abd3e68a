/** What a province of Canada levies: the harmonized tax alone, or the federal one and its own. */
import type { UnknownRecord } from '../../dataset/records.js';
import { type DateInt, dayBefore } from '../../tax/date.js';
import type { RateRow, ResolvedArea } from '../model.js';
import type { StateName } from './facts.js';
import { DATE_MIN, DATE_OPEN, dayAfter, formatDate } from './list.js';
import { paint, type Segment } from './timeline.js';

const HARMONIZED = 'HST';
const ORDER = [HARMONIZED, 'GST', 'PST', 'QST'];

/**
 * The days for which all taxes of a province are known: those of the harmonized tax, which replaces
 * all others, and those since all others are listed.
 */
function heldDays(lines: ReadonlyMap<string, readonly Segment[]>): readonly Segment[] {
  const others = [...lines].flatMap(([kind, line]) => (kind === HARMONIZED ? [] : [line]));
  const start = others.reduce((last, [first]) => Math.max(last, first?.from ?? DATE_OPEN), 0);
  const since = others.flat().map((segment) => {
    const from = segment.from < start ? (start as DateInt) : segment.from;
    return { ...segment, from };
  });
  return [...(lines.get(HARMONIZED) ?? []), ...since.filter(({ from, to }) => from <= to)].sort(
    (one, other) => one.from - other.from,
  );
}

/** What is unknown of a province between the known days. */
function provinceGaps({ name }: StateName, held: readonly Segment[]): readonly UnknownRecord[] {
  const gaps: UnknownRecord[] = [];
  let next: DateInt = DATE_MIN;
  for (const { from, to } of held) {
    if (from > next) {
      const reason =
        `${name}: the rates are held from ${formatDate(from)} on; an older ` +
        'list would fill the time before.';
      gaps.push({ level: 'state', from: next, to: dayBefore(from), reason });
    }
    if (to === DATE_OPEN) return gaps;
    if (dayAfter(to) > next) next = dayAfter(to);
  }
  const reason = `${name}: no rates are held; a newer list would fill them.`;
  return [...gaps, { level: 'state', from: next, to: DATE_OPEN, reason }];
}

/** Resolves a province. `rows` are its state-level rows, the tax kind in `code`. */
export function resolveProvince(province: StateName, rows: readonly RateRow[]): ResolvedArea {
  const kinds = ORDER.filter((kind) => rows.some((row) => row.code === kind));
  const lines = new Map(
    kinds.map((kind) => [kind, paint(rows.filter((row) => row.code === kind))]),
  );
  return {
    components: [...lines].map(([kind, line]) => ({
      level: 'state',
      jurName: province.name,
      jurCode: null,
      kind,
      periods: line.map(({ from, to, sales, use, source, asOf }) => ({
        from,
        to,
        sales,
        use,
        source,
        asOf,
      })),
    })),
    unknown: provinceGaps(province, heldDays(lines)),
    incorporated: false,
    countyName: '',
    placeName: '',
    staleAfter: DATE_OPEN,
    estimated: false,
    partial: false,
  };
}
