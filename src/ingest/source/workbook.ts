/**
 * Sheets of workbooks (xlsx, Office Open XML) as rows of texts. Numbers have the fifteen digits
 * that Excel shows, without exponent; days remain serial numbers.
 */
import Papa from 'papaparse';
import sax from 'sax';
import { FIVE_DIGITS } from '../../base/patterns.js';
import { type DateInt, dateOf, dateOfNumber, dayNumber } from '../../tax/date.js';
import { sheetRows } from './table-text.js';
import { fileError, hasMember, nameExpression, zipMember } from './zip.js';

/** Largest sheet: what Excel itself allows. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
/** Most bytes of a part of a workbook, after decompression. */
const PART_BYTES_MAX = 256 * 1_048_576;
const NUMBER_DIGITS = 15;
const SHARED_TEXTS = 'xl/sharedStrings.xml';

interface Handlers {
  readonly open: (name: string, attributes: Readonly<Record<string, string>>) => void;
  readonly close: (name: string) => void;
  readonly text: (text: string) => void;
}

/** Parses a part while it is decompressed; the prefixes of names are removed. */
async function parsePart(file: string, part: string, handlers: Handlers): Promise<void> {
  const parser = sax.parser(true);
  const local = (name: string): string => name.slice(name.indexOf(':') + 1);
  parser.onopentag = ({ name, attributes }) =>
    handlers.open(local(name), attributes as Record<string, string>);
  parser.onclosetag = (name) => handlers.close(local(name));
  parser.ontext = handlers.text;
  parser.oncdata = handlers.text;
  parser.onerror = (error) => {
    throw fileError(file, `${part}: ${error.message.replaceAll('\n', ', ')}`);
  };
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of zipMember(file, part)) {
    bytes += chunk.length;
    if (bytes > PART_BYTES_MAX) {
      throw fileError(file, `${part} has more than ${PART_BYTES_MAX} bytes`);
    }
    parser.write(decoder.decode(chunk, { stream: true }));
  }
  parser.write(decoder.decode()).close();
}

/** Names of the sheets of a workbook, in order, with the parts that contain them. */
async function sheetsOf(file: string): Promise<readonly { name: string; part: string }[]> {
  const targets = new Map<string, string>();
  const none = (): void => undefined;
  await parsePart(file, 'xl/_rels/workbook.xml.rels', {
    open: (name, { Id = '', Target = '' }) => {
      if (name === 'Relationship') targets.set(Id, Target);
    },
    close: none,
    text: none,
  });
  const sheets: { name: string; part: string }[] = [];
  await parsePart(file, 'xl/workbook.xml', {
    open: (name, attributes) => {
      if (name !== 'sheet') return;
      const target = targets.get(attributes['r:id'] ?? '') ?? '';
      const part = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
      sheets.push({ name: attributes['name'] ?? '', part });
    },
    close: none,
    text: none,
  });
  return sheets;
}

/** Texts that several cells share. A workbook without any has no such part. */
async function sharedTexts(file: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let [text, inside, phonetic] = ['', false, false];
  if (!(await hasMember(file, SHARED_TEXTS))) return texts;
  await parsePart(file, SHARED_TEXTS, {
    open: (name) => {
      if (name === 'si') text = '';
      if (name === 't') inside = true;
      if (name === 'rPh') phonetic = true;
    },
    close: (name) => {
      if (name === 't') inside = false;
      if (name === 'rPh') phonetic = false;
      if (name === 'si') texts.push(text);
    },
    text: (more) => {
      if (inside && !phonetic) text += more;
    },
  });
  return texts;
}

/**
 * Number of a column from zero, by its letters, also at the beginning of a cell's name: "B12" → 1.
 */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]+/.exec(reference)?.[0] ?? '') {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return column - 1;
}

/** A number as Excel shows it; the file has 0.0725 as 7.2499999999999995E-2. */
export function decimalText(raw: string): string {
  if (/^-?\d{1,15}$/.test(raw) || raw === '') return raw;
  const value = Number(raw);
  if (!Number.isFinite(value)) return raw;
  const short = Number(value.toPrecision(NUMBER_DIGITS));
  const text = String(short);
  return text.includes('e') ? short.toFixed(20).replace(/\.?0+$/, '') : text;
}

interface Cell {
  column: number;
  type: string;
  value: string;
}

function cellText({ type, value }: Cell, shared: readonly string[]): string {
  switch (type) {
    case 's':
      return shared[Number(value)] ?? '';
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'str':
    case 'inlineStr':
    case 'e':
    case 'd':
      return value;
    default:
      return decimalText(value);
  }
}

async function rowsOf(file: string, part: string): Promise<string[][]> {
  const shared = await sharedTexts(file);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell: Cell | null = null;
  let inside = false;
  await parsePart(file, part, {
    open: (name, { r = '', t = 'n' }) => {
      if (name === 'row') {
        const number = Number(r === '' ? rows.length + 1 : r);
        if (!(number > rows.length && number <= ROWS_MAX)) {
          throw fileError(file, `${part}: row ${r} is out of order`);
        }
        while (rows.length < number - 1) rows.push([]);
        row = [];
      } else if (name === 'c') {
        cell = { column: r === '' ? row.length : columnOf(r), type: t, value: '' };
      }
      inside = name === 'v' || name === 't';
    },
    close: (name) => {
      if (name === 'row') rows.push(row);
      if (name === 'c' && cell !== null) {
        if (cell.column < 0 || cell.column >= COLUMNS_MAX) {
          throw fileError(file, `${part}: a cell without a column`);
        }
        while (row.length < cell.column) row.push('');
        row[cell.column] = cellText(cell, shared);
        cell = null;
      }
      inside = false;
    },
    text: (more) => {
      if (inside && cell !== null) cell.value += more;
    },
  });
  return rows;
}

/**
 * Rows of a sheet, at their positions even where empty rows precede them. The sheet is the first
 * one, or the one whose name matches (* for any text).
 * @throws Error with the file and the reason.
 */
async function readSheet(file: string, sheet: string | null): Promise<string[][]> {
  const sheets = await sheetsOf(file);
  const expression = sheet === null ? null : nameExpression(sheet);
  const found = sheets.find(({ name }) => expression === null || expression.test(name.trim()));
  if (found === undefined) {
    const names = sheets.map(({ name }) => name).join(', ') || 'none';
    throw fileError(file, `it has no sheet "${sheet ?? ''}", but: ${names}`);
  }
  return rowsOf(file, found.part);
}

/** A sheet as comma-separated text, with quotes where they are needed. */
export async function sheetText(file: string, sheet: string | null): Promise<string> {
  return `${Papa.unparse(await readSheet(file, sheet), { newline: '\n' })}\n`;
}

/** Sheets that are read by the letters of their columns; the header has to confirm these. */

/** A row below the header, by column letters; a missing cell reads as "". */
export interface SheetRow {
  /** Number of the row in the sheet, from one. */
  readonly line: number;
  at(column: string): string;
}

interface Sheet {
  /** Cells of the rows above the header, in order. */
  readonly titles: readonly string[];
  readonly rows: readonly SheetRow[];
}

/** Most rows of titles above a header. */
const TITLE_ROWS_MAX = 40;

function plain(text: string): string {
  return text.replaceAll(/\s+/g, '').toLowerCase();
}

/**
 * The rows below the first row that has each name in its column, regardless of case and blanks;
 * empty rows are left out.
 * @throws RangeError with the column that differs in the row most similar to the header.
 */
export function sheetBelow(text: string, columns: Readonly<Record<string, string>>): Sheet {
  const cells = sheetRows(text);
  const at = (row: readonly string[], column: string): string =>
    (row[columnOf(column)] ?? '').trim();
  const names = Object.entries(columns);
  const wrong = cells
    .slice(0, TITLE_ROWS_MAX)
    .map((row) => names.filter(([column, name]) => plain(at(row, column)) !== plain(name)));
  const fewest = Math.min(...wrong.map(({ length }) => length));
  const header = wrong.findIndex(({ length }) => length === fewest);
  const [column = '', name = ''] = wrong[header]?.[0] ?? [];
  if (header < 0 || column !== '') {
    const found = column === '' ? '' : at(cells[header] ?? [], column);
    throw new RangeError(
      `its layout is another: column ${column} is ` + `"${found.slice(0, 60)}", not "${name}"`,
    );
  }
  const rows = cells
    .slice(header + 1)
    .map(
      (row, index): SheetRow => ({ line: header + index + 2, at: (letters) => at(row, letters) }),
    );
  return {
    titles: cells
      .slice(0, header)
      .flat()
      .map((cell) => cell.trim())
      .filter((cell) => cell !== ''),
    rows: rows.filter(({ line }) => (cells[line - 1] ?? []).some((cell) => cell.trim() !== '')),
  };
}

// Days in cells.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Number of the month whose name a word begins, in any case ("Sept" is 9); 0 for none. */
export function monthOf(word: string): number {
  return MONTHS.indexOf(word.slice(0, 3).toLowerCase()) + 1;
}

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
 * @throws RangeError with `where` for any other text.
 */
export function listedDay(text: string, where: string): DateInt {
  const [, month = '', day = '', year = ''] = NUMBERS.exec(text) ?? [];
  const [, word = '', number = '', of = ''] = WORDS.exec(text) ?? [];
  const date = FIVE_DIGITS.test(text)
    ? serialDay(Number(text))
    : year !== ''
      ? dateOf(Number(year.padStart(4, '20')), Number(month), Number(day))
      : word !== ''
        ? dateOf(Number(of), monthOf(word), Number(number))
        : null;
  if (date === null) throw new RangeError(`${where}: not a day: ${text}`);
  return date;
}
