/** What each ZIP counts to an operator: orders, customers or people, as a file says. */
import { FIVE_DIGITS } from '../base/patterns.js';
import { readRows } from '../ingest/source/rows.js';

const FIGURE = /^\d+(?:\.\d+)?$/;
/** Beyond it sums would lose what is small. */
const FIGURE_MAX = 1e12;

/**
 * Reads a CSV file whose first two columns are a ZIP of five digits and how much it counts, below
 * any names of columns; other columns are passed over. What a ZIP has in several rows is added up.
 * @throws Error naming the file and row: no ZIP, no figure of 0 or more, or no row at all.
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
