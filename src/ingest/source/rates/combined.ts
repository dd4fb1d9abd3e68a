/**
 * Combined rates of a state's counties and places: state, level, name, fips, county, rate (decimal
 * fraction, the state's included), kind, effective_from, effective_to. `kind` "mean" is an average
 * over parts of a county that are taxed differently, and no rate of any of them. A place that is
 * not listed has the rate of its county. Option `after`: only what begins later is read, for the
 * quarters that follow a list of another layout.
 */
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_MIN, DATE_OPEN, fractionOf, joined, type ListContext, listDate, type ListResult, textOption,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';

function rowOf(
  row: TableRow, context: ListContext, where: Pick<RateRow, 'level' | 'county' | 'place' | 'name'>,
): RateRow {
  const { state, source, asOf } = context;
  const rate: Rate = fractionOf(row.get('rate'), row.get('name'));
  return {
    state, ...where, code: '', basis: 'total', sales: rate, use: rate, source, asOf,
    from: listDate(row.get('effective_from'), DATE_MIN),
    to: listDate(row.get('effective_to'), DATE_OPEN),
  };
}

/** The county and, by their silence, the places of it that the list does not name. */
function countyRows(
  row: TableRow, county: string, listed: ReadonlySet<string>, context: ListContext,
): readonly RateRow[] {
  const { gazetteer, state } = context;
  const silent = gazetteer.places(state).filter(({ geoid, counties }) =>
    counties.includes(county) && !listed.has(`${geoid}/${county}`));
  return [
    rowOf(row, context, { level: 'county', county, place: '', name: row.get('name') }),
    ...silent.map(({ geoid, name }) =>
      rowOf(row, context, { level: 'city', county, place: geoid, name })),
  ];
}

/** Reads the table. */
export function readCombined(text: string, context: ListContext): ListResult {
  const { gazetteer, report, state } = context;
  const after = listDate(textOption(context, 'after'), DATE_MIN);
  const table = readTable(text, '\t');
  const countyOf = (row: TableRow): string | null =>
    joined(context, row.get('county'), gazetteer.county(state, row.get('county')));
  const cities = table.filter((row) => row.get('level') === 'city');
  const counties = new Map(cities.map((row) => [row, countyOf(row) ?? '']));
  const listed = new Set([...counties].map(([row, county]) => `${row.get('fips')}/${county}`));
  const rows: RateRow[] = [];
  for (const row of table) {
    const [name, place] = [row.get('name'), row.get('fips')];
    const begins = listDate(row.get('effective_from'), DATE_MIN);
    report.read += 1;
    if (begins <= after) {
      report.drop(`${name} from ${row.get('effective_from')}`, 'held in another list');
    } else if (row.get('kind') !== 'exact') report.drop(name, 'a mean of several rates');
    else if (row.get('level') === 'county') rows.push(...countyRows(row, place, listed, context));
    else if (gazetteer.place(place) === undefined) {
      report.unplace(state, name, place, counties.get(row) ?? '');
    } else {
      // Named in one county it is taxed alike in all of it.
      const parts = cities.filter((other) => other.get('fips') === place)
        .map((other) => counties.get(other));
      const county = new Set(parts).size > 1 ? counties.get(row) ?? '' : '';
      rows.push(rowOf(row, context, { level: 'city', county, place, name }));
    }
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
