/**
 * Streamlined Sales Tax rate file: nine columns, no header, with rates that have ended: all of them
 * in some states, in others those of the last years alone (Minnesota: five), which the completeness
 * mark knows. Columns: state FIPS, jurisdiction type, code, general rate (intrastate, interstate),
 * food and drug rate (the same two), first and last day. Types: 45 state, 00 county, 01 to 09
 * municipalities, 63 and 69 districts. Only the general rate is read here. What a number means
 * differs between states, and so does whether a city's rate adds to its county's. Options: `cities`
 * "sole", where it stands in the county's place; `districts`, further types that are districts of
 * their own; `without`, types that are left out: combinations of jurisdictions that are listed
 * themselves (Kansas 79), reservations whose rate replaces the state's (South Dakota 49), districts
 * listed with their county's rate in theirs (Nevada 63); `stateDiffers`, types of districts in
 * which the state's own rate is another, so that nothing adds up (Nebraska 63, good life districts:
 * Neb. Rev. Stat. 77-2701.02(6)).
 */
import type { DateInt } from '../../../tax/date.js';
import type { Level } from '../../../tax/jurisdiction.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN,
  fractionOf,
  type ListContext,
  listDate,
  listedRow,
  listOption,
  type ListResult,
  textOption,
  UNKNOWN_RATE,
} from '../../rates/list.js';
import { splitRows } from '../table-text.js';

const LEVELS = new Map<string, Level>([
  ['45', 'state'],
  ['00', 'county'],
  ['01', 'city'],
  ['02', 'city'],
  ['03', 'city'],
  ['04', 'city'],
  ['05', 'city'],
  ['09', 'city'],
  ['63', 'district'],
  ['69', 'district'],
]);

interface Jurisdiction {
  readonly county: string;
  readonly place: string;
  readonly name: string;
  readonly code: string;
}

/** The level of a type in a state; undefined for one without a general rate. */
function levelOf(type: string, context: ListContext): Level | undefined {
  if (listOption(context, 'without').includes(type)) return undefined;
  return listOption(context, 'districts').includes(type) ? 'district' : LEVELS.get(type);
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
    case 'state':
      return { county: '', place: '', name: '', code: '' };
    case 'district':
      return { county: '', place: '', name: '', code };
    case 'county': {
      const county = `${fips}${code.slice(-3).padStart(3, '0')}`;
      const fact = gazetteer.countyFact(county);
      if (!fact) report.miss(label);
      return fact ? { county, place: '', name: fact.fullName, code: '' } : null;
    }
    case 'city': {
      // States may code the part of a city in another county unlike any place, and codes of towns
      // are not places' codes, so aliases by code are tried.
      const aliased = gazetteer.city(state, `#${code.padStart(5, '0')}`, '');
      if (aliased.kind === 'dropped') {
        report.drop(label, aliased.why);
        return null;
      }
      const target = aliased.kind === 'code' ? aliased.code : `${fips}${code.padStart(5, '0')}`;
      const [place = '', county = ''] = target.split('@');
      const fact = gazetteer.municipality(place);
      if (!fact) {
        if (zero) report.drop(label, 'a zero of a jurisdiction that is no place held');
        else report.miss(label);
        return null;
      }
      return { county, place, name: fact.name, code: '' };
    }
  }
}

/** Number of columns; some states end their rows with a comma. */
const COLUMNS = 9;

/** The cells of a row. @throws RangeError where the file is not laid out as the standard says. */
function cellsOf(cells: readonly string[], line: number): readonly string[] {
  const [fips = '', type = '', , general = ''] = cells.map((cell) => cell.trim());
  const right = cells.length >= COLUMNS && cells.slice(COLUMNS).every((cell) => cell.trim() === '');
  if (right && /^\d{1,2}$/.test(fips) && /^\d{1,2}$/.test(type) && !/[a-z]{2}/i.test(general)) {
    return cells.map((cell) => cell.trim());
  }
  throw new RangeError(
    `row ${line} is none of a rate file of ${COLUMNS} columns: ` +
      cells
        .slice(0, COLUMNS + 1)
        .join(',')
        .slice(0, 80),
  );
}

/** Whether a type is neither municipality, county nor state; their codes share one namespace. */
function isDistrictType(type: string): boolean {
  const level = LEVELS.get(type);
  return level === undefined || level === 'district';
}

/** Codes of districts that occur with several types. */
function severalTypes(lines: readonly (readonly string[])[]): ReadonlySet<string> {
  const types = new Map<string, string>();
  const several = new Set<string>();
  for (const [, number = '', written = ''] of lines) {
    const [type, code] = [number.trim().padStart(2, '0'), written.trim()];
    if (!isDistrictType(type)) continue;
    if ((types.get(code) ?? type) !== type) several.add(code);
    types.set(code, type);
  }
  return several;
}

/** Used as the rate where it does not add to the state's. */
function unclear(code: string): Pick<RateRow, 'basis' | 'sales' | 'use' | 'note'> {
  const note = `In the district ${code} the state's own rate is another, which is not held.`;
  return { ...UNKNOWN_RATE, note };
}

/** Some states write "no end" as a day in 2078 or 2099. */
const OPEN_FROM = 20780101;

function lastDay(text: string): DateInt {
  const date = listDate(text, DATE_OPEN);
  return date >= OPEN_FROM ? DATE_OPEN : date;
}

/** Reads a rate file. @throws RangeError where its layout is another, or it has no rows. */
export function readSst(text: string, context: ListContext): ListResult {
  const rows: RateRow[] = [];
  const cities = textOption(context, 'cities') === 'sole' ? 'sole' : 'own';
  const lines = splitRows(text, ',');
  if (lines.length === 0) throw new RangeError('the rate file has no rows');
  const several = severalTypes(lines);
  const differs = listOption(context, 'stateDiffers');
  for (const [at, line] of lines.entries()) {
    const cells = cellsOf(line, at + 1);
    const [fips = '', number = '', code = '', general = '', , , , first = '', last = ''] = cells;
    context.report.read += 1;
    const type = number.padStart(2, '0');
    if (general === '') {
      context.report.drop(`${type} ${code}`, 'no rate');
      continue;
    }
    const level = levelOf(type, context);
    if (!level) {
      context.report.drop(`${type} ${code}`, 'a type that carries no general rate');
      continue;
    }
    if (level === 'district' && several.has(code)) {
      context.report.drop(`${type} ${code}`, 'a code of several types: which is meant is not told');
      continue;
    }
    const rate = fractionOf(general, `${type} ${code}`);
    // Files list every town with zero, so a town that matches no place makes no difference.
    const found = jurisdiction(level, fips.padStart(2, '0'), code, context, rate === 0);
    if (!found) continue;
    context.report.joined += 1;
    rows.push(
      listedRow(context, rate, {
        level,
        ...found,
        basis: level === 'city' ? cities : 'own',
        ...(differs.includes(type) ? unclear(code) : {}),
        from: listDate(first, context.asOf),
        to: lastDay(last),
      }),
    );
  }
  return { rows: rows.sort((a, b) => a.from - b.from), members: [] };
}
