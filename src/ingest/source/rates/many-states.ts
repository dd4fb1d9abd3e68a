/** Tables of many states' rates: the states' own, their authorities', and estimates. */
import type { Level } from '../../../tax/jurisdiction.js';
import type { RateRow } from '../../model.js';
import {
  DATE_MIN, DATE_OPEN, fractionOf, joined, joinedCity, type ListContext, listDate, listOption,
  type ListResult, percentOf, textOption,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';
import { readZipCounties } from '../zip-lists.js';

/*
 * State rates with history (state, fips, name, effective_from, effective_to, sales_rate_pct,
 * use_rate_pct, note) and Canadian provincial rates (province, name, federal_tax, federal_pct,
 * provincial_tax, provincial_pct, effective_from, effective_to).
 */

/**
 * Reads state rates. A state that levies nothing never did, so its row needs no first day; any
 * other first day left empty is a date not recorded. Option `skip`: states listed elsewhere.
 */
export function readStateRates(text: string, context: ListContext): ListResult {
  const { source, asOf, report } = context;
  const skip = new Set(listOption(context, 'skip'));
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    const state = row.get('state');
    if (skip.has(state)) {
      report.drop(state, 'listed in another source');
      continue;
    }
    const sales = percentOf(row.get('sales_rate_pct'), state);
    const use = percentOf(row.get('use_rate_pct'), state);
    const to = listDate(row.get('effective_to'), DATE_OPEN);
    const began = row.get('effective_from');
    if (began === '' && sales > 0) {
      report.drop(`${state} until ${row.get('effective_to')}`, 'no first day recorded');
      continue;
    }
    report.joined += 1;
    rows.push({
      state, level: 'state', county: '', place: '', name: row.get('name'), code: '', basis: 'own',
      sales, use, from: listDate(began, DATE_MIN), to, source, asOf,
    });
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/** Manitoba calls its provincial tax RST; on the wire a provincial sales tax is PST. */
const KINDS: Readonly<Record<string, string>> = { RST: 'PST' };

/** Reads provincial rates; the kind of tax stands in the code. */
export function readProvinces(text: string, context: ListContext): ListResult {
  const { source, asOf, report } = context;
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    report.joined += 1;
    for (const part of ['federal', 'provincial']) {
      const tax = row.get(`${part}_tax`);
      if (!tax) continue;
      const rate = percentOf(row.get(`${part}_pct`), row.get('province'));
      rows.push({
        state: `CA-${row.get('province')}`, level: 'state', county: '', place: '',
        name: row.get('name'), code: KINDS[tax] ?? tax, basis: 'own', sales: rate, use: rate,
        from: listDate(row.get('effective_from'), asOf),
        to: listDate(row.get('effective_to'), DATE_OPEN), source, asOf,
      });
    }
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Authorities' own rates of many states in one table: state, level, name, rate_pct,
 * effective_from, effective_to, parent. Options: `levels` to read; `from`, the day the list is
 * known to hold from where its dates are placeholders ("" trusts its dates); `skipZero`, levels
 * whose zeros are placeholders; `sole`, levels whose figure contains the county's; `everyCounty`, a
 * county row that holds in all counties.
 */

const PART = /^(.*) \(([^()]+)\)$/;

type Target = Pick<RateRow, 'level' | 'county' | 'place' | 'code' | 'name'>;

/** A code of five digits is a county: some boroughs are listed as cities. */
function targetOf(level: Level, code: string, county: string, name: string): Target {
  return code.length === 5
    ? { level: 'county', county: code, place: '', code: '', name }
    : { level, county, place: code, code: '', name };
}

function cityTarget(
  row: TableRow,
  context: ListContext,
  divided: ReadonlySet<string>,
): readonly Target[] {
  const { gazetteer, state } = context;
  const listed = row.get('name');
  const [, base = listed, part = ''] = PART.exec(listed) ?? [];
  const parent = part ? `${part} County` : row.get('parent');
  const county = gazetteer.county(state, parent);
  const hint = county.kind === 'code' ? county.code : '';
  const code = joinedCity(context, listed, gazetteer.city(state, base, hint), hint);
  if (code === null) return [];
  // A city listed by county parts holds its plain row for the county it names, no further.
  return [targetOf('city', code, part || divided.has(base) ? hint : '', base)];
}

function targets(
  row: TableRow,
  context: ListContext,
  divided: ReadonlySet<string>,
): readonly Target[] {
  const { gazetteer, state, report } = context;
  const name = row.get('name');
  const none = { county: '', place: '', code: '', name };
  switch (row.get('level')) {
    case 'state': return [{ level: 'state', ...none }];
    case 'county': {
      if (name === textOption(context, 'everyCounty')) {
        report.joined += 1;
        return gazetteer.counties(state).map(({ fips, fullName }) =>
          ({ level: 'county', county: fips, place: '', code: '', name: fullName }));
      }
      const code = joined(context, name, gazetteer.county(state, name));
      return code === null ? [] : [{ level: 'county', ...none, county: code }];
    }
    case 'city': return cityTarget(row, context, divided);
    default: {
      const code = context.districtCode(name);
      if (code === null) {
        report.miss(name);
        return [];
      }
      report.joined += 1;
      return [{ level: 'district', ...none, code }];
    }
  }
}

/** Reads one state's rows of the table. */
export function readAuthority(text: string, context: ListContext): ListResult {
  const { state, source, asOf, report } = context;
  const levels = new Set(listOption(context, 'levels'));
  const skipZero = new Set(listOption(context, 'skipZero'));
  const sole = new Set(listOption(context, 'sole'));
  const from = textOption(context, 'from');
  const table = readTable(text, '\t').filter((row) =>
    row.get('state') === state && levels.has(row.get('level')));
  const divided = new Set(table.map((row) => PART.exec(row.get('name'))?.[1] ?? ''));
  const rows: RateRow[] = [];
  for (const row of table) {
    report.read += 1;
    const rate = percentOf(row.get('rate_pct'), row.get('name'));
    if (rate === 0 && skipZero.has(row.get('level'))) {
      report.drop(row.get('name'), 'a zero that stands for no figure');
      continue;
    }
    for (const target of targets(row, context, divided)) {
      rows.push({
        state, ...target, basis: sole.has(target.level) ? 'sole' : 'own', sales: rate, use: rate,
        from: listDate(from || row.get('effective_from'), asOf),
        to: listDate(row.get('effective_to'), DATE_OPEN), source, asOf,
      });
    }
  }
  return { rows, members: [] };
}

/*
 * Estimated rates by county (state, county_fips, county_rate) and by postal city (state,
 * county_fips, postal_city, place_geoid, …, combined), worked out from a ZIP table. They are never
 * an authority's own figures and are read into a layer apart, used only when switched on.
 */

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

/** The county of each ZIP that lies in one alone; files "counties" names a crosswalk. */
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
  /** ZIPs by the rate they give. */
  readonly votes: Map<string, number>;
}

/** The rate with the most votes; null where two have as many. */
function agreed(votes: ReadonlyMap<string, number>): string | null {
  let best: string | null = null;
  let most = 0;
  for (const [rate, count] of votes) {
    if (count === most) best = null;
    if (count > most) [best, most] = [rate, count];
  }
  return best;
}

/** Reads a table; a county whose ZIPs do not agree is left out and reported. */
export function readZipTable(text: string, context: ListContext): ListResult {
  const { source, asOf, report } = context;
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
    const sales = Number(rate) as RateRow['sales'];
    rows.push({
      state, level: 'county', county, place: '', name: '', code: '', basis: 'own', sales,
      use: sales, from: asOf, to: DATE_OPEN, source, asOf,
    });
  }
  return { rows, members: [] };
}
