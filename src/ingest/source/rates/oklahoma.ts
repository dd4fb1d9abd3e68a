/**
 * Oklahoma's rates by COPO code (Currentcsv.csv): no header, thirteen fields: type (STS sales, STU
 * use; others are other taxes), code whose leading zeros are lost, name, then three times a rate
 * ("3.65%"), its first and its last day (M/D/YYYY, a serial number of days, 00/00/00 for open),
 * newest first, and an empty field. Codes that end in 88 are counties, 0088 the state; a city's
 * county has its first two digits. Own parts: a city's adds to its county's and the state's.
 */
import type { DateInt } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_MIN, DATE_OPEN, joinedCity, type ListContext, type ListResult, percentOf,
} from '../../rates/list.js';
import { splitRows } from '../rows.js';
import { listedDay } from '../sheet.js';
import { unlistedGaps } from './county-and-place.js';
import { countyOf } from './located-totals.js';

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

type Where = Pick<RateRow, 'level' | 'county' | 'place' | 'name'>;

function whereOf(
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
    const where = whereOf(code, name, STS, context);
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
