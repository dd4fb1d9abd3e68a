/** Tables of rates by codes, the state's own or the Census's: Arizona, Oklahoma, Virginia. */
import { type DateInt, dateOf } from '../../../tax/date.js';
import { type Rate, RATE_ZERO } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_MIN,
  DATE_OPEN,
  fractionOf,
  joined,
  joinedCity,
  type ListContext,
  listDate,
  listedRow,
  listOption,
  type ListResult,
  minus,
  percentOf,
  textOption,
} from '../../rates/list.js';
import { readBelowTitles, readTable, splitRows, type TableRow } from '../table-text.js';
import { listedDay } from '../workbook.js';
import { unlistedGaps } from './county-and-place.js';
import { countyOf } from './located-totals.js';

type Where = Pick<RateRow, 'level' | 'county' | 'place' | 'name'>;

/*
 * Arizona's rate table (TPT_RATETABLE_ALL_MMDDYYYY.csv): RegionCode, RegionName, BusinessCode,
 * BusinessCodesName, TaxRate (percent), TaxRateType, RateStartDate, RateEndDate (M/D/YYYY, open as
 * 12/31/9999). A row for each region and class of business; retail is 017. Counties have codes of
 * three letters, which the recipe lists, and their rates include the state's; codes of two letters
 * are cities, with the city's own part. Other regions are reservations and special areas, which
 * have no boundary here.
 */

const RETAIL = /^0?17$/;

function dayOf(text: string, row: TableRow): DateInt {
  const found = /^(\d{1,2})\/(\d{1,2})\/(\d{4})\b/.exec(text);
  const [, month, day, year] = found ?? [];
  const date = found && dateOf(Number(year), Number(month), Number(day));
  if (date === null) throw new RangeError(`line ${row.line}: not a date: ${text}`);
  return listDate(String(date), DATE_OPEN);
}

function rowOf(row: TableRow, context: ListContext): RateRow | null {
  const { state, report, gazetteer } = context;
  const [code, name] = [row.get('RegionCode'), row.get('RegionName')];
  if (row.get('TaxRateType') !== 'Percent') {
    throw new RangeError(`line ${row.line}: a rate of the kind "${row.get('TaxRateType')}"`);
  }
  const rate = percentOf(row.get('TaxRate'), `line ${row.line}: ${name}`);
  const listed = {
    name,
    from: dayOf(row.get('RateStartDate'), row),
    to: dayOf(row.get('RateEndDate'), row),
  };
  if (listOption(context, 'counties').includes(code)) {
    const full = `${name.replace(/ county$/i, '')} County`;
    const county = joined(context, name, gazetteer.county(state, full));
    const own = minus(rate, percentOf(textOption(context, 'state'), 'option state'));
    if (own < 0) throw new RangeError(`line ${row.line}: ${name} without the state's part`);
    return county === null ? null : listedRow(context, own, { ...listed, level: 'county', county });
  }
  if (/^[A-Z]{2}$/.test(code)) {
    const place = joinedCity(context, name, gazetteer.city(state, name, ''), '');
    return place === null ? null : listedRow(context, rate, { ...listed, level: 'city', place });
  }
  report.drop(`${name} (${code})`, 'a region without a boundary');
  return null;
}

/** Reads the file. Options: `state`, its part in percent; `counties`, their region codes. */
export function readArizona(text: string, context: ListContext): ListResult {
  const retail = readTable(text, ',').filter((row) => RETAIL.test(row.get('BusinessCode')));
  if (retail.length === 0) throw new RangeError('it has no row of retail (017)');
  const rows = retail
    .map((row) => {
      context.report.read += 1;
      return rowOf(row, context);
    })
    .filter((row) => row !== null);
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Oklahoma's rates by COPO code (Currentcsv.csv): no header, thirteen fields: type (STS sales,
 * STU use; others are other taxes), code whose leading zeros are lost, name, then three times a
 * rate ("3.65%"), its first and its last day (M/D/YYYY, a serial number of days, 00/00/00 for
 * open), newest first, and an empty field. Codes that end in 88 are counties, 0088 the state; a
 * city's county has its first two digits. Own parts: a city's adds to its county's and the state's.
 */

const FIELDS = 13;
const FIRST_RATE = 3;
const RATES = 3;
const NO_DAY = '00/00/00';
const COUNTY = /^(?!00)\d{2}88$/;

interface Spell {
  readonly rate: Rate;
  readonly from: DateInt;
  readonly to: DateInt;
}

interface Levied {
  readonly name: string;
  readonly spells: readonly Spell[];
}

function spellsOf(cells: readonly string[], where: string): readonly Spell[] {
  return [...Array(RATES).keys()].flatMap((at): readonly Spell[] => {
    const [rate = '', from = '', to = ''] = cells.slice(FIRST_RATE + at * RATES);
    // An older rate without days was never in force.
    if (at > 0 && from === NO_DAY && to === NO_DAY) return [];
    if (!rate.endsWith('%')) throw new RangeError(`${where}: not a percentage: ${rate}`);
    return [
      {
        rate: percentOf(rate.slice(0, -1), where),
        from: from === NO_DAY ? DATE_MIN : listedDay(from, where),
        to: to === NO_DAY ? DATE_OPEN : listedDay(to, where),
      },
    ];
  });
}

/** Sales and use rates by code. */
function levied(text: string): Readonly<Record<'STS' | 'STU', ReadonlyMap<string, Levied>>> {
  const out = { STS: new Map<string, Levied>(), STU: new Map<string, Levied>() };
  for (const [at, line] of splitRows(text, ',').entries()) {
    const cells = line.map((cell) => cell.trim());
    const [type = '', digits = '', name = ''] = cells;
    if (type !== 'STS' && type !== 'STU') continue;
    const where = `row ${at + 1}: ${name}`;
    const code = digits.padStart(4, '0');
    if (cells.length !== FIELDS || !/^\d{4}$/.test(code) || name === '') {
      throw new RangeError(
        `${where}: its layout is another: ${cells.length} fields, a code ` +
          `"${digits}"; ${FIELDS} and one of four digits were expected`,
      );
    }
    if (out[type].has(code)) throw new RangeError(`${where}: code ${code} is listed twice`);
    out[type].set(code, { name, spells: spellsOf(cells, where) });
  }
  return out;
}

function useOn(day: DateInt, use: Levied | undefined, sales: Rate): Rate {
  if (use === undefined) return sales;
  return use.spells.find(({ from, to }) => from <= day && day <= to)?.rate ?? RATE_ZERO;
}

function oklahomaPlace(
  code: string,
  name: string,
  sales: ReadonlyMap<string, Levied>,
  context: ListContext,
): Where | null {
  const { gazetteer, state, report } = context;
  const county = countyOf(sales.get(`${code.slice(0, 2)}88`)?.name ?? '', context);
  if (COUNTY.test(code)) {
    if (county === '') report.miss(name);
    else report.joined += 1;
    return county === '' ? null : { level: 'county', county, place: '', name };
  }
  const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
  return place === null ? null : { level: 'city', county, place, name };
}

/** Reads the list. @throws RangeError naming the row that is laid out otherwise. */
export function readOklahoma(text: string, context: ListContext): ListResult {
  const { asOf, report } = context;
  const { STS, STU } = levied(text);
  if (![...STS.keys()].some((code) => COUNTY.test(code))) {
    throw new RangeError('its layout is another: it lists no county (STS with a code of ..88)');
  }
  const rows: RateRow[] = [];
  for (const [code, { name, spells }] of STS) {
    if (code === '0088') continue;
    report.read += 1;
    const where = oklahomaPlace(code, name, STS, context);
    if (where === null) continue;
    for (const { rate, from, to } of spells) {
      const use = useOn(from === DATE_MIN ? asOf : from, STU.get(code), rate);
      rows.push(listedRow(context, rate, { ...where, use, from, to }));
    }
  }
  const gaps = unlistedGaps(rows, [], context, 'parts').map((row) => ({ ...row, from: asOf }));
  return { rows: [...rows.sort((a, b) => a.from - b.from), ...gaps], members: [] };
}

/*
 * Virginia's workbook of rates by county and independent city (sales-tax-rates.xlsx): a header in
 * the third row, fractions, county codes of three digits. What a locality levies is its total less
 * the state's part; the parts beside are not read, for the total is the law's.
 */

/** Columns by which the workbook is recognized. */
export const VIRGINIA_COLUMNS = [
  'State Code (FIPS)',
  'County or City Code (FIPS)',
  'Locality Name',
  'Total General Sales Tax',
];

/** Reads the list. Option `from`: the first day it speaks for; it names none itself. */
export function readVirginia(text: string, context: ListContext): ListResult {
  const { report, gazetteer } = context;
  const from = listDate(textOption(context, 'from'), context.asOf);
  const floor = fractionOf(textOption(context, 'state'), 'option state');
  const rows: RateRow[] = [];
  for (const row of readBelowTitles(text, VIRGINIA_COLUMNS)) {
    const [fips, code] = [row.get('State Code (FIPS)'), row.get('County or City Code (FIPS)')];
    // Notes follow the table, in the first column.
    if (!/^\d{1,2}$/.test(fips) || code === '') continue;
    report.read += 1;
    const county = `${fips.padStart(2, '0')}${code.padStart(3, '0')}`;
    const fact = gazetteer.countyFact(county);
    const label = `${row.get('Locality Name')} (${county})`;
    if (!fact) {
      report.miss(label);
      continue;
    }
    report.joined += 1;
    const total = fractionOf(row.get('Total General Sales Tax'), `row ${row.line}: ${label}`);
    const rate = minus(total, floor);
    if (rate < 0) throw new RangeError(`row ${row.line}: ${label}: a total below the state's part`);
    rows.push(listedRow(context, rate, { level: 'county', county, name: fact.fullName, from }));
  }
  if (rows.length === 0) throw new RangeError('it lists no locality');
  return { rows, members: [] };
}
