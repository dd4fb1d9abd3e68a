/** Where the figures of an explanation come from. */
import type { Dataset } from '../../dataset/dataset.js';
import { DATE_MIN, formatDate, type DateInt } from '../../tax/date.js';
import { cellsOf, type Cells } from '../product/cells.js';
import type { Citation } from './facts.js';
import type { SourceNote } from './outcome.js';

/** A day as YYYY-MM-DD; "" where it is not recorded. */
export function dayText(date: DateInt | null): string {
  return date === null || date <= DATE_MIN ? '' : formatDate(date);
}

/** A fact's source. */
export function citedSource(name: string, { citation, source, asOf }: Citation): SourceNote {
  return { name: source === '' ? name : `${name}: ${source}`, asOf: dayText(asOf), citation };
}

/** A source of the dataset's list. */
export function listSource(dataset: Dataset, source: number | null): SourceNote | null {
  if (source === null || source < 0) return null;
  const { name, publisher, asOf } = dataset.source(source);
  return { name, asOf: dayText(asOf), citation: publisher };
}

const ROWS = new WeakMap<Dataset, Map<string, ReadonlyMap<string, readonly Cells[]>>>();

/** Rows of a document by the text of some columns, "CA|20010"; read once per open dataset. */
export function rowsBy(
  dataset: Dataset, name: string, columns: readonly string[],
): ReadonlyMap<string, readonly Cells[]> {
  let tables = ROWS.get(dataset);
  if (tables === undefined) {
    tables = new Map();
    ROWS.set(dataset, tables);
  }
  const known = tables.get(name);
  if (known !== undefined) return known;
  const rows = new Map<string, Cells[]>();
  for (const row of cellsOf(dataset.document(name), name) ?? []) {
    const key = columns.map((column) => row.text(column)).join('|');
    const list = rows.get(key);
    if (list === undefined) rows.set(key, [row]);
    else list.push(row);
  }
  tables.set(name, rows);
  return rows;
}
