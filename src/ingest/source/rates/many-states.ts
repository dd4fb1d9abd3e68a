/** Tables of many states' rates: the states' own, and their authorities'. */
import type { RateRow } from '../../model.js';
import {
  DATE_MIN,
  DATE_OPEN,
  joined,
  joinedCity,
  type ListContext,
  listDate,
  listedRow,
  listOption,
  type ListResult,
  percentOf,
  textOption,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';

/*
 * State rates with history (state, fips, name, effective_from, effective_to, sales_rate_pct,
 * use_rate_pct, note) and Canadian provincial rates (province, name, federal_tax, federal_pct,
 * provincial_tax, provincial_pct, effective_from, effective_to).
 */

/**
 * Reads state rates. For a state without a tax, an empty first day means that it never had one; for
 * any other row, that the day is not recorded. Option `skip`: states that other lists have.
 */
export function readStateRates(text: string, context: ListContext): ListResult {
  const { report } = context;
  const skip = new Set(listOption(context, 'skip'));
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    const state = row.get('state');
    if (skip.has(state)) {
      report.drop(state, 'listed in another source');
      continue;
    }
    const sales = percentOf(row.get('sales_rate_pct'), state);
    const use = percentOf(row.get('use_rate_pct'), state);
    const to = listDate(row.get('effective_to'), DATE_OPEN);
    const began = row.get('effective_from');
    if (began === '' && sales > 0) {
      report.drop(`${state} until ${row.get('effective_to')}`, 'no first day recorded');
      continue;
    }
    report.joined += 1;
    const [name, from] = [row.get('name'), listDate(began, DATE_MIN)];
    rows.push(listedRow(context, sales, { state, level: 'state', name, use, from, to }));
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/** Manitoba calls its provincial tax RST; in answers every provincial sales tax is PST. */
const KINDS: Readonly<Record<string, string>> = { RST: 'PST' };

/** Reads provincial rates; the kind of tax is stored as the code. */
export function readProvinces(text: string, context: ListContext): ListResult {
  const { asOf, report } = context;
  const rows: RateRow[] = [];
  for (const row of readTable(text, '\t')) {
    report.read += 1;
    report.joined += 1;
    for (const part of ['federal', 'provincial']) {
      const tax = row.get(`${part}_tax`);
      if (!tax) continue;
      const rate = percentOf(row.get(`${part}_pct`), row.get('province'));
      rows.push(
        listedRow(context, rate, {
          state: `CA-${row.get('province')}`,
          level: 'state',
          name: row.get('name'),
          code: KINDS[tax] ?? tax,
          from: listDate(row.get('effective_from'), asOf),
          to: listDate(row.get('effective_to'), DATE_OPEN),
        }),
      );
    }
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}

/*
 * Authorities' own rates of many states in one table: state, level, name, rate_pct,
 * effective_from, effective_to, parent. Options: `levels` to read; `from`, the day the list is
 * known to hold from where its dates are placeholders ("" trusts its dates); `skipZero`, levels
 * whose zeros are placeholders; `sole`, levels whose figure contains the county's; `everyCounty`, a
 * county row that holds in all counties.
 */

const PART = /^(.*) \(([^()]+)\)$/;

type Target = Pick<RateRow, 'level' | 'name'> & Partial<RateRow>;

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
  // If a city is listed by county parts, its plain row only applies to the county that it names.
  const inPart = part || divided.has(base) ? hint : '';
  // Some boroughs are listed as cities.
  return code.length === 5
    ? [{ level: 'county', county: code, name: base }]
    : [{ level: 'city', county: inPart, place: code, name: base }];
}

function targets(
  row: TableRow,
  context: ListContext,
  divided: ReadonlySet<string>,
): readonly Target[] {
  const { gazetteer, state, report } = context;
  const name = row.get('name');
  switch (row.get('level')) {
    case 'state':
      return [{ level: 'state', name }];
    case 'county': {
      if (name === textOption(context, 'everyCounty')) {
        report.joined += 1;
        return gazetteer.counties(state).map(({ fips, fullName }) => ({
          level: 'county',
          county: fips,
          name: fullName,
        }));
      }
      const code = joined(context, name, gazetteer.county(state, name));
      return code === null ? [] : [{ level: 'county', county: code, name }];
    }
    case 'city':
      return cityTarget(row, context, divided);
    default: {
      const code = context.districtCode(name);
      if (code === null) {
        report.miss(name);
        return [];
      }
      report.joined += 1;
      return [{ level: 'district', code, name }];
    }
  }
}

/** Reads one state's rows of the table. */
export function readAuthority(text: string, context: ListContext): ListResult {
  const { state, asOf, report } = context;
  const levels = new Set(listOption(context, 'levels'));
  const skipZero = new Set(listOption(context, 'skipZero'));
  const sole = new Set(listOption(context, 'sole'));
  const from = textOption(context, 'from');
  const table = readTable(text, '\t').filter(
    (row) => row.get('state') === state && levels.has(row.get('level')),
  );
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
      rows.push(
        listedRow(context, rate, {
          ...target,
          basis: sole.has(target.level) ? 'sole' : 'own',
          from: listDate(from || row.get('effective_from'), asOf),
          to: listDate(row.get('effective_to'), DATE_OPEN),
        }),
      );
    }
  }
  return { rows, members: [] };
}
