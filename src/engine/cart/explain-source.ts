/** Where the figures of an explanation come from. */
import type { Dataset } from '../../dataset/dataset.js';
import { DATE_MIN, formatDate, type DateInt } from '../../tax/date.js';
import { cellsOf, type Cells } from '../product/table-cells.js';
import type { Citation } from './cart-facts.js';
import type { SourceNote } from './outcome.js';

/** A day as YYYY-MM-DD; "" where it is not recorded. */
export function dayText(date: DateInt | null): string {
  return date === null || date <= DATE_MIN ? '' : formatDate(date);
}

/** A fact's source. */
export function citedSource(name: string, { citation, source, asOf }: Citation): SourceNote {
  return { name: source === '' ? name : `${name}: ${source}`, asOf: dayText(asOf), citation };
}

/** Finds the source of each figure of one dataset. */
export class SourceNotes {
  readonly #dataset: Dataset;
  readonly #tables = new Map<string, ReadonlyMap<string, readonly Cells[]>>();

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** A source of the dataset's list. */
  listed(source: number | null): SourceNote | null {
    if (source === null || source < 0) return null;
    const { name, publisher, asOf } = this.#dataset.source(source);
    return { name, asOf: dayText(asOf), citation: publisher };
  }

  /** Rows of a document by the text of some columns, "CA|20010"; read once. */
  rowsBy(name: string, columns: readonly string[]): ReadonlyMap<string, readonly Cells[]> {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const rows = new Map<string, Cells[]>();
    for (const row of cellsOf(this.#dataset.document(name), name) ?? []) {
      const key = columns.map((column) => row.text(column)).join('|');
      const list = rows.get(key);
      if (list === undefined) rows.set(key, [row]);
      else list.push(row);
    }
    this.#tables.set(name, rows);
    return rows;
  }
}
