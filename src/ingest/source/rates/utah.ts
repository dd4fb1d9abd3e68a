/**
 * Utah's workbook of combined rates (YYqNcombined.xlsx): a cell "Rates in effect as of <Month> 1,
 * <year>", then A Location, C Code (NN-NNN; NN-000 is a county outside its cities), E ST*, G to Y
 * a levy each, Z Sales Rate; fractions, and the levies add up to it. A second header below begins
 * other taxes.
 */
import { type Rate, sumRates } from '../../../tax/rate.js';
import {
  DATE_OPEN, fractionOf, type ListContext, type ListResult,
} from '../../rates/list.js';
import { listedDay, sheetBelow, type SheetRow } from '../sheet.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

const COLUMNS = { A: 'Location', C: 'Code', E: 'ST*', Z: 'Sales Rate' };
const LEVIES = [...'EGHIJKLMNOPQRSTUVWXY'];
const CODE = /^(\d{2})-(\d{3})$/;
const IN_EFFECT = /rates in effect as of\s+(\w+ \d{1,2}, ?\d{4})/i;

interface Listed {
  readonly row: SheetRow;
  readonly county: string;
  readonly isCounty: boolean;
}

function totalOf({ row }: Listed): Rate {
  const where = `row ${row.line}: ${row.at('A')}`;
  const total = fractionOf(row.at('Z'), where);
  const levies = LEVIES.filter((column) => row.at(column) !== '')
    .map((column) => fractionOf(row.at(column), where));
  if (sumRates(levies) !== total) throw new RangeError(`${where}: its levies are not its total`);
  return total;
}

/** Reads the list. @throws RangeError where it names no day, or levies do not add up. */
export function readUtah(text: string, context: ListContext): ListResult {
  const { titles, rows } = sheetBelow(text, COLUMNS);
  const [, day] = titles.map((title) => IN_EFFECT.exec(title)).find((found) => found !== null)
    ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "Rates in effect as of"');
  const end = rows.findIndex((row) => row.at('A') === COLUMNS.A);
  const listed = (end < 0 ? rows : rows.slice(0, end)).flatMap((row): readonly Listed[] => {
    const [, county, place] = CODE.exec(row.at('C')) ?? [];
    if (county !== undefined) return [{ row, county, isCounty: place === '000' }];
    if (row.at('C') === '' && row.at('Z') === '') return [];
    throw new RangeError(`row ${row.line}: ${row.at('A')}: no code: ${row.at('C')}`);
  });
  const counties = new Map(listed.filter(({ isCounty }) => isCounty)
    .map(({ county, row }) => [county, countyOf(row.at('A'), context)]));
  const located = listed.flatMap((one): readonly Located[] => {
    const [name, county] = [one.row.at('A'), counties.get(one.county) ?? ''];
    const rate = totalOf(one);
    if (one.isCounty && county === '') {
      context.report.miss(name);
      return [];
    }
    return [{
      where: `row ${one.row.line}`, name, county, kind: one.isCounty ? 'county' : 'city',
      sales: rate, use: rate,
    }];
  });
  const state = fractionOf(listed[0]?.row.at('E') ?? '', 'ST*');
  return totalRates(located, state, { from: listedDay(day, 'in effect'), to: DATE_OPEN }, context);
}
