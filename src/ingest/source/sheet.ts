/** Sheets that are read by the letters of their columns, which their header has to confirm. */
import { type DateInt, dateOf, dateOfNumber, dayNumber } from '../../tax/date.js';
import { sheetRows } from './rows.js';
import { columnOf } from './workbook.js';

/** A row below the header, by the letters of its columns; a cell that is not there reads as "". */
export interface SheetRow {
  /** Number of the row in the sheet, from one. */
  readonly line: number;
  at(column: string): string;
}

export interface Sheet {
  /** Cells of the rows above the header, in order. */
  readonly titles: readonly string[];
  readonly rows: readonly SheetRow[];
}

/** Rows that titles may take above a header. */
const TITLE_ROWS_MAX = 40;

function plain(text: string): string {
  return text.replaceAll(/\s+/g, '').toLowerCase();
}

/**
 * The rows of a sheet below the first one that bears each name in its column, whatever its case
 * and blanks; empty rows are left out.
 * @throws RangeError with the column that has another name in the row most like the header.
 */
export function sheetBelow(text: string, columns: Readonly<Record<string, string>>): Sheet {
  const cells = sheetRows(text);
  const at = (row: readonly string[], column: string): string =>
    (row[columnOf(column)] ?? '').trim();
  const names = Object.entries(columns);
  const wrong = cells.slice(0, TITLE_ROWS_MAX).map((row) =>
    names.filter(([column, name]) => plain(at(row, column)) !== plain(name)));
  const fewest = Math.min(...wrong.map(({ length }) => length));
  const header = wrong.findIndex(({ length }) => length === fewest);
  const [column = '', name = ''] = wrong[header]?.[0] ?? [];
  if (header < 0 || column !== '') {
    const found = column === '' ? '' : at(cells[header] ?? [], column);
    throw new RangeError(`its layout is another: column ${column} is `
      + `"${found.slice(0, 60)}", not "${name}"`);
  }
  const rows = cells.slice(header + 1).map((row, index): SheetRow =>
    ({ line: header + index + 2, at: (letters) => at(row, letters) }));
  return {
    titles: cells.slice(0, header).flat().map((cell) => cell.trim()).filter((cell) => cell !== ''),
    rows: rows.filter(({ line }) => (cells[line - 1] ?? []).some((cell) => cell.trim() !== '')),
  };
}

// Days as cells have them.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const NUMBERS = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})$/;
const WORDS = /^([A-Za-z]{3,9})\.? (\d{1,2}), ?(\d{4})$/;
/** Excel's serial numbers of days from 1954 to 2173. */
const SERIAL_MIN = 20_000;
const SERIAL_MAX = 100_000;
const SERIAL_ZERO = dayNumber(18991230 as DateInt);

function serialDay(serial: number): DateInt | null {
  return serial < SERIAL_MIN || serial > SERIAL_MAX ? null : dateOfNumber(SERIAL_ZERO + serial);
}

/**
 * Reads a day: Excel's serial number, M/D/YYYY with slashes or hyphens, or "July 1, 2026".
 * @throws RangeError with `where` for what is none.
 */
export function listedDay(text: string, where: string): DateInt {
  const [, month = '', day = '', year = ''] = NUMBERS.exec(text) ?? [];
  const [, word = '', number = '', of = ''] = WORDS.exec(text) ?? [];
  const date = /^\d{5}$/.test(text) ? serialDay(Number(text))
    : year !== '' ? dateOf(Number(year.padStart(4, '20')), Number(month), Number(day))
    : word !== '' ? dateOf(Number(of), MONTHS.indexOf(word.slice(0, 3).toLowerCase()) + 1,
      Number(number))
    : null;
  if (date === null) throw new RangeError(`${where}: not a day: ${text}`);
  return date;
}
