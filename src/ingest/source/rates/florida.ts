/**
 * Florida's workbook of discretionary sales surtaxes (DiscretionarySalesSurtaxRates): the first
 * cell of a row names one of the 67 counties, the second its surtax as text ("1.5%"). A footnote
 * says "Rates shown above are current as of M/D/YYYY", which is the first day they are taken for.
 */
import { type DateInt, dateOf } from '../../../tax/date.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, joined, type ListContext, type ListResult, percentOf,
} from '../../rates/list.js';
import { splitRows } from '../rows.js';

const CURRENT = /current as of (\d{1,2})\/(\d{1,2})\/(\d{4})/i;
const PERCENT = /^(\d+(?:\.\d+)?)\s*%$/;

function currentAsOf(text: string): DateInt {
  const found = CURRENT.exec(text);
  const [, month, day, year] = found ?? [];
  const date = found && dateOf(Number(year), Number(month), Number(day));
  if (date === null) throw new RangeError('its layout is another: no "current as of M/D/YYYY"');
  return date;
}

/** Reads the list. @throws RangeError where it lacks its day, or lists no county. */
export function readFlorida(text: string, context: ListContext): ListResult {
  const { state, source, report, gazetteer } = context;
  const day = currentAsOf(text);
  const rows: RateRow[] = [];
  for (const [name = '', figure = ''] of splitRows(text, ',')) {
    const [, percent] = PERCENT.exec(figure.trim()) ?? [];
    if (percent === undefined) {
      // Only a title and the header stand above the counties, only notes below them.
      if (rows.length === 0 || figure.trim() === '') continue;
      throw new RangeError(`${name}: not a percentage: ${figure}`);
    }
    report.read += 1;
    const listed = name.trim().replace(/ county$/i, '');
    const county = joined(context, name, gazetteer.county(state, `${listed} County`));
    if (county === null) continue;
    const rate = percentOf(percent, name);
    rows.push({
      state, level: 'county', county, place: '', code: '', basis: 'own', sales: rate, use: rate,
      name: gazetteer.countyFact(county)?.fullName ?? name, from: day, to: DATE_OPEN,
      source, asOf: day,
    });
  }
  if (rows.length === 0) throw new RangeError('its layout is another: it lists no county');
  return { rows, members: [] };
}
