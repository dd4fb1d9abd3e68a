/**
 * Missouri's quarterly workbook ("Sales and Use Tax Rate Chart"): the header stands below titles,
 * in a row that changes; B Jurisdiction Name, C Jurisdiction Code, D Sales Tax Rate (0000), E Use
 * Tax Rate (0000)(0010), then food and other goods. Fractions or "5.9750%", totals with the
 * state's part. A code is CCCCC-KKK-SSS: city (00000 is the county outside cities), county by the
 * state's own number, and the districts that apply (000 for none), which have no boundary here.
 */
import { parsePercent, parseRate, type Rate } from '../../../tax/rate.js';
import {
  DATE_OPEN, type ListContext, listDate, type ListResult, percentOf, textOption,
} from '../../rates/list.js';
import { sheetBelow, type SheetRow } from '../sheet.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

const COLUMNS = {
  B: 'Jurisdiction Name', C: 'Jurisdiction Code', D: 'Sales Tax Rate (0000)',
  E: 'Use Tax Rate (0000)(0010)',
};
const CODE = /^(\d{5})-(\d{3})-(\d{3})$/;
const NO_CITY = '00000';
const NO_DISTRICT = '000';

function rateOf(row: SheetRow, column: string): Rate {
  const text = row.at(column);
  const rate = text.endsWith('%') ? parsePercent(text.slice(0, -1).trim()) : parseRate(text);
  if (rate === null) throw new RangeError(`row ${row.line}: not a rate: ${text}`);
  return rate;
}

/** "KANSAS CITY JACKSON COUNTY" names its county behind the city, unless it is all the name is. */
function cityName(listed: string, county: string): string {
  const name = listed.replaceAll(/\s+/g, ' ').replace(/\s*\(.*\)$/, '');
  const end = ` ${county}`;
  return name.toUpperCase().endsWith(end.toUpperCase()) ? name.slice(0, -end.length) : name;
}

/** Reads the list. Options: `state`, its part in percent; `from` and `to`, days it speaks for. */
export function readMissouri(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const period = {
    from: listDate(textOption(context, 'from'), context.asOf),
    to: listDate(textOption(context, 'to'), DATE_OPEN),
  };
  const rows = sheetBelow(text, COLUMNS).rows.filter((row) => row.at('C') !== '');
  const counties = new Map<string, string>();
  for (const row of rows) {
    const [, city, county = '', district] = CODE.exec(row.at('C')) ?? [];
    if (city === undefined) throw new RangeError(`row ${row.line}: no code: ${row.at('C')}`);
    if (city === NO_CITY && district === NO_DISTRICT) counties.set(county, row.at('B'));
  }
  const located = rows.flatMap((row): readonly Located[] => {
    const [, city = '', number = '', district = ''] = CODE.exec(row.at('C')) ?? [];
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
    return [{
      where: `row ${row.line}`, name, county, kind: city === NO_CITY ? 'county' : 'city',
      sales, use,
    }];
  });
  return totalRates(located, floor, period, context);
}
