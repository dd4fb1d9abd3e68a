/** Lists of all that is paid at a place, with the state's part: Missouri, New Mexico, Utah. */
import { parsePercent, parseRate, type Rate, RATE_ZERO, sumRates } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN,
  fractionOf,
  type ListContext,
  listDate,
  listedRow,
  type ListResult,
  minus,
  outsideRow,
  percentOf,
  textOption,
} from '../../rates/list.js';
import { readTable } from '../table-text.js';
import { listedDay, sheetBelow, type SheetRow } from '../workbook.js';
import { countyOf, type Located, totalRates } from './located-totals.js';
import type { DaySpan } from '../../../tax/yearly-days.js';

/** The days of a list that does not name them, from its options. */
function periodOf(context: ListContext): DaySpan {
  return {
    from: listDate(textOption(context, 'from'), context.asOf),
    to: listDate(textOption(context, 'to'), DATE_OPEN),
  };
}

/*
 * Missouri's quarterly workbook ("Sales and Use Tax Rate Chart"): the header stands below titles,
 * in a row that changes; B Jurisdiction Name, C Jurisdiction Code, D Sales Tax Rate (0000), E Use
 * Tax Rate (0000)(0010), then food and other goods. Fractions or "5.9750%", totals with the state's
 * part. A code is CCCCC-KKK-SSS: city (00000 is the county outside cities), county by the state's
 * own number, and the districts that apply (000 for none), which have no boundary here.
 */

const MISSOURI_COLUMNS = {
  B: 'Jurisdiction Name',
  C: 'Jurisdiction Code',
  D: 'Sales Tax Rate (0000)',
  E: 'Use Tax Rate (0000)(0010)',
};
const MISSOURI_CODE = /^(\d{5})-(\d{3})-(\d{3})$/;
const NO_CITY = '00000';
const NO_DISTRICT = '000';

function rateOf(row: SheetRow, column: string): Rate {
  const text = row.at(column);
  const rate = text.endsWith('%') ? parsePercent(text.slice(0, -1).trim()) : parseRate(text);
  if (rate === null) throw new RangeError(`row ${row.line}: not a rate: ${text}`);
  return rate;
}

/** In "KANSAS CITY JACKSON COUNTY" the county follows the city, unless that would leave no name. */
function cityName(listed: string, county: string): string {
  const name = listed.replaceAll(/\s+/g, ' ').replace(/\s*\(.*\)$/, '');
  const end = ` ${county}`;
  return name.toUpperCase().endsWith(end.toUpperCase()) ? name.slice(0, -end.length) : name;
}

/** Reads the list. Options: `state`, its part in percent; `from` and `to`, days it speaks for. */
export function readMissouri(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const period = periodOf(context);
  const rows = sheetBelow(text, MISSOURI_COLUMNS).rows.filter((row) => row.at('C') !== '');
  const counties = new Map<string, string>();
  for (const row of rows) {
    const [, city, county = '', district] = MISSOURI_CODE.exec(row.at('C')) ?? [];
    if (city === undefined) throw new RangeError(`row ${row.line}: no code: ${row.at('C')}`);
    if (city === NO_CITY && district === NO_DISTRICT) counties.set(county, row.at('B'));
  }
  const located = rows.flatMap((row): readonly Located[] => {
    const [, city = '', number = '', district = ''] = MISSOURI_CODE.exec(row.at('C')) ?? [];
    const listed = counties.get(number) ?? '';
    const [county, name] = [countyOf(listed, context), cityName(row.at('B'), listed)];
    const [sales, use] = [rateOf(row, 'D'), rateOf(row, 'E')];
    if (district !== NO_DISTRICT) {
      context.report.drop(`${name} ${row.at('C')}`, 'districts without a boundary');
      return [];
    }
    if (city === NO_CITY && county === '') {
      context.report.miss(row.at('B'));
      return [];
    }
    return [
      {
        where: `row ${row.line}`,
        name,
        county,
        kind: city === NO_CITY ? 'county' : 'city',
        sales,
        use,
      },
    ];
  });
  return totalRates(located, floor, period, context);
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

/** The local part of each location, as a rate of its code; a code has only one rate. */
function locationRates(
  text: string,
  floor: Rate,
  period: DaySpan,
  context: ListContext,
): ListResult {
  const { report } = context;
  const rows = new Map<string, RateRow>();
  for (const row of readTable(text, ',')) {
    report.read += 1;
    const [where, name] = [`line ${row.line}`, row.get('name')];
    const codes = ['locat_cdr', 'locat_cd1', 'locat_cd2']
      .map((column) => row.get(column))
      .filter((code) => code !== '');
    const [code = ''] = codes;
    if (!codes.every((one) => CODE.test(one)) || code === '') {
      throw new RangeError(`${where}: ${name}: no location code: ${codes.join(', ')}`);
    }
    const total = percentOf(row.get('grt_rate'), `${where}: ${name}`);
    const local = codes.length > 1 ? RATE_ZERO : minus(total, floor);
    if (local < 0) throw new RangeError(`${where}: ${name}: a total below the state's part`);
    const known = rows.get(code);
    if (known !== undefined && (known.sales !== local || codes.length > 1)) {
      throw new RangeError(`${where}: ${name}: code ${code} has another rate than before`);
    }
    report.joined += 1;
    const listed = listedRow(context, local, { level: 'district', name, code, ...period });
    const note =
      `New Mexico: ${name} is tribal land, taxed ` +
      `by the class of the seller (${codes.join(', ')}), which no address tells.`;
    rows.set(code, codes.length > 1 ? { ...listed, basis: 'unknown', note } : listed);
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
  const period = periodOf(context);
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
    return [
      {
        where,
        name,
        county,
        kind: rest === undefined ? 'city' : 'county',
        sales: rate,
        use: rate,
      },
    ];
  });
  return totalRates(located, floor, period, context);
}

/*
 * Utah's workbook of combined rates (YYqNcombined.xlsx): a cell "Rates in effect as of <Month> 1,
 * <year>", then A Location, C Code (NN-NNN; NN-000 is a county outside its cities), E ST*, G to Y a
 * levy each, Z Sales Rate; fractions, and the levies add up to it. A second header below begins
 * other taxes.
 */

const UTAH_COLUMNS = { A: 'Location', C: 'Code', E: 'ST*', Z: 'Sales Rate' };
const LEVIES = [...'EGHIJKLMNOPQRSTUVWXY'];
const UTAH_CODE = /^(\d{2})-(\d{3})$/;
const IN_EFFECT = /rates in effect as of\s+(\w+ \d{1,2}, ?\d{4})/i;

interface Listed {
  readonly row: SheetRow;
  readonly county: string;
  readonly isCounty: boolean;
}

function totalOf({ row }: Listed): Rate {
  const where = `row ${row.line}: ${row.at('A')}`;
  const total = fractionOf(row.at('Z'), where);
  const levies = LEVIES.filter((column) => row.at(column) !== '').map((column) =>
    fractionOf(row.at(column), where),
  );
  if (sumRates(levies) !== total) throw new RangeError(`${where}: its levies are not its total`);
  return total;
}

/** Reads the list. @throws RangeError where it names no day, or levies do not add up. */
export function readUtah(text: string, context: ListContext): ListResult {
  const { titles, rows } = sheetBelow(text, UTAH_COLUMNS);
  const [, day] =
    titles.map((title) => IN_EFFECT.exec(title)).find((found) => found !== null) ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "Rates in effect as of"');
  const end = rows.findIndex((row) => row.at('A') === UTAH_COLUMNS.A);
  const listed = (end < 0 ? rows : rows.slice(0, end)).flatMap((row): readonly Listed[] => {
    const [, county, place] = UTAH_CODE.exec(row.at('C')) ?? [];
    if (county !== undefined) return [{ row, county, isCounty: place === '000' }];
    if (row.at('C') === '' && row.at('Z') === '') return [];
    throw new RangeError(`row ${row.line}: ${row.at('A')}: no code: ${row.at('C')}`);
  });
  const counties = new Map(
    listed
      .filter(({ isCounty }) => isCounty)
      .map(({ county, row }) => [county, countyOf(row.at('A'), context)]),
  );
  const located = listed.flatMap((one): readonly Located[] => {
    const [name, county] = [one.row.at('A'), counties.get(one.county) ?? ''];
    const rate = totalOf(one);
    if (one.isCounty && county === '') {
      context.report.miss(name);
      return [];
    }
    return [
      {
        where: `row ${one.row.line}`,
        name,
        county,
        kind: one.isCounty ? 'county' : 'city',
        sales: rate,
        use: rate,
      },
    ];
  });
  const state = fractionOf(listed[0]?.row.at('E') ?? '', 'ST*');
  return totalRates(located, state, { from: listedDay(day, 'in effect'), to: DATE_OPEN }, context);
}
