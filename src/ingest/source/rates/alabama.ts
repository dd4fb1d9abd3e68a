/**
 * Alabama's text file of local rates (taxrates_current.csv): a header, one row for each locality,
 * kind of tax and class of goods; rates in percent, the locality's own part alone; days as
 * YYYYMMDD. Sales tax (ST) on general goods (GENER) is read. Codes of 7... are counties, of 9...
 * cities, with the county a city's row is for. A police jurisdiction (PJ) is a band outside its
 * city with a rate of its own, and no boundary of it is published: it is told, not read.
 *
 * A county has one row ("MOBILE COUNTY"), or several: CL is what it takes inside cities, of all
 * where none is named, EXC what it takes outside them, and so is a row of the plain name then.
 * Cities are named by their beginnings ("LEE CO CL AUB & OPE & PHENIX"). Where rows do not name
 * them ("CL 4 CITIES"), or say what is not known here, the county's part is unknown.
 */
import type { DateInt } from '../../../tax/date.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN,
  joined,
  joinedCity,
  type ListContext,
  listDate,
  listedRow,
  type ListResult,
  percentOf,
  UNKNOWN_RATE,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';

const COUNTY = /^(.+?)\s+(?:COUNTY|CO\.?)(?:[\s-]+(.*))?$/i;
/** Taxes for a single plant, and a school tax of zero percent, which are not read. */
const BESIDE = /UNABATED|EDUCATION/i;
const COUNTY_CODE = /^7\d{3}$/;
const CITY_CODE = /^9\d{3}$/;

/** Rows of one county, by what they mean. */
interface CountyRows {
  readonly county: string;
  readonly plain: RateRow[];
  readonly outside: RateRow[];
  /**
   * Rows for its cities, with the beginnings of the cities' names; without names, for every city.
   */
  readonly inside: { readonly names: readonly string[]; readonly row: RateRow }[];
  /** Rows for unnamed cities, and rows that are not understood. */
  readonly vague: RateRow[];
  readonly strange: RateRow[];
}

function headOf(name: string): { readonly head: string; readonly tail: string } {
  const [, head = name, tail = ''] = COUNTY.exec(name) ?? [];
  return { head: `${head} County`, tail: tail.toUpperCase().trim() };
}

function namesOf(text: string): readonly string[] {
  return text
    .split(/\s*(?:&|,|\bAND\b)\s*/)
    .map((name) => name.replace(/^PJ\s+/, '').trim())
    .filter((name) => name !== '' && name !== 'PJ');
}

/** Assigns a county's row to one of these. */
function sort(row: RateRow, tail: string, rows: CountyRows): void {
  const named = /^CL\b(.*)$/.exec(tail);
  if (tail === '') rows.plain.push(row);
  else if (/\d/.test(tail)) {
    rows.vague.push(row);
    if (named === null) (/^EXC/.test(tail) ? rows.outside : rows.strange).push(row);
  } else if (named !== null) rows.inside.push({ names: namesOf(named[1]!), row });
  else if (/^UNINC/.test(tail)) {
    rows.vague.push(row);
    rows.outside.push(row);
  } else if (/^EXC/.test(tail)) rows.outside.push(row);
  else rows.strange.push(row);
}

type Where = Pick<RateRow, 'level' | 'county' | 'place' | 'name'>;

/** The rate row of a line. */
function rowOf(row: TableRow, where: Where, context: ListContext): RateRow {
  return listedRow(context, percentOf(row.get('Rate'), `line ${row.line}`), {
    ...where,
    from: listDate(row.get('Active Date'), context.asOf),
    to: listDate(row.get('Inactive Date'), DATE_OPEN),
  });
}

function countyRows(table: readonly TableRow[], context: ListContext): Map<string, CountyRows> {
  const { gazetteer, report, state } = context;
  const counties = new Map<string, CountyRows>();
  for (const row of table.filter((one) => COUNTY_CODE.test(one.get('Locality Code')))) {
    const name = row.get('Locality Name');
    report.read += 1;
    if (BESIDE.test(name)) {
      report.drop(name, 'no general rate of the county');
      continue;
    }
    const { head, tail } = headOf(name);
    const county = joined(context, name, gazetteer.county(state, head));
    if (county === null) continue;
    if (/^PJ\b/.test(tail)) {
      report.drop(name, 'no boundary of it is published');
      continue;
    }
    const known = counties.get(county) ?? {
      county,
      plain: [],
      outside: [],
      inside: [],
      vague: [],
      strange: [],
    };
    counties.set(county, known);
    sort(rowOf(row, { level: 'county', county, place: '', name }, context), tail, known);
  }
  return counties;
}

function unknownOf(rows: readonly RateRow[], place: string): RateRow {
  const [first] = rows as readonly [RateRow, ...RateRow[]];
  const names = [...new Set(rows.map(({ name }) => name))].join(', ');
  return {
    ...first,
    place,
    ...UNKNOWN_RATE,
    to: DATE_OPEN,
    from: rows.reduce((day: DateInt, { from }) => (from < day ? from : day), first.from),
    note:
      `${headOf(first.name).head}: its list has "${names}", which does not say for which ` +
      'places; the ordinance of the county would fill it.',
  };
}

/** The rates of a county outside its cities, and in each of the listed ones. */
function settled(rows: CountyRows, cities: ReadonlyMap<string, string>): readonly RateRow[] {
  const { plain, outside, inside, vague, strange } = rows;
  const all = [...plain, ...outside, ...inside.map(({ row }) => row), ...vague, ...strange];
  const open = outside.length > 0 ? outside : plain;
  if (strange.length > 0 || open.length === 0) {
    const said = [...new Set([...strange, ...(open.length === 0 ? all : [])])];
    return [unknownOf(said, ''), ...[...cities.keys()].map((place) => unknownOf(said, place))];
  }
  const within = new Map<string, RateRow[]>();
  const unplaced = [...vague];
  for (const { names, row } of inside) {
    for (const begin of names.length === 0 ? [''] : names) {
      const found = [...cities].filter(([, name]) => name.startsWith(begin));
      if (begin !== '' && found.length !== 1) unplaced.push(row);
      else for (const [place] of found) within.set(place, [...(within.get(place) ?? []), row]);
    }
  }
  return [
    ...open,
    ...[...cities.keys()].flatMap((place) =>
      within.has(place)
        ? within.get(place)!.map((row) => ({ ...row, place }))
        : unplaced.length > 0
          ? [unknownOf(unplaced, place)]
          : [],
    ),
  ];
}

/** Reads the file. @throws RangeError naming the line that cannot be read. */
export function readAlabama(text: string, context: ListContext): ListResult {
  const { gazetteer, report, state } = context;
  const table = readTable(text, ',').filter(
    (row) => row.get('TaxType') === 'ST' && row.get('Rate Type') === 'GENER',
  );
  if (table.length === 0) throw new RangeError('it lists no general sales tax (ST, GENER)');
  const counties = countyRows(table, context);
  const byCode = new Map(
    table
      .filter((row) => COUNTY_CODE.test(row.get('Locality Code')))
      .flatMap((row): [string, string][] => {
        const match = gazetteer.county(state, headOf(row.get('Locality Name')).head);
        return match.kind === 'code' ? [[row.get('Locality Code'), match.code]] : [];
      }),
  );
  const rows: RateRow[] = [];
  const cities = new Map<string, Map<string, string>>();
  for (const row of table) {
    const [code, name] = [row.get('Locality Code'), row.get('Locality Name')];
    if (COUNTY_CODE.test(code)) continue;
    report.read += 1;
    if (!CITY_CODE.test(code)) throw new RangeError(`line ${row.line}: no locality code "${code}"`);
    const county = byCode.get(row.get('County Code')) ?? '';
    if (county === '' && row.get('County Code') !== '') {
      report.miss(`${name} in ${row.get('County Code')}`);
      continue;
    }
    const place = joinedCity(context, name, gazetteer.city(state, name, county), county);
    if (place === null) continue;
    rows.push(rowOf(row, { level: 'city', county, place, name }, context));
    const own = cities.get(county) ?? new Map<string, string>();
    cities.set(county, own.set(place, name.toUpperCase()));
    if (row.get('PJ') === 'Y') {
      report.drop(`${name} police jurisdiction`, 'no boundary of it is published');
    }
  }
  for (const county of counties.values()) {
    rows.push(
      ...settled(
        county,
        new Map([...(cities.get('') ?? []), ...(cities.get(county.county) ?? [])]),
      ),
    );
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
