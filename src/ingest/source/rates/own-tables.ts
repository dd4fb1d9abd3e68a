/**
 * Rates and facts in the project's own tables, below datasets/facts. Rates: state, level, county,
 * place, name, code, basis, sales, use (decimal fractions), from, to (YYYY-MM-DD, "" for open),
 * source, as_of, note; where a rate is one of a season, season ("October 1 through March 31").
 */
import { type Level, LEVELS } from '../../../tax/jurisdiction.js';
import { type Rate, RATE_ZERO } from '../../../tax/rate.js';
import { parseYearlyDays } from '../../../tax/yearly-days.js';
import type { RateRow } from '../../model.js';
import type { DistrictMember } from '../../rates/facts.js';
import {
  DATE_MIN,
  DATE_OPEN,
  fractionOf,
  type ListContext,
  listDate,
  type ListResult,
} from '../../rates/list.js';
import { readTable, type TableRow } from '../table-text.js';

const BASES: readonly RateRow['basis'][] = ['own', 'total', 'sole', 'unknown'];
const SCOPES: readonly DistrictMember['scope'][] = ['state', 'county', 'remainder', 'place'];

/** The cell of a column, which must be one of these words. @throws RangeError for any other. */
export function oneOf<T extends string>(words: readonly T[], row: TableRow, column: string): T {
  const found = words.find((word) => word === row.get(column));
  if (found === undefined) throw new RangeError(`line ${row.line}: ${column}: ${row.get(column)}`);
  return found;
}

/** Years for which a season is written out; after them, the rate without a season applies. */
const SEASON_YEARS = 20;

/** A row with a season (column `season`, "October 1 through March 31"), once for each year. */
function seasons(row: RateRow, words: string, where: string): readonly RateRow[] {
  if (words === '') return [row];
  const days = parseYearlyDays(words);
  if (days === null) throw new RangeError(`${where}: season: ${words}`);
  const first = Math.floor(row.from / 10_000) - 1;
  return Array.from({ length: SEASON_YEARS }, (_, at) => days(first + at)).flatMap((span) => {
    if (span === null || span.to < row.from || span.from > row.to) return [];
    const from = span.from < row.from ? row.from : span.from;
    return [{ ...row, from, to: span.to > row.to ? row.to : span.to }];
  });
}

/** Reads a rate table; `sourceOf` gives a source's index by its name. */
function readRateFacts(text: string, sourceOf: (name: string) => number): readonly RateRow[] {
  return readTable(text, '\t').flatMap((row): readonly RateRow[] => {
    const basis = oneOf(BASES, row, 'basis');
    const where = `line ${row.line}`;
    const rate = (column: string): Rate =>
      basis === 'unknown' ? RATE_ZERO : fractionOf(row.get(column), where);
    const level: Level = oneOf(LEVELS, row, 'level');
    return seasons(
      {
        state: row.get('state'),
        level,
        county: row.get('county'),
        place: row.get('place'),
        name: row.get('name'),
        code: row.get('code'),
        basis,
        sales: rate('sales'),
        use: rate('use'),
        from: listDate(row.get('from'), DATE_MIN),
        to: listDate(row.get('to'), DATE_OPEN),
        source: sourceOf(row.get('source')),
        asOf: listDate(row.get('as_of'), DATE_MIN),
        ...(basis === 'unknown' ? { note: row.get('note') } : {}),
      },
      row.get('season'),
      where,
    );
  });
}

/** Digits of a place's code; a town's has ten. */
const PLACE_DIGITS = 7;

/**
 * Reads a rate table as a list of a recipe. A city without a place, or whose place has no boundary
 * in the build, is recorded as unplaced, because its land is unknown.
 */
export function readFactTable(
  text: string,
  { gazetteer, sourceOf, report }: ListContext,
): ListResult {
  const all = readRateFacts(text, sourceOf);
  const rows = all.filter(({ state, level, name, county, place, basis, sales, use }) => {
    if (level !== 'city' || place.length > PLACE_DIGITS) return true;
    if (gazetteer.place(place) !== undefined) return true;
    // A city that levies nothing of its own makes no difference wherever it lies.
    if (basis !== 'own' || sales > 0 || use > 0) report.unplace(state, name, place, county);
    return false;
  });
  report.read = all.length;
  report.joined = rows.length;
  return { rows, members: [] };
}

/** Reads a table of district members: `except` holds place codes between blanks. */
export function readMemberFacts(text: string): readonly DistrictMember[] {
  return readTable(text, '\t').map(
    (row): DistrictMember => ({
      state: row.get('state'),
      code: row.get('code'),
      scope: oneOf(SCOPES, row, 'scope'),
      county: row.get('county'),
      place: row.get('place'),
      except: row
        .get('except')
        .split(' ')
        .filter((code) => code !== ''),
      from: listDate(row.get('from'), DATE_MIN),
      to: listDate(row.get('to'), DATE_OPEN),
    }),
  );
}
