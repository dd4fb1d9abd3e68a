/**
 * Streamlined Sales Tax rate file: nine columns, no header, full history. Columns: state FIPS,
 * jurisdiction type, code, general rate (intrastate, interstate), food and drug rate (the same
 * two), first and last day. Types: 45 state, 00 county, 01 to 09 municipalities, 63 and 69
 * districts. Only the general rate is read here.
 */
import type { Level } from '../../../tax/jurisdiction.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, fractionOf, type ListContext, listDate, type ListResult,
} from '../../rates/list.js';
import { splitRows } from '../rows.js';

const LEVELS = new Map<string, Level>([
  ['45', 'state'], ['00', 'county'], ['01', 'city'], ['02', 'city'], ['03', 'city'],
  ['04', 'city'], ['05', 'city'], ['09', 'city'], ['63', 'district'], ['69', 'district'],
]);

interface Jurisdiction {
  readonly county: string;
  readonly place: string;
  readonly name: string;
  readonly code: string;
}

function jurisdiction(
  level: Level,
  fips: string,
  code: string,
  context: ListContext,
  zero: boolean,
): Jurisdiction | null {
  const { gazetteer, report, state } = context;
  const label = `${level} ${code}`;
  switch (level) {
    case 'state': return { county: '', place: '', name: '', code: '' };
    case 'district': return { county: '', place: '', name: '', code };
    case 'county': {
      const county = `${fips}${code.slice(-3).padStart(3, '0')}`;
      const fact = gazetteer.countyFact(county);
      if (!fact) report.miss(label);
      return fact ? { county, place: '', name: fact.fullName, code: '' } : null;
    }
    case 'city': {
      // A state may give the part of a city in another county a code that no place has.
      const aliased = gazetteer.city(state, `#${code}`, '');
      if (aliased.kind === 'dropped') {
        report.drop(label, aliased.why);
        return null;
      }
      const target = aliased.kind === 'code' ? aliased.code : `${fips}${code.padStart(5, '0')}`;
      const [place = '', county = ''] = target.split('@');
      const fact = gazetteer.place(place);
      if (!fact) {
        if (zero) report.drop(label, 'a zero of a jurisdiction that is no place held');
        else report.miss(label);
        return null;
      }
      return { county, place, name: fact.name, code: '' };
    }
  }
}

/** Reads a rate file. */
export function readSst(text: string, context: ListContext): ListResult {
  const rows: RateRow[] = [];
  for (const cells of splitRows(text, ',')) {
    const [fips = '', type = '', code = '', general = '', , , , first = '', last = ''] = cells;
    context.report.read += 1;
    const level = LEVELS.get(type);
    if (!level) {
      context.report.drop(`${type} ${code}`, 'a type that carries no general rate');
      continue;
    }
    const rate = fractionOf(general, `${type} ${code}`);
    // Files list every town with zero: one that is no place held changes nothing.
    const found = jurisdiction(level, fips.padStart(2, '0'), code, context, rate === 0);
    if (!found) continue;
    context.report.joined += 1;
    rows.push({
      state: context.state, level, ...found, basis: 'own', sales: rate, use: rate,
      from: listDate(first, context.asOf), to: listDate(last, DATE_OPEN),
      source: context.source, asOf: context.asOf,
    });
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
