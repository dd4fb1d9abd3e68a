/**
 * The weight of each ZIP for an operator, such as orders, customers or people, read from a file.
 */
import { FIVE_DIGITS } from '../base/patterns.js';
import { readRows } from '../ingest/source/rows.js';

const FIGURE = /^\d+(?:\.\d+)?$/;
/** Larger weights would make sums too inexact for small ones. */
const FIGURE_MAX = 1e12;

/**
 * Reads a CSV file whose first two columns are a ZIP of five digits and its weight. The first line
 * may be a header; further columns are ignored. Weights of several rows with the same ZIP are
 * added.
 * @throws Error naming the file and row: no ZIP, no weight of 0 or more, or no row at all.
 */
export async function readZipWeights(path: string): Promise<ReadonlyMap<number, number>> {
  const weights = new Map<number, number>();
  let row = 0;
  for await (const [first = '', second = ''] of readRows(path, ',')) {
    row += 1;
    const zip = first.trim();
    const figure = second.trim();
    if (!FIVE_DIGITS.test(zip)) {
      if (row === 1) continue;
      throw new Error(`${path}, row ${row}: "${first}" is no ZIP code of five digits`);
    }
    if (!FIGURE.test(figure) || Number(figure) > FIGURE_MAX) {
      throw new Error(`${path}, row ${row}: "${second}" is no figure from 0 to ${FIGURE_MAX}`);
    }
    weights.set(Number(zip), (weights.get(Number(zip)) ?? 0) + Number(figure));
  }
  if (weights.size === 0) throw new Error(`${path} has no ZIP codes`);
  return weights;
}
