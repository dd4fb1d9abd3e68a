/**
 * Rate lists that are published as pages: Louisiana's lookup, and the PDFs of New York and South
 * Carolina.
 */
import type { DateInt } from '../../../tax/date.js';
import { parsePercent, type Rate } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN,
  joined,
  joinedCity,
  type ListContext,
  listedRow,
  type ListResult,
  percentOf,
  textOption,
} from '../../rates/list.js';
import { pageText } from '../container.js';
import { type PdfCell, pdfCells, pdfLines } from '../pdf-cells.js';
import { listedDay } from '../workbook.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

/*
 * Louisiana's local rates: answers of the lookup for remote sellers, one page a parish, saved one
 * after the other. In each a list ddlJurisdiction with the parish chosen ("Acadia Parish (0100)"),
 * a list ddlFilingPeriod with the month chosen (MM-DD-YYYY), and a table grdRates: Jurisdiction
 * (Domicile Code), tax rate in percent, and three more. The rate is all that is levied locally: the
 * parish's outside its municipalities, a municipality's with the parish's part in it. The other
 * domiciles are districts of economic development, without a boundary.
 */

const PAGES = /(?=<select\b[^>]*\bid=["']ddlJurisdiction["'])/i;
const OPTION = /<option\b(?=[^>]*\bselected\b)[^>]*\bvalue=["']([^"']*)["'][^>]*>([^<]*)/i;
const TABLE = /<table\b[^>]*\bid=["']grdRates["'][^>]*>(.*?)<\/table>/is;
const ROW = /<tr\b[^>]*>(.*?)<\/tr>/gis;
const CELL = /<td\b[^>]*>(.*?)<\/td>/gis;
const DOMICILE = /^(.+?)\s*\((\d{4})\)$/;
const MUNICIPALITY = /^(?:(?:city|town|village) of (.+)|(.+?),? (?:city|town|village)(?: of)?)$/i;
const CELLS = 5;

interface Parish {
  readonly name: string;
  readonly county: string;
  readonly from: DateInt;
}

/** Value and text of the selected option in a list of a page. */
function chosen(page: string, id: string): readonly [string, string] {
  const list = new RegExp(`<select\\b[^>]*\\bid=["']${id}["'][^>]*>(.*?)</select>`, 'is');
  const [, value, text] = OPTION.exec(list.exec(page)?.[1] ?? '') ?? [];
  if (value === undefined) throw new RangeError(`its layout is another: nothing chosen in ${id}`);
  return [value, pageText(text ?? '')];
}

function rowOf(cells: readonly string[], parish: Parish, context: ListContext): RateRow | null {
  const { gazetteer, state, report } = context;
  const [, name, code] = DOMICILE.exec(cells[0] ?? '') ?? [];
  if (cells.length !== CELLS || name === undefined || code === undefined) {
    throw new RangeError(`${parish.name}: a row of another layout: ${cells.join(' | ')}`);
  }
  report.read += 1;
  const { from, county } = parish;
  const rate = percentOf((cells[1] ?? '').replace(/%$/, ''), `${parish.name}: ${name}`);
  const listed = { county, from, asOf: from };
  const [, before, behind] = MUNICIPALITY.exec(name) ?? [];
  const city = before ?? behind;
  if (code.endsWith('00') && /\bparish\b/i.test(name)) {
    report.joined += 1;
    return listedRow(context, rate, { ...listed, level: 'county', name });
  }
  if (city === undefined) {
    report.drop(`${name} (${code}) in ${parish.name}`, 'a district without a boundary');
    return null;
  }
  const place = joinedCity(context, city, gazetteer.city(state, city, county), county);
  if (place === null) return null;
  return listedRow(context, rate, { ...listed, level: 'city', place, name: city, basis: 'sole' });
}

/** Reads the pages. @throws RangeError where one names no parish or month, or lists no rate. */
export function readLouisiana(text: string, context: ListContext): ListResult {
  const pages = text.split(PAGES).slice(1);
  if (pages.length === 0) throw new RangeError('its layout is another: no list ddlJurisdiction');
  const rows = pages.flatMap((page) => {
    const name = chosen(page, 'ddlJurisdiction')[1].replace(/\s*\(\d{4}\)$/, '');
    const from = listedDay(chosen(page, 'ddlFilingPeriod')[0], name);
    const county = joined(context, name, context.gazetteer.county(context.state, name));
    const table = TABLE.exec(page)?.[1] ?? '';
    const listed = [...table.matchAll(ROW)]
      .map(([, row = '']) => [...row.matchAll(CELL)].map(([, cell = '']) => pageText(cell)))
      .filter((cells) => cells.length > 0);
    if (listed.length === 0) throw new RangeError(`${name}: no table grdRates with rates`);
    return county === null
      ? []
      : listed.map((cells) => rowOf(cells, { name, county, from }, context));
  });
  return { rows: rows.filter((row) => row !== null), members: [] };
}

/*
 * New York's Publication 718, a PDF of one page: "Effective March 1, 2025", then three columns of
 * a jurisdiction, its combined rate with eighths ("8⅞"), and a reporting code of four digits.
 * "County – except" stands above the cities of the county that have a rate of their own, "(city)"
 * behind each of them; * is a place in the commuter district, whose part the rate includes. The
 * boroughs point at New York City. Text of columns beside each other runs together, so that an
 * entry is looked for wherever a name, a rate and a code follow each other.
 */

const EIGHTHS = ['', '⅛', '¼', '⅜', '½', '⅝', '¾', '⅞'];
const ENTRY = /([A-Za-z*][A-Za-z .,'’()–*-]*?) (\d{1,2}) ?([⅛¼⅜½⅝¾⅞])? (\d{4})(?!\d)/g;
const EFFECTIVE = /Effective\s+([A-Za-z]+ \d{1,2}, ?\d{4})/;
const STATE_ONLY = 'New York State only';
/** The entry that boroughs refer to; text before it in a line belongs to another column. */
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

function jurisdictionOf({ name, rate, code }: Entry, context: ListContext): Located | null {
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
  const twice = entries.find(
    ({ code }, at) => entries.findIndex((other) => other.code === code) !== at,
  );
  if (twice !== undefined) throw new RangeError(`${twice.name}: code ${twice.code} stands twice`);
  const located = entries
    .filter(({ name }) => name !== STATE_ONLY)
    .map((entry) => jurisdictionOf(entry, context))
    .filter((one) => one !== null);
  const period = { from: listedDay(day, 'Effective'), to: DATE_OPEN };
  return totalRates(located, floor, period, context);
}

/*
 * South Carolina's form ST-575, a PDF of several pages, "(Rev. 2/5/26)": Municipality, County,
 * Local Taxes and Codes, the total rate, that of accommodations, and unprepared foods, with text in
 * cells of several lines. "Unincorporated" is a county outside its municipalities; * stands before
 * a municipality with a row for each of its counties. Columns are told by their places: the
 * headings of the first two confirm them on each page, and a row is where a percentage stands in
 * the fourth.
 */

const REVISED = /\(Rev\.\s*(\d{1,2}\/\d{1,2}\/\d{2,4})\)/;
const PERCENT = /^(\d+(?:\.\d+)?)%$/;
/**
 * Positions in points: where columns begin from the left, where the headings stand, and the table
 * from the bottom.
 */
const STARTS = [33, 138, 207, 360, 405, 487] as const;
const HEADINGS = [
  ['Municipality', 36],
  ['County', 140],
] as const;
const HEADING_POINTS = 3;
const TABLE_BOTTOM = 35;
const TOTAL_COLUMN = 3;
/** The lines of a cell are within this distance of its row's rate. */
const ROW_POINTS = 12;

interface Row {
  readonly page: number;
  readonly y: number;
  readonly columns: string[];
}

function columnAt(x: number): number {
  return STARTS.findLastIndex((start) => x >= start);
}

/** Position of a page's header from the bottom. */
function headerOf(page: readonly PdfCell[]): number {
  const found = HEADINGS.map(([text, x]) =>
    page.find((cell) => cell.text === text && Math.abs(cell.x - x) <= HEADING_POINTS),
  );
  const missing = HEADINGS[found.indexOf(undefined)]?.[0];
  if (missing === undefined) return Math.min(...found.map((cell) => cell?.y ?? 0));
  const [first] = page;
  throw new RangeError(
    `its layout is another: no heading "${missing}" in its place on page ` + String(first?.page),
  );
}

function rowsOf(page: readonly PdfCell[]): readonly Row[] {
  const top = headerOf(page) - HEADING_POINTS;
  const cells = page.filter(({ x, y }) => y < top && y > TABLE_BOTTOM && x >= STARTS[0]);
  const rows = cells
    .filter(({ x, text }) => columnAt(x) === TOTAL_COLUMN && PERCENT.test(text))
    .map(({ page: number, y }): Row => ({ page: number, y, columns: STARTS.map(() => '') }));
  for (const { x, y, text, page: number } of cells) {
    const nearest = rows.reduce<Row | null>(
      (best, row) => (best === null || Math.abs(row.y - y) < Math.abs(best.y - y) ? row : best),
      null,
    );
    if (nearest === null || Math.abs(nearest.y - y) > ROW_POINTS) {
      throw new RangeError(`page ${number}: "${text}" stands in no row`);
    }
    const column = columnAt(x);
    nearest.columns[column] = `${nearest.columns[column] ?? ''} ${text}`.trim();
  }
  return rows;
}

function locatedOf(row: Row, context: ListContext): Located | null {
  const [listed = '', within = '', , total = ''] = row.columns;
  const where = `page ${row.page}: ${listed} in ${within}`;
  const [, percent = ''] = PERCENT.exec(total) ?? [];
  const rate: Rate = percentOf(percent, where);
  if (listed === '' || within === '') throw new RangeError(`${where}: a row without its place`);
  const county = countyOf(within, context);
  if (county === '') {
    context.report.miss(`${listed} in ${within}`);
    return null;
  }
  const kind = listed === 'Unincorporated' ? 'county' : 'city';
  return { where, name: listed.replace(/^\*\s*/, ''), county, kind, sales: rate, use: rate };
}

/** Reads the list. Option `state`: its part in percent. @throws RangeError for another layout. */
export function readSouthCarolina(text: string, context: ListContext): ListResult {
  const floor = percentOf(textOption(context, 'state'), 'option state');
  const cells = pdfCells(text);
  const [, day] = REVISED.exec(cells.map((cell) => cell.text).join(' ')) ?? [];
  if (day === undefined) throw new RangeError('its layout is another: no "(Rev. M/D/YY)"');
  const pages = [...new Set(cells.map(({ page }) => page))];
  const located = pages
    .flatMap((page) => rowsOf(cells.filter((cell) => cell.page === page)))
    .map((row) => locatedOf(row, context))
    .filter((one) => one !== null);
  return totalRates(located, floor, { from: listedDay(day, 'Rev.'), to: DATE_OPEN }, context);
}
