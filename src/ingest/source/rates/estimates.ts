/** Rates that are calculated rather than published, for the estimated layer only. */
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import { fractionOf, type ListContext, listedRow, type ListResult } from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';
import { readZipCounties } from '../zip-lists.js';

/*
 * Estimated rates by county (state, county_fips, county_rate) and by postal city (state,
 * county_fips, postal_city, place_geoid, …, combined), worked out from a ZIP table. They are never
 * an authority's own figures and are read into a layer apart, used only when switched on.
 */

/** Reads either table; rows without a place code are of no use to a tax area. */
export function readEstimated(text: string, context: ListContext): ListResult {
  const { asOf, report } = context;
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
    const [level, basis] = city ? (['city', 'total'] as const) : (['county', 'own'] as const);
    rows.push(
      listedRow(context, rate, { state, level, county, place, name: city, basis, from: asOf }),
    );
  }
  return { rows, members: [] };
}

// Tables of rates by ZIP as a vendor compiles them, by column name in any of their layouts (zip,
// county_rate; ZipCode, EstimatedCountyRate or CountyRate). A ZIP is no jurisdiction, so a row
// alone says nothing of a tax area: what is taken is the county rate that most ZIPs lying wholly
// in a county agree on. These are estimates, for the estimated layer alone.

const ZIP_COLUMNS = ['zip', 'ZipCode'];
const STATE_COLUMNS = ['state', 'State'];
const RATE_COLUMNS = ['county_rate', 'EstimatedCountyRate', 'CountyRate'];

function cell(row: TableRow, columns: readonly string[]): string {
  for (const column of columns) {
    const text = row.get(column);
    if (text !== '') return text;
  }
  return '';
}

/** The county of each ZIP that lies in only one; the file `counties` is a crosswalk. */
function wholeCounties(crosswalk: string): ReadonlyMap<number, string> {
  const counties = new Map<number, string>();
  const divided = new Set<number>();
  for (const { zip, county } of readZipCounties(crosswalk)) {
    const known = counties.get(zip);
    if (known !== undefined && known !== county) divided.add(zip);
    counties.set(zip, county);
  }
  for (const zip of divided) counties.delete(zip);
  return counties;
}

interface Tally {
  readonly state: string;
  /** Number of ZIPs for each rate. */
  readonly votes: Map<string, number>;
}

/** The rate with the most ZIPs; null for a tie. */
function agreed(votes: ReadonlyMap<string, number>): string | null {
  let best: string | null = null;
  let most = 0;
  for (const [rate, count] of votes) {
    if (count === most) best = null;
    if (count > most) [best, most] = [rate, count];
  }
  return best;
}

/** Reads a table; a county without agreement is left out and reported. */
export function readZipTable(text: string, context: ListContext): ListResult {
  const { asOf, report } = context;
  const counties = wholeCounties(context.extra('counties'));
  const firstLine = text.slice(0, text.indexOf('\n'));
  const tallies = new Map<string, Tally>();
  for (const row of readTable(text, firstLine.includes('\t') ? '\t' : ',')) {
    report.read += 1;
    const county = counties.get(Number(cell(row, ZIP_COLUMNS)));
    const figure = cell(row, RATE_COLUMNS);
    if (county === undefined || figure === '') continue;
    const tally = tallies.get(county) ?? { state: cell(row, STATE_COLUMNS), votes: new Map() };
    tallies.set(county, tally);
    const rate = String(fractionOf(figure, `line ${row.line}`));
    tally.votes.set(rate, (tally.votes.get(rate) ?? 0) + 1);
  }
  const rows: RateRow[] = [];
  for (const [county, { state, votes }] of tallies) {
    const rate = agreed(votes);
    if (rate === null) {
      report.drop(county, 'a county whose ZIPs do not agree');
      continue;
    }
    report.joined += 1;
    const listed = { state, level: 'county', county, name: '', from: asOf } as const;
    rows.push(listedRow(context, Number(rate) as Rate, listed));
  }
  return { rows, members: [] };
}
