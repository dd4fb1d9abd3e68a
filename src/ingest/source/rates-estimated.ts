/**
 * Estimated rates by county (state, county_fips, county_rate) and by postal city (state,
 * county_fips, postal_city, place_geoid, …, combined), worked out from a ZIP table. They are never
 * an authority's own figures and are read into a layer apart, used only when switched on.
 */
import { DATE_OPEN } from '../rates/day.js';
import { fractionOf } from '../rates/list.js';
import { readTable } from '../rates/table.js';
import type { RateRow } from '../model.js';
import type { ListContext, ListResult } from '../rates/list.js';

/** Reads either table; rows without a place code are of no use to a tax area. */
export function readEstimated(text: string, context: ListContext): ListResult {
  const { source, asOf, report } = context;
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    const state = row.get('state');
    const county = row.get('county_fips');
    const place = row.get('place_geoid');
    const city = row.get('postal_city');
    if (city !== '' && place === '') {
      report.drop(city, 'a postal city without a place of its name');
      continue;
    }
    report.joined += 1;
    const figure = row.get(city ? 'combined' : 'county_rate');
    const rate = fractionOf(figure, `${state} ${city || county}`);
    rows.push({
      state, level: city ? 'city' : 'county', county, place, name: city, code: '',
      basis: city ? 'total' : 'own', sales: rate, use: rate, from: asOf, to: DATE_OPEN,
      source, asOf,
    });
  }
  return { rows, members: [] };
}
