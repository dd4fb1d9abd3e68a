/** Tables of rates by the state's own codes, as text: Arizona, New Mexico, Oklahoma. */
import { type DateInt, dateOf } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_MIN, DATE_OPEN, joined, joinedCity, type ListContext, listDate, listOption, type ListResult,
  minus, outsideRow, percentOf, textOption,
} from '../../rates/list.js';
import { readTable, splitRows, type TableRow } from '../rows.js';
import { listedDay } from '../workbook.js';
import { unlistedGaps } from './county-and-place.js';
import { countyOf, type Located, type Period, totalRates } from './located-totals.js';

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
  const { state, source, asOf, report, gazetteer } = context;
  const [code, name] = [row.get('RegionCode'), row.get('RegionName')];
  if (row.get('TaxRateType') !== 'Percent') {
    throw new RangeError(`line ${row.line}: a rate of the kind "${row.get('TaxRateType')}"`);
  }
  const rate = percentOf(row.get('TaxRate'), `line ${row.line}: ${name}`);
  const common = {
    state, place: '', county: '', name, code: '', basis: 'own' as const, source, asOf,
    from: dayOf(row.get('RateStartDate'), row), to: dayOf(row.get('RateEndDate'), row),
  };
  if (listOption(context, 'counties').includes(code)) {
    const listed = `${name.replace(/ county$/i, '')} County`;
    const county = joined(context, name, gazetteer.county(state, listed));
    const own = minus(rate, percentOf(textOption(context, 'state'), 'option state'));
    if (own < 0) throw new RangeError(`line ${row.line}: ${name} without the state's part`);
    return county === null ? null : { ...common, level: 'county', county, sales: own, use: own };
  }
  if (/^[A-Z]{2}$/.test(code)) {
    const place = joinedCity(context, name, gazetteer.city(state, name, ''), '');
    return place === null ? null : { ...common, level: 'city', place, sales: rate, use: rate };
  }
  report.drop(`${name} (${code})`, 'a region without a boundary');
  return null;
}

/** Reads the file. Options: `state`, its part in percent; `counties`, their region codes. */
export function readArizona(text: string, context: ListContext): ListResult {
  const retail = readTable(text, ',').filter((row) => RETAIL.test(row.get('BusinessCode')));
  if (retail.length === 0) throw new RangeError('it has no row of retail (017)');
  const rows = retail.map((row) => {
    context.report.read += 1;
    return rowOf(row, context);
  }).filter((row) => row !== null);
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * New Mexico's gross receipts tax by location (the CSV in the archive of rates and boundaries):
 * OBJECTID_1, name, county, locat_cdr (NN-NNN), locat_cd1, locat_cd2, grt_rate (percent, all that
 * is levied), note_key, bndry_ref, SHAPE_Leng, grt_rate2, Shape_Area. "Remainder of County - X" is
 * a county outside its municipalities. Tribal lands have two codes in place of locat_cdr, and a
 * rate for each class of seller: they are told, not read. Districts have no boundary in this file.
 * With the option `areas`, for builds that have the polygons beside it as districts by their first
 * code, all of the local part is that of its code, and tribal lands are refused.
 */

const CODE = /^\d{2}-\d{3}$/;
const REMAINDER = /^Remainder of County\s*-\s*(.+)$/i;

/** The local part of each location as its code's; what one code stands for is one rate. */
function locationRates(
  text: string, floor: Rate, period: Period, context: ListContext,
): ListResult {
  const { state, source, asOf, report } = context;
  const rows = new Map<string, RateRow>();
  for (const row of readTable(text, ',')) {
    report.read += 1;
    const [where, name] = [`line ${row.line}`, row.get('name')];
    const codes = ['locat_cdr', 'locat_cd1', 'locat_cd2'].map((column) => row.get(column))
      .filter((code) => code !== '');
    const [code = ''] = codes;
    if (!codes.every((one) => CODE.test(one)) || code === '') {
      throw new RangeError(`${where}: ${name}: no location code: ${codes.join(', ')}`);
    }
    const total = percentOf(row.get('grt_rate'), `${where}: ${name}`);
    const local = codes.length > 1 ? 0 as Rate : minus(total, floor);
    if (local < 0) throw new RangeError(`${where}: ${name}: a total below the state's part`);
    const known = rows.get(code);
    if (known !== undefined && (known.sales !== local || codes.length > 1)) {
      throw new RangeError(`${where}: ${name}: code ${code} has another rate than before`);
    }
    report.joined += 1;
    rows.set(code, {
      state, level: 'district', county: '', place: '', name, code, basis: 'own', sales: local,
      use: local, ...period, source, asOf,
      ...(codes.length > 1 ? { basis: 'unknown', note: `New Mexico: ${name} is tribal land, taxed `
        + `by the class of the seller (${codes.join(', ')}), which no address tells.` } : {}),
    });
  }
  if (rows.size === 0) throw new RangeError('it lists no location');
  return { rows: [...rows.values(), outsideRow(context, 'New Mexico', period.from)], members: [] };
}

/**
 * Reads the list. Options: `state`, its part in percent; `from` and `to`, days it speaks for;
 * `areas`, for boundaries of locations.
 */
export function readNewMexico(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const period = {
    from: listDate(textOption(context, 'from'), context.asOf),
    to: listDate(textOption(context, 'to'), DATE_OPEN),
  };
  if (context.options['areas'] === true) return locationRates(text, floor, period, context);
  const located = readTable(text, ',').flatMap((row): readonly Located[] => {
    const [where, name, code] = [`line ${row.line}`, row.get('name'), row.get('locat_cdr')];
    const rate = percentOf(row.get('grt_rate'), `${where}: ${name}`);
    if (code === '' && CODE.test(row.get('locat_cd1'))) {
      context.report.drop(name, 'tribal land, taxed by the class of the seller');
      return [];
    }
    if (!CODE.test(code)) throw new RangeError(`${where}: ${name}: no location code: ${code}`);
    const [, rest] = REMAINDER.exec(name) ?? [];
    const county = countyOf(rest ?? row.get('county'), context);
    if (rest !== undefined && county === '') {
      context.report.miss(name);
      return [];
    }
    return [{
      where, name, county, kind: rest === undefined ? 'city' : 'county', sales: rate, use: rate,
    }];
  });
  return totalRates(located, floor, period, context);
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
    // An older rate without days was never one.
    if (at > 0 && from === NO_DAY && to === NO_DAY) return [];
    if (!rate.endsWith('%')) throw new RangeError(`${where}: not a percentage: ${rate}`);
    return [{
      rate: percentOf(rate.slice(0, -1), where),
      from: from === NO_DAY ? DATE_MIN : listedDay(from, where),
      to: to === NO_DAY ? DATE_OPEN : listedDay(to, where),
    }];
  });
}

/** Sales and use by code. */
function levied(text: string): Readonly<Record<'STS' | 'STU', ReadonlyMap<string, Levied>>> {
  const out = { STS: new Map<string, Levied>(), STU: new Map<string, Levied>() };
  for (const [at, line] of splitRows(text, ',').entries()) {
    const cells = line.map((cell) => cell.trim());
    const [type = '', digits = '', name = ''] = cells;
    if (type !== 'STS' && type !== 'STU') continue;
    const where = `row ${at + 1}: ${name}`;
    const code = digits.padStart(4, '0');
    if (cells.length !== FIELDS || !/^\d{4}$/.test(code) || name === '') {
      throw new RangeError(`${where}: its layout is another: ${cells.length} fields, a code `
        + `"${digits}"; ${FIELDS} and one of four digits were expected`);
    }
    if (out[type].has(code)) throw new RangeError(`${where}: code ${code} is listed twice`);
    out[type].set(code, { name, spells: spellsOf(cells, where) });
  }
  return out;
}

function useOn(day: DateInt, use: Levied | undefined, sales: Rate): Rate {
  if (use === undefined) return sales;
  return use.spells.find(({ from, to }) => from <= day && day <= to)?.rate ?? 0 as Rate;
}

function oklahomaPlace(
  code: string, name: string, sales: ReadonlyMap<string, Levied>, context: ListContext,
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
  const { state, source, asOf, report } = context;
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
      rows.push({
        state, ...where, code: '', basis: 'own', sales: rate, source, asOf, from, to,
        use: useOn(from === DATE_MIN ? asOf : from, STU.get(code), rate),
      });
    }
  }
  const gaps = unlistedGaps(rows, [], context, 'parts').map((row) => ({ ...row, from: asOf }));
  return { rows: [...rows.sort((a, b) => a.from - b.from), ...gaps], members: [] };
}
