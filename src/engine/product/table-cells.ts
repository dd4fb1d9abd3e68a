/**
 * Rows of table documents (arrays of column → text), whose cells are checked when they are read.
 */
import { isObject } from '../../base/json-object.js';
import { dateOf, parseDate, type DateInt } from '../../tax/date.js';

/** One row; a column that the table does not have reads as "". */
export class Cells {
  readonly #row: Readonly<Record<string, unknown>>;
  readonly #place: string;

  constructor(row: Readonly<Record<string, unknown>>, place: string) {
    this.#row = row;
    this.#place = place;
  }

  text(column: string): string {
    const value = this.#row[column];
    return typeof value === 'string' ? value.trim() : '';
  }

  /** @throws Error when the cell has none of the values. */
  oneOf<T extends string>(column: string, choices: readonly T[]): T {
    const text = this.text(column);
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw this.#wrong(column);
    return choice;
  }

  /** A cell that `read` converts; null where it is empty. */
  optional<T>(column: string, read: (text: string) => T | null): T | null {
    const text = this.text(column);
    return text === '' ? null : this.required(column, read);
  }

  /** As `optional`, for a cell that must not be empty. @throws Error when `read` gives null. */
  required<T>(column: string, read: (text: string) => T | null): T {
    const value = read(this.text(column));
    if (value === null) throw this.#wrong(column);
    return value;
  }

  date(column: string): DateInt | null {
    return this.optional(column, parseDate);
  }

  /**
   * The first day that a row speaks for: its first day in force or, if that is not recorded, the
   * first day of the year it was read in (`as_of`), since a law read without its date says nothing
   * about earlier years.
   */
  heldFrom(): DateInt | null {
    const from = this.date('effective_from');
    if (from !== null) return from;
    const read = this.date('as_of');
    return read === null ? null : dateOf(Math.floor(read / 10_000), 1, 1);
  }

  /** Whether the cell is "yes"; "no" and an empty cell are false. */
  flag(column: string): boolean {
    return this.text(column) !== '' && this.oneOf(column, ['yes', 'no']) === 'yes';
  }

  #wrong(column: string): Error {
    return new Error(`${this.#place}: bad ${column} "${this.text(column)}"`);
  }
}

/** The rows of a document; null when the dataset lacks it. */
export function cellsOf(document: unknown, name: string): readonly Cells[] | null {
  if (!Array.isArray(document)) return null;
  return document.flatMap((row: unknown, at) =>
    isObject(row) ? [new Cells(row, `document ${name}, row ${at + 1}`)] : [],
  );
}
