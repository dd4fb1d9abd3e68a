/**
 * Texas' local rates (Comptroller, quarterly): level, name, code, fips, local_pct, effective_from,
 * as_of, where the code is the seven-digit local code: 2 city, 3 transit, 4 county, 5 special
 * purpose district, 6 combined area. Option `areas`: the file of areas, that is which codes apply
 * together. Option `placed`: districts whose members are facts; `whole`: districts that have all of
 * their county outside its cities, as a county's tax for health services (Texas Tax Code, chapter
 * 324) and a hospital district with the county's borders do.
 */
import { type DateInt, dateOf } from '../../../tax/date.js';
import { type Rate, RATE_ZERO } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  fractionOf,
  type Land,
  type ListContext,
  listDate,
  listedRow,
  listOption,
  type ListResult,
  percentOf,
} from '../../rates/list.js';
import { readTable, splitRows } from '../table-text.js';
import { countiesByCode, type TexasArea, texasAreas } from './texas-areas.js';

function readAreas(text: string, context: ListContext): readonly TexasArea[] {
  const out: TexasArea[] = [];
  for (const row of readTable(text, '\t')) {
    const match = context.gazetteer.county(context.state, `${row.get('county')} County`);
    if (match.kind !== 'code') {
      context.report.miss(`area ${row.get('area')} in ${row.get('county')}`);
      continue;
    }
    const codes = [row.get('spd_codes'), row.get('transit_codes')].join(';').split(';');
    out.push({
      name: row.get('area'),
      county: match.code,
      city: row.get('city_code'),
      countyCode: row.get('county_code'),
      districts: codes.filter((code) => code !== '').sort(),
    });
  }
  return out;
}

/** A code of the list with its rate. */
interface TexasEntry {
  readonly name: string;
  /** Seven digits. */
  readonly code: string;
  /** Place code that the list itself gives; "" for none. */
  readonly place: string;
  readonly rate: Rate;
  readonly from: DateInt;
  readonly asOf: DateInt;
}

/** Places by city code; a code is the same city in all counties. */
function cityPlaces(
  entries: readonly TexasEntry[],
  context: ListContext,
): ReadonlyMap<string, string> {
  const { gazetteer, state, report } = context;
  const places = new Map<string, string>();
  const countyOf = countiesByCode(context);
  for (const { code, name, place: own } of entries.filter((entry) => entry.code.startsWith('2'))) {
    const match = gazetteer.city(state, name, countyOf(code));
    // The list's place code is that of a settlement with the same name if there is no such city.
    const listed = gazetteer.place(own)?.geoid ?? '';
    const place = match.kind === 'code' ? match.code : listed;
    if (match.kind === 'dropped') report.drop(name, match.why);
    else if (place) places.set(code, place);
    else report.unplace(state, name, '', countyOf(code));
  }
  return places;
}

function rowOf(
  entry: TexasEntry,
  places: ReadonlyMap<string, string>,
  context: ListContext,
): RateRow | null {
  const { state, report, gazetteer } = context;
  const { name, code, rate, from, asOf } = entry;
  const listed = { name, code, from, asOf };
  switch (code[0]) {
    case '2': {
      const place = places.get(code);
      return place ? listedRow(context, rate, { ...listed, level: 'city', place }) : null;
    }
    case '4': {
      const match = gazetteer.county(state, name);
      if (match.kind !== 'code') {
        report.miss(name);
        return null;
      }
      // Answers show a county's FIPS number rather than its local code.
      return listedRow(context, rate, {
        ...listed,
        level: 'county',
        county: match.code,
        code: '',
      });
    }
    case '6':
      return null;
    default:
      return listedRow(context, rate, { ...listed, level: 'district' });
  }
}

/** The rates of codes, and which districts are in force in each city and county remainder. */
function texasRates(
  entries: readonly TexasEntry[],
  areas: readonly TexasArea[],
  context: ListContext,
): ListResult {
  const places = cityPlaces(entries, context);
  const rows: RateRow[] = [];
  const combined = new Map<string, number>();
  for (const entry of entries) {
    context.report.read += 1;
    if (entry.code.startsWith('6')) combined.set(entry.code, entry.rate);
    const made = rowOf(entry, places, context);
    if (!made) continue;
    context.report.joined += 1;
    rows.push(made);
  }
  rows.sort((a, b) => a.from - b.from);
  const placed = new Set(listOption(context, 'placed'));
  const whole = new Set(listOption(context, 'whole'));
  const held = texasAreas({ areas, places, rows, combined, placed, whole }, context);
  const codes = new Map<string, Land>(
    [...places].map(([code, place]) => [code, { county: '', place }]),
  );
  for (const { code, name } of entries.filter((entry) => entry.code.startsWith('4'))) {
    const match = context.gazetteer.county(context.state, name);
    if (match.kind === 'code') codes.set(code, { county: match.code, place: '' });
  }
  return { rows: [...rows, ...held.rows], members: held.members, codes };
}

/**
 * Reads the rates, and finds out which districts are in force in each city and county remainder.
 */
export function readTexas(text: string, context: ListContext): ListResult {
  const entries = readTable(text, '\t').map((row): TexasEntry => {
    const asOf = listDate(row.get('as_of'), context.asOf);
    return {
      name: row.get('name'),
      code: row.get('code'),
      place: row.get('fips'),
      asOf,
      rate: percentOf(row.get('local_pct'), row.get('name')),
      from: listDate(row.get('effective_from'), asOf),
    };
  });
  return texasRates(entries, readAreas(context.extra('areas'), context), context);
}

/*
 * Texas' quarterly file of the Comptroller (taxrates.txt): tab-separated. The first line names
 * the quarter ("1", YYYYQ, YYYYMM, "2026 - 3rd", the state's rate, …), lines of due dates follow,
 * whose second field is q or m, then one line an area of four triples of name, code and rate: what
 * stands in the city's place, the county, and two more; "n/a" where there is none. What a code is
 * says its first digit, never its place: 2 city, 3 transit, 4 county, 5 special purpose district, 6
 * combined area. Sources differ on the order of the last two triples.
 */

const TRIPLES = 4;
const CODE = /^[2-6]\d{6}$/;

interface Part {
  readonly name: string;
  /** The code; "" for none. */
  readonly code: string;
  readonly rate: Rate;
}

/** First day of the quarter that the first line names. */
function firstDay(cells: readonly string[]): DateInt {
  const [mark = '', quarter = '', month = ''] = cells;
  const found = /^(\d{4})([1-4])$/.exec(quarter);
  const [, year = '', number = ''] = found ?? [];
  const date = found && dateOf(Number(year), Number(month.slice(4)), 1);
  const right =
    mark === '1' &&
    date !== null &&
    month.startsWith(year) &&
    Number(month.slice(4)) === Number(number) * 3 - 2;
  if (right) return date;
  throw new RangeError(`its first line names no quarter: ${cells.slice(0, 4).join(', ')}`);
}

function partsOf(cells: readonly string[], line: number): readonly Part[] {
  if (cells.length < TRIPLES * 3) {
    throw new RangeError(`line ${line} has ${cells.length} fields, an area has ${TRIPLES * 3}`);
  }
  return [...Array(TRIPLES).keys()].map((at): Part => {
    const [name = '', listed = '', rate = ''] = cells.slice(at * 3, at * 3 + 3);
    const code = /^(?:n\/a)?$/i.test(listed) ? '' : listed;
    if (code === '') return { name, code, rate: RATE_ZERO };
    if (!CODE.test(code)) throw new RangeError(`line ${line}: "${code}" is no local code`);
    return { name, code, rate: fractionOf(rate, `line ${line}: ${name}`) };
  });
}

/** Adds codes with their rates. A code with two rates is a fault of the list, so none is chosen. */
function addCodes(
  entries: Map<string, TexasEntry>,
  parts: readonly Part[],
  line: number,
  from: DateInt,
  context: ListContext,
): void {
  for (const { name, code, rate } of parts) {
    const known = entries.get(code);
    if (known !== undefined && known.rate !== rate) {
      throw new RangeError(`line ${line}: ${code} has another rate than before`);
    }
    if (code === '' || known !== undefined) continue;
    const county = code.startsWith('4') ? `${name.replace(/ (?:Co|County)$/, '')} County` : name;
    entries.set(code, { name: county, code, place: '', rate, from, asOf: context.asOf });
  }
}

function areaOf(parts: readonly Part[], context: ListContext): TexasArea | null {
  const [own, county] = parts as readonly [Part, Part];
  const name = county.name.replace(/ (?:Co|County)$/, '');
  const match = context.gazetteer.county(context.state, `${name} County`);
  if (match.kind !== 'code') {
    context.report.miss(`area ${own.name} in ${county.name}`);
    return null;
  }
  const codes = parts.map(({ code }) => code);
  const kind = (digits: string): readonly string[] =>
    codes.filter((code) => code !== '' && digits.includes(code[0] ?? ''));
  return {
    name: own.name,
    county: match.code,
    city: kind('26')[0] ?? '',
    countyCode: kind('4')[0] ?? '',
    districts: [...kind('35')].sort(),
  };
}

/**
 * Reads the file. Options `placed` and `whole` as for `readTexas`.
 * @throws RangeError naming the line where the layout is different, or a code has two rates.
 */
export function readTexasQuarter(text: string, context: ListContext): ListResult {
  const [first = [], ...lines] = splitRows(text, '\t').map((cells) =>
    cells.map((cell) => cell.replace(/^"(.*)"$/, '$1').trim()),
  );
  const from = firstDay(first);
  const entries = new Map<string, TexasEntry>();
  const areas: TexasArea[] = [];
  for (const [index, cells] of lines.entries()) {
    if (/^[qm]$/i.test(cells[1] ?? '')) continue;
    const parts = partsOf(cells, index + 2);
    addCodes(entries, parts, index + 2, from, context);
    const area = areaOf(parts, context);
    if (area !== null) areas.push(area);
  }
  if (areas.length === 0) throw new RangeError('it lists no area');
  return texasRates([...entries.values()], areas, context);
}
