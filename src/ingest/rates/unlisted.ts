/** Places a list leaves out although silence about them does not mean their county's rate. */
import { DATE_MIN, DATE_OPEN } from './day.js';
import { percentOf, textOption } from './list.js';
import type { Rate } from '../../tax/rate.js';
import type { PlaceFact, RateRow } from '../model.js';
import type { ListContext } from './list.js';

function gap(place: PlaceFact, county: string, note: string, context: ListContext): RateRow {
  const zero = 0 as Rate;
  return {
    state: context.state, level: 'city', county, place: place.geoid, name: place.name, code: '',
    basis: 'unknown', sales: zero, use: zero, from: DATE_MIN, to: DATE_OPEN,
    source: context.source, asOf: context.asOf, note,
  };
}

/** Whether a county levies as much as the law lets any place levy, so that no place can differ. */
function atCeiling(rows: readonly RateRow[], county: string, ceiling: Rate | null): boolean {
  const last = rows.filter((row) => row.level === 'county' && row.county === county).at(-1);
  return ceiling !== null && last !== undefined && last.sales >= ceiling;
}

/**
 * Unknown rows for unlisted places. Option `gapUnlisted`: "multi" for places in several counties,
 * which a state codes apart from either county's list; "noted" for all places of noted counties.
 */
export function unlistedGaps(
  rows: readonly RateRow[],
  noted: readonly string[],
  context: ListContext,
): readonly RateRow[] {
  const kind = textOption(context, 'gapUnlisted');
  if (kind === '') return [];
  const given = textOption(context, 'ceiling');
  const ceiling = given ? percentOf(given, 'ceiling') : null;
  const listed = new Set(rows.filter((row) => row.level === 'city')
    .map((row) => `${row.place}/${row.county}`));
  const out: RateRow[] = [];
  for (const place of context.gazetteer.places(context.state)) {
    if (kind === 'multi' && place.counties.length < 2) continue;
    for (const county of place.counties) {
      if (listed.has(`${place.geoid}/${county}`) || atCeiling(rows, county, ceiling)) continue;
      if (kind === 'noted' && !noted.includes(county)) continue;
      const why = kind === 'multi'
        ? 'it lies in several counties and is listed under a code of its own'
        : 'the list no longer names the places of this county';
      const note = `${place.fullName} is not in the list held: ${why}; the state's own list or `
        + 'the estimated layer would fill it.';
      out.push(gap(place, county, note, context));
    }
  }
  return out;
}
