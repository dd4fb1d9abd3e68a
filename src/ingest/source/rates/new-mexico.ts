/**
 * New Mexico's gross receipts tax by location (the CSV in the archive of rates and boundaries):
 * OBJECTID_1, name, county, locat_cdr (NN-NNN), locat_cd1, locat_cd2, grt_rate (percent, all that
 * is levied), note_key, bndry_ref, SHAPE_Leng, grt_rate2, Shape_Area. "Remainder of County - X" is
 * a county outside its municipalities. Tribal lands have two codes in place of locat_cdr, and a
 * rate for each class of seller: they are told, not read. Districts have no boundary in this file.
 */
import {
  DATE_OPEN, type ListContext, listDate, type ListResult, percentOf, textOption,
} from '../../rates/list.js';
import { readTable } from '../rows.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

const CODE = /^\d{2}-\d{3}$/;
const REMAINDER = /^Remainder of County\s*-\s*(.+)$/i;

/** Reads the list. Options: `state`, its part in percent; `from` and `to`, days it speaks for. */
export function readNewMexico(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const period = {
    from: listDate(textOption(context, 'from'), context.asOf),
    to: listDate(textOption(context, 'to'), DATE_OPEN),
  };
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
