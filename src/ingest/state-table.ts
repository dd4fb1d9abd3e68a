/** Checked reading of fact tables: a cell that does not fit names its file and line. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATE_MIN, parseDate, type DateInt } from '../tax/date.js';
import { readTable, type TableRow } from './rates/table.js';

/** Reads a fact table of the folder. */
export function readFacts(factsDir: string, file: string): readonly TableRow[] {
  return readTable(readFileSync(join(factsDir, file), 'utf8'), '\t');
}

function wrong(file: string, row: TableRow, column: string): Error {
  return new Error(`${file} line ${row.line}: bad ${column} "${row.get(column)}"`);
}

/**
 * A cell that must be one of a list.
 * @throws Error when it is not.
 */
export function oneOf<T extends string>(
  file: string,
  row: TableRow,
  column: string,
  choices: readonly T[],
): T {
  const cell = row.get(column);
  const choice = choices.find((text) => text === cell);
  if (choice === undefined) throw wrong(file, row, column);
  return choice;
}

/**
 * A date cell; an empty one reads as `empty`.
 * @throws Error when it is no date.
 */
export function dateCell(
  file: string,
  row: TableRow,
  column: string,
  empty: DateInt,
): DateInt {
  const cell = row.get(column);
  if (cell === '') return empty;
  const date = parseDate(cell);
  if (date === null) throw wrong(file, row, column);
  return date;
}

/** Newest `as_of` of a table. */
export function newest(file: string, rows: readonly TableRow[]): DateInt {
  let latest = DATE_MIN;
  for (const row of rows) {
    const date = dateCell(file, row, 'as_of', DATE_MIN);
    if (date > latest) latest = date;
  }
  return latest;
}
