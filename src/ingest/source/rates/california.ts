/**
 * California's city and county rates (CDTFA, quarterly): Location, Rate, County and Type, beside
 * others; parted by commas or tabs, or a workbook's sheet, headed in any case below any titles.
 * Rates are combined; a county row is the unincorporated area. They are taken apart into the
 * state's floor, what holds in the whole county, and what a city or the unincorporated area adds: a
 * city below the unincorporated rate proves that part of it is not county-wide.
 */
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import type { DistrictMember } from '../../rates/facts.js';
import {
  DATE_OPEN,
  districtMember,
  fractionOf,
  joined,
  type ListContext,
  listDate,
  listedRow,
  type ListResult,
  minus,
  OWN_CODE,
  percentOf,
  textOption,
} from '../../rates/list.js';
import { readBelowTitles, readTable, type TableRow } from '../table-text.js';

const UNINCORPORATED = / Unincorporated Area$/;
/** Types of rows for the land of a county outside its cities. */
const WHOLE = /^(?:County|Unincorporated Area)$/i;

interface Listed {
  readonly name: string;
  readonly county: string;
  /** "" for land outside cities; null for a city that matches no place. */
  readonly place: string | null;
  readonly rate: Rate;
}

const COLUMNS = ['Location', 'Rate', 'County', 'Type'];

function cell(row: TableRow, column: string): string {
  return row.get(column) || row.get(column.toLowerCase());
}

function listed(row: TableRow, context: ListContext): Listed | null {
  const location = cell(row, 'Location');
  const { report, gazetteer, state } = context;
  report.read += 1;
  const figure = cell(row, 'Rate');
  // In a county with several rows, one only refers to the others, with its columns shifted.
  if (!/[1-9]/.test(figure)) {
    if (/^City$/i.test(cell(row, 'Type')))
      throw new RangeError(`${location}: not a rate: ${figure}`);
    report.drop(location, 'points at other rows');
    return null;
  }
  const rate = fractionOf(figure, location);
  const match = gazetteer.county(state, cell(row, 'County'));
  const county = match.kind === 'code' ? match.code : '';
  if (WHOLE.test(cell(row, 'Type'))) {
    const code = joined(context, location, match);
    return code === null
      ? null
      : { name: location.replace(UNINCORPORATED, ''), county: code, place: '', rate };
  }
  const found = gazetteer.city(state, location, county);
  if (found.kind === 'unmatched') return { name: location, county, place: null, rate };
  const place = joined(context, location, found);
  return place === null ? null : { name: location, county, place, rate };
}

/** Records cities without a boundary, except those that are taxed as the land around them. */
function noteUndrawn(rows: readonly Listed[], { report, state }: ListContext): void {
  for (const { name, county, place, rate } of rows) {
    if (place !== null) continue;
    const around = rows.find((row) => row.place === '' && row.county === county);
    if (around?.rate === rate) report.drop(name, 'not drawn, and taxed as the land around it');
    else report.unplace(state, name, '', county);
  }
}

/**
 * @throws RangeError for a city in a county without a row, whose part in the rate is then unknown.
 */
function checkCounties(rows: readonly Listed[]): void {
  const counties = new Set(rows.filter(({ place }) => place === '').map(({ county }) => county));
  const lost = rows.find(({ place, county }) => place && !counties.has(county));
  if (lost) throw new RangeError(`it lacks the row of the county that ${lost.name} lies in`);
}

/**
 * Reads the list. Options: `floor`, the statewide rate in percent; `from` and `to`, its first day
 * and the last one before a newer list.
 */
export function readCdtfa(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'floor'), 'floor');
  const from = listDate(textOption(context, 'from'), context.asOf);
  const to = listDate(textOption(context, 'to'), DATE_OPEN);
  const tabs = text.slice(0, text.indexOf('\n')).includes('\t');
  const table = tabs ? readTable(text, '\t') : readBelowTitles(text, COLUMNS);
  const rows = table.map((row) => listed(row, context)).filter((row) => row !== null);
  checkCounties(rows);
  noteUndrawn(rows, context);
  const out: RateRow[] = [];
  const members: DistrictMember[] = [];
  const add = (row: Pick<RateRow, 'level' | 'name'> & Partial<RateRow>, rate: Rate): void => {
    out.push(listedRow(context, rate, { ...row, from, to }));
  };
  for (const county of rows.filter((row) => row.place === '')) {
    const cities = rows
      .filter((row) => row.county === county.county)
      .flatMap(({ name, place, rate }) => (place ? [{ name, place, rate }] : []));
    const lowest = Math.min(county.rate, ...cities.map((city) => city.rate)) as Rate;
    add({ level: 'county', county: county.county, name: county.name }, minus(lowest, floor));
    for (const { place, name, rate } of cities) {
      add({ level: 'city', place, name }, minus(rate, lowest));
    }
    if (county.rate > lowest) {
      const code = `${OWN_CODE}${county.county}`;
      const name = `${county.name} Unincorporated Area`;
      add({ level: 'district', county: county.county, name, code }, minus(county.rate, lowest));
      const where = { scope: 'remainder', county: county.county, from, to } as const;
      members.push(districtMember(context, code, where));
    }
  }
  return { rows: out, members };
}
