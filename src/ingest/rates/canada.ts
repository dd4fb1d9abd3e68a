/** Canadian provinces: HST alone, or GST with a provincial tax; the row carries the tax's kind. */
import { type DateInt, dayBefore } from '../../tax/date.js';
import type { RateRow, ResolvedArea } from '../model.js';
import type { StateName } from './facts.js';
import { DATE_MIN, DATE_OPEN, formatDate } from './list.js';
import { paint, type Segment } from './timeline.js';

const ORDER = ['HST', 'GST', 'PST', 'QST'];

/** Resolves a province. `rows` are its state-level rows, the tax kind in `code`. */
export function resolveProvince(province: StateName, rows: readonly RateRow[]): ResolvedArea {
  const kinds = ORDER.filter((kind) => rows.some((row) => row.code === kind));
  const lines = kinds.map((kind): readonly [string, readonly Segment[]] =>
    [kind, paint(rows.filter((row) => row.code === kind))]);
  // A tax that another has replaced would show as a zero row today, so its time is not carried.
  const living = lines.filter(([, line]) => line.at(-1)?.to === DATE_OPEN);
  const ended = lines.filter(([, line]) => line.at(-1)?.to !== DATE_OPEN);
  const starts = living.map(([, line]) => line[0]?.from ?? DATE_OPEN);
  const ends = ended.map(([, line]) => line.at(-1)?.to ?? DATE_MIN);
  const from = Math.max(...starts, ...ends.map((end) => end + 1)) as DateInt;
  const since = Number.isFinite(from) ? from : DATE_OPEN;
  const reason = `${province.name}: the rates are held from ${formatDate(since)} on; an older `
    + 'list would fill the time before.';
  return {
    components: living.map(([kind, line]) => ({
      level: 'state',
      jurName: province.name,
      jurCode: null,
      kind,
      periods: line.filter((segment) => segment.to >= since).map((segment) => ({
        from: segment.from > since ? segment.from : since,
        to: segment.to,
        sales: segment.sales,
        use: segment.use,
        source: segment.source,
        asOf: segment.asOf,
      })),
    })),
    unknown: since > DATE_MIN
      ? [{ level: 'state', from: DATE_MIN, to: dayBefore(since), reason }]
      : [],
    incorporated: false,
    countyName: '',
    placeName: '',
    staleAfter: DATE_OPEN,
    estimated: false,
  };
}
