/**
 * Washington's rates of a quarter as the Department of Revenue publishes them (Rates_YYQn.zip): one
 * CSV with the header Name, Code, State, Local, RTA, Rate, Effective Date, Expiration Date;
 * fractions, dates as YYYYMMDD, codes of four digits whose leading zero may be lost. Local may
 * leave the transit part out, so that the local part is what Rate has above State. With the option
 * `areas`, for builds that have the boundaries of location codes (LOCCODE_PUBLIC_YYQn.zip) as
 * districts, all of the local part is that of its code; else it is told apart by names.
 */
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, fractionOf, type ListContext, listDate, type ListResult, minus,
} from '../../rates/list.js';
import { readTable } from '../rows.js';
import { type Location, locationRates } from './washington.js';

/** The local part of each location as its code's, the last quarter's on and on. */
function codeRates(locations: readonly Location[], context: ListContext): ListResult {
  const { state, source, asOf, report } = context;
  const last = Math.max(...locations.map(({ from }) => from));
  report.read += locations.length;
  report.joined += locations.length;
  const rows = locations.map(({ code, name, local, from, to }): RateRow => ({
    state, level: 'district', county: '', place: '', name, code, basis: 'own', sales: local,
    use: local, from, to: from === last ? DATE_OPEN : to, source, asOf,
  }));
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/** Reads the file. @throws RangeError naming the line of a figure or a day that is none. */
export function readWashingtonQuarter(text: string, context: ListContext): ListResult {
  const locations = readTable(text, ',').map((row): Location => {
    const name = row.get('Name').toUpperCase();
    const where = `line ${row.line}: ${name}`;
    const total = fractionOf(row.get('Rate'), where);
    const local = minus(total, fractionOf(row.get('State'), where));
    const code = row.get('Code').padStart(4, '0');
    if (!/^\d{4}$/.test(code) || local < 0) {
      throw new RangeError(`${where}: no location with a rate above the state's`);
    }
    const [from, to] = [row.get('Effective Date'), row.get('Expiration Date')];
    if (from === '' || to === '') throw new RangeError(`${where}: without its days`);
    return {
      code, name, local, total,
      from: listDate(from, context.asOf), to: listDate(to, context.asOf),
    };
  });
  if (locations.length === 0) throw new RangeError('it lists no location');
  return context.options['areas'] === true
    ? codeRates(locations, context) : locationRates(locations, context);
}
