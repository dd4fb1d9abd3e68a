/**
 * South Carolina's form ST-575, a PDF of several pages, "(Rev. 2/5/26)": Municipality, County,
 * Local Taxes and Codes, the total rate, that of accommodations, and unprepared foods, with text in
 * cells of several lines. "Unincorporated" is a county outside its municipalities; * stands before
 * a municipality with a row for each of its counties. Columns are told by their places: the
 * headings of the first two confirm them on each page, and a row is where a percentage stands in
 * the fourth.
 */
import type { Rate } from '../../../tax/rate.js';
import {
  DATE_OPEN, type ListContext, type ListResult, percentOf, textOption,
} from '../../rates/list.js';
import { type PdfCell, pdfCells } from '../pdf-cells.js';
import { listedDay } from '../sheet.js';
import { countyOf, type Located, totalRates } from './located-totals.js';

const REVISED = /\(Rev\.\s*(\d{1,2}\/\d{1,2}\/\d{2,4})\)/;
const PERCENT = /^(\d+(?:\.\d+)?)%$/;
/** Points from the left where columns begin, the headings stand, and from the bottom the table. */
const STARTS = [33, 138, 207, 360, 405, 487] as const;
const HEADINGS = [['Municipality', 36], ['County', 140]] as const;
const HEADING_POINTS = 3;
const TABLE_BOTTOM = 35;
const TOTAL_COLUMN = 3;
/** A cell's lines stand so near the rate of their row. */
const ROW_POINTS = 12;

interface Row {
  readonly page: number;
  readonly y: number;
  readonly columns: string[];
}

function columnAt(x: number): number {
  return STARTS.findLastIndex((start) => x >= start);
}

/** Height of the header of a page. */
function headerOf(page: readonly PdfCell[]): number {
  const found = HEADINGS.map(([text, x]) => page.find((cell) =>
    cell.text === text && Math.abs(cell.x - x) <= HEADING_POINTS));
  const missing = HEADINGS[found.indexOf(undefined)]?.[0];
  if (missing === undefined) return Math.min(...found.map((cell) => cell?.y ?? 0));
  const [first] = page;
  throw new RangeError(`its layout is another: no heading "${missing}" in its place on page `
    + String(first?.page));
}

function rowsOf(page: readonly PdfCell[]): readonly Row[] {
  const top = headerOf(page) - HEADING_POINTS;
  const cells = page.filter(({ x, y }) => y < top && y > TABLE_BOTTOM && x >= STARTS[0]);
  const rows = cells.filter(({ x, text }) => columnAt(x) === TOTAL_COLUMN && PERCENT.test(text))
    .map(({ page: number, y }): Row => ({ page: number, y, columns: STARTS.map(() => '') }));
  for (const { x, y, text, page: number } of cells) {
    const nearest = rows.reduce<Row | null>((best, row) =>
      (best === null || Math.abs(row.y - y) < Math.abs(best.y - y) ? row : best), null);
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
  const located = pages.flatMap((page) => rowsOf(cells.filter((cell) => cell.page === page)))
    .map((row) => locatedOf(row, context)).filter((one) => one !== null);
  return totalRates(located, floor, { from: listedDay(day, 'Rev.'), to: DATE_OPEN }, context);
}
