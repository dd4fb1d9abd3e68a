/**
 * New York's Publication 718, a PDF of one page: "Effective March 1, 2025", then three columns of a
 * jurisdiction, its combined rate with eighths ("8⅞"), and a reporting code of four digits. "County
 * – except" stands above the cities of the county that have a rate of their own, "(city)" behind
 * each of them; * is a place in the commuter district, whose part the rate includes. The boroughs
 * point at New York City. Text of columns beside each other runs together, so that an entry is
 * looked for wherever a name, a rate and a code follow each other.
 */
import { parsePercent, type Rate } from '../../../tax/rate.js';
import {
  DATE_OPEN, type ListContext, type ListResult, percentOf, textOption,
} from '../../rates/list.js';
import { pdfCells, pdfLines } from '../pdf-cells.js';
import { listedDay } from '../sheet.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

const EIGHTHS = ['', '⅛', '¼', '⅜', '½', '⅝', '¾', '⅞'];
const ENTRY = /([A-Za-z*][A-Za-z .,'’()–*-]*?) (\d{1,2}) ?([⅛¼⅜½⅝¾⅞])? (\d{4})(?!\d)/g;
const EFFECTIVE = /Effective\s+([A-Za-z]+ \d{1,2}, ?\d{4})/;
const STATE_ONLY = 'New York State only';
/** What boroughs point at; what stands before it in a line is another column's. */
const CITY = 'New York City';

interface Entry {
  readonly name: string;
  readonly rate: Rate;
  readonly code: string;
}

function nameOf(listed: string): string {
  const behind = listed.slice(listed.lastIndexOf(CITY) + CITY.length);
  const own = listed.includes(CITY) && behind.trim() !== '' ? behind : listed;
  return own.replace(/^[\s*]+/, '').trim();
}

function entriesOf(text: string): readonly Entry[] {
  return [...text.matchAll(ENTRY)].map(([, listed = '', whole = '', eighth = '', code = '']) => {
    const rate = parsePercent(`${whole}.${String(EIGHTHS.indexOf(eighth) * 125).padStart(3, '0')}`);
    if (rate === null) throw new RangeError(`${listed}: not a rate: ${whole}${eighth}`);
    return { name: nameOf(listed), rate, code };
  });
}

function locatedOf({ name, rate, code }: Entry, context: ListContext): Located | null {
  const rates = { sales: rate, use: rate };
  const [, city] = /^(.*?) \(city\)$/i.exec(name) ?? [];
  const where = `code ${code}`;
  if (city !== undefined || name === CITY) {
    return { where, name: city ?? name, county: '', kind: 'city', ...rates };
  }
  const listed = name.replace(/\s*[–-]\s*except$/i, '');
  const county = countyOf(listed, context);
  if (county !== '') return { where, name: listed, county, kind: 'county', ...rates };
  context.report.miss(name);
  return null;
}

/**
 * Reads the list. Option `state`: its part in percent, which the list has to confirm.
 * @throws RangeError where it names no day, another rate of the state, or a code twice.
 */
export function readNewYork(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const whole = pdfLines(pdfCells(text)).join('\n');
  const [, day] = EFFECTIVE.exec(whole) ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "Effective <day>"');
  const entries = entriesOf(whole);
  const state = entries.find(({ name }) => name === STATE_ONLY);
  if (state?.rate !== floor) {
    throw new RangeError(`its layout is another: "${STATE_ONLY}" is not ${floor / 1e7} %`);
  }
  const twice = entries.find(({ code }, at) =>
    entries.findIndex((other) => other.code === code) !== at);
  if (twice !== undefined) throw new RangeError(`${twice.name}: code ${twice.code} stands twice`);
  const located = entries.filter(({ name }) => name !== STATE_ONLY)
    .map((entry) => locatedOf(entry, context)).filter((one) => one !== null);
  const period = { from: listedDay(day, 'Effective'), to: DATE_OPEN };
  return totalRates(located, floor, period, context);
}
