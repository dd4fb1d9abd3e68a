/**
 * Texas' quarterly file of the Comptroller (taxrates.txt): tab-separated. The first line names the
 * quarter ("1", YYYYQ, YYYYMM, "2026 - 3rd", the state's rate, …), lines of due dates follow, whose
 * second field is q or m, then one line an area of four triples of name, code and rate: what stands
 * in the city's place, the county, and two more; "n/a" where there is none. What a code is says its
 * first digit, never its place: 2 city, 3 transit, 4 county, 5 special purpose district, 6 combined
 * area. Sources differ on the order of the last two triples.
 */
import { type DateInt, dateOf } from '../../../tax/date.js';
import type { Rate } from '../../../tax/rate.js';
import { fractionOf, type ListContext, type ListResult } from '../../rates/list.js';
import { splitRows } from '../rows.js';
import { type TexasEntry, texasRates } from './texas.js';
import type { TexasArea } from './texas-areas.js';

const TRIPLES = 4;
const CODE = /^[2-6]\d{6}$/;

interface Part {
  readonly name: string;
  /** "" for none. */
  readonly code: string;
  readonly rate: Rate;
}

/** First day of the quarter that the first line names. */
function firstDay(cells: readonly string[]): DateInt {
  const [mark = '', quarter = '', month = ''] = cells;
  const found = /^(\d{4})([1-4])$/.exec(quarter);
  const [, year = '', number = ''] = found ?? [];
  const date = found && dateOf(Number(year), Number(month.slice(4)), 1);
  const right = mark === '1' && date !== null && month.startsWith(year)
    && Number(month.slice(4)) === Number(number) * 3 - 2;
  if (right) return date;
  throw new RangeError(`its first line names no quarter: ${cells.slice(0, 4).join(', ')}`);
}

function partsOf(cells: readonly string[], line: number): readonly Part[] {
  if (cells.length < TRIPLES * 3) {
    throw new RangeError(`line ${line} has ${cells.length} fields, an area has ${TRIPLES * 3}`);
  }
  return [...Array(TRIPLES).keys()].map((at): Part => {
    const [name = '', listed = '', rate = ''] = cells.slice(at * 3, at * 3 + 3);
    const code = /^(?:n\/a)?$/i.test(listed) ? '' : listed;
    if (code === '') return { name, code, rate: 0 as Rate };
    if (!CODE.test(code)) throw new RangeError(`line ${line}: "${code}" is no local code`);
    return { name, code, rate: fractionOf(rate, `line ${line}: ${name}`) };
  });
}

/** A code has one rate; two would be a slip of the list, and neither is picked. */
function addCodes(
  entries: Map<string, TexasEntry>, parts: readonly Part[], line: number, from: DateInt,
  context: ListContext,
): void {
  for (const { name, code, rate } of parts) {
    const known = entries.get(code);
    if (known !== undefined && known.rate !== rate) {
      throw new RangeError(`line ${line}: ${code} has another rate than before`);
    }
    if (code === '' || known !== undefined) continue;
    const county = code.startsWith('4') ? `${name.replace(/ (?:Co|County)$/, '')} County` : name;
    entries.set(code, { name: county, code, place: '', rate, from, asOf: context.asOf });
  }
}

function areaOf(parts: readonly Part[], context: ListContext): TexasArea | null {
  const [own, county] = parts as readonly [Part, Part];
  const name = county.name.replace(/ (?:Co|County)$/, '');
  const match = context.gazetteer.county(context.state, `${name} County`);
  if (match.kind !== 'code') {
    context.report.miss(`area ${own.name} in ${county.name}`);
    return null;
  }
  const codes = parts.map(({ code }) => code);
  const kind = (digits: string): readonly string[] =>
    codes.filter((code) => code !== '' && digits.includes(code[0] ?? ''));
  return {
    name: own.name, county: match.code, city: kind('26')[0] ?? '', countyCode: kind('4')[0] ?? '',
    districts: [...kind('35')].sort(),
  };
}

/**
 * Reads the file. Option `placed`: districts whose members are facts.
 * @throws RangeError naming the line where the layout is another, or a code has two rates.
 */
export function readTexasQuarter(text: string, context: ListContext): ListResult {
  const [first = [], ...lines] = splitRows(text, '\t').map((cells) =>
    cells.map((cell) => cell.replace(/^"(.*)"$/, '$1').trim()));
  const from = firstDay(first);
  const entries = new Map<string, TexasEntry>();
  const areas: TexasArea[] = [];
  for (const [index, cells] of lines.entries()) {
    if (/^[qm]$/i.test(cells[1] ?? '')) continue;
    const parts = partsOf(cells, index + 2);
    addCodes(entries, parts, index + 2, from, context);
    const area = areaOf(parts, context);
    if (area !== null) areas.push(area);
  }
  if (areas.length === 0) throw new RangeError('it lists no area');
  return texasRates([...entries.values()], areas, context);
}
