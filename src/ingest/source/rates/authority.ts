/**
 * Authorities' own rates of many states in one table: state, level, name, rate_pct,
 * effective_from, effective_to, parent. Options: `levels` to read; `from`, the day the list is
 * known to hold from where its dates are placeholders ("" trusts its dates); `skipZero`, levels
 * whose zeros are placeholders; `sole`, levels whose figure contains the county's; `everyCounty`,
 * a county row that holds in all counties.
 */
import type { Level } from '../../../tax/jurisdiction.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, joined, joinedCity, type ListContext, listDate, listOption, type ListResult, percentOf,
  textOption,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../rows.js';

const PART = /^(.*) \(([^()]+)\)$/;

type Target = Pick<RateRow, 'level' | 'county' | 'place' | 'code' | 'name'>;

/** A code of five digits is a county: some boroughs are listed as cities. */
function targetOf(level: Level, code: string, county: string, name: string): Target {
  return code.length === 5
    ? { level: 'county', county: code, place: '', code: '', name }
    : { level, county, place: code, code: '', name };
}

function cityTarget(
  row: TableRow,
  context: ListContext,
  divided: ReadonlySet<string>,
): readonly Target[] {
  const { gazetteer, state } = context;
  const listed = row.get('name');
  const [, base = listed, part = ''] = PART.exec(listed) ?? [];
  const parent = part ? `${part} County` : row.get('parent');
  const county = gazetteer.county(state, parent);
  const hint = county.kind === 'code' ? county.code : '';
  const code = joinedCity(context, listed, gazetteer.city(state, base, hint), hint);
  if (code === null) return [];
  // A city listed by county parts holds its plain row for the county it names, no further.
  return [targetOf('city', code, part || divided.has(base) ? hint : '', base)];
}

function targets(
  row: TableRow,
  context: ListContext,
  divided: ReadonlySet<string>,
): readonly Target[] {
  const { gazetteer, state, report } = context;
  const name = row.get('name');
  const none = { county: '', place: '', code: '', name };
  switch (row.get('level')) {
    case 'state': return [{ level: 'state', ...none }];
    case 'county': {
      if (name === textOption(context, 'everyCounty')) {
        report.joined += 1;
        return gazetteer.counties(state).map(({ fips, fullName }) =>
          ({ level: 'county', county: fips, place: '', code: '', name: fullName }));
      }
      const code = joined(context, name, gazetteer.county(state, name));
      return code === null ? [] : [{ level: 'county', ...none, county: code }];
    }
    case 'city': return cityTarget(row, context, divided);
    default: {
      const code = context.districtCode(name);
      if (code === null) {
        report.miss(name);
        return [];
      }
      report.joined += 1;
      return [{ level: 'district', ...none, code }];
    }
  }
}

/** Reads one state's rows of the table. */
export function readAuthority(text: string, context: ListContext): ListResult {
  const { state, source, asOf, report } = context;
  const levels = new Set(listOption(context, 'levels'));
  const skipZero = new Set(listOption(context, 'skipZero'));
  const sole = new Set(listOption(context, 'sole'));
  const from = textOption(context, 'from');
  const table = readTable(text, '\t').filter((row) =>
    row.get('state') === state && levels.has(row.get('level')));
  const divided = new Set(table.map((row) => PART.exec(row.get('name'))?.[1] ?? ''));
  const rows: RateRow[] = [];
  for (const row of table) {
    report.read += 1;
    const rate = percentOf(row.get('rate_pct'), row.get('name'));
    if (rate === 0 && skipZero.has(row.get('level'))) {
      report.drop(row.get('name'), 'a zero that stands for no figure');
      continue;
    }
    for (const target of targets(row, context, divided)) {
      rows.push({
        state, ...target, basis: sole.has(target.level) ? 'sole' : 'own', sales: rate, use: rate,
        from: listDate(from || row.get('effective_from'), asOf),
        to: listDate(row.get('effective_to'), DATE_OPEN), source, asOf,
      });
    }
  }
  return { rows, members: [] };
}
