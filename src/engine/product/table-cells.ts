/** Rows of table documents (arrays of column → text), read with checks. */
import { isObject } from '../../base/json-object.js';
import { dateOf, parseDate, type DateInt } from '../../tax/date.js';

/** One row; a column that the table lacks reads as "". */
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

  /** @throws Error when the cell is none of the choices. */
  oneOf<T extends string>(column: string, choices: readonly T[]): T {
    const text = this.text(column);
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw this.#wrong(column);
    return choice;
  }

  /** A cell with a reader of its own; null where it is empty. */
  optional<T>(column: string, read: (text: string) => T | null): T | null {
    const text = this.text(column);
    return text === '' ? null : this.required(column, read);
  }

  /** @throws Error when the reader gives null. */
  required<T>(column: string, read: (text: string) => T | null): T {
    const value = read(this.text(column));
    if (value === null) throw this.#wrong(column);
    return value;
  }

  date(column: string): DateInt | null {
    return this.optional(column, parseDate);
  }

  /**
   * The first day a row speaks for: its first day, or else the first of the year it was read in
   * (`as_of`), since a law that is read without its date says nothing of the years before.
   */
  heldFrom(): DateInt | null {
    const from = this.date('effective_from');
    if (from !== null) return from;
    const read = this.date('as_of');
    return read === null ? null : dateOf(Math.floor(read / 10_000), 1, 1);
  }

  /** "yes"; "no" and an empty cell are false. */
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
