/**
 * The product table: document "products", one row per state and kind of product.
 *
 * Columns: `state`, `tic` (rows without one say nothing of any code), `taxable` Y or N,
 * `state_rate` (a rate of the product's own, as a fraction; of the state part, or with scope total
 * of the whole), `threshold_usd` with `threshold_kind`, `scope`, `food_drug`, `covers_children`,
 * `effective_from`, `effective_to`, `as_of` (the day the row was read); where a table has them also
 * `percent_taxable` (a fraction), `per_volume_usd` with `per_volume_unit`, and `cap_per_unit_usd`.
 */
import { parseUsd } from '../tax/product-amount.js';
import { PRODUCT_SCOPES, THRESHOLD_KINDS, type ProductRule } from '../tax/product-rule.js';
import { parseRate } from '../tax/rate.js';
import type { Cells } from './product-cells.js';

export const PRODUCT_DOCUMENT = 'products';

/** Rules by state and code. */
export type ProductTable = ReadonlyMap<string, ReadonlyMap<string, readonly ProductRule[]>>;

function threshold(row: Cells): ProductRule['threshold'] {
  const amount = row.optional('threshold_usd', parseUsd);
  return amount === null ? null : { kind: row.oneOf('threshold_kind', THRESHOLD_KINDS), amount };
}

function perVolume(row: Cells): ProductRule['perVolume'] {
  const amount = row.optional('per_volume_usd', parseUsd);
  return amount === null ? null : { amount, unit: row.text('per_volume_unit') };
}

function productRule(row: Cells, tic: string): ProductRule {
  return {
    tic,
    coversChildren: row.flag('covers_children'),
    taxable: row.oneOf('taxable', ['Y', 'N']) === 'Y',
    rate: row.optional('state_rate', parseRate),
    // A table that does not say is the case that `varies` stands for.
    scope: row.text('scope') === '' ? 'varies' : row.oneOf('scope', PRODUCT_SCOPES),
    threshold: threshold(row),
    percentTaxable: row.optional('percent_taxable', parseRate),
    perVolume: perVolume(row),
    capPerUnit: row.optional('cap_per_unit_usd', parseUsd),
    foodDrug: row.flag('food_drug'),
    from: row.date('effective_from'),
    to: row.date('effective_to'),
    heldFrom: row.heldFrom(),
  };
}

/**
 * Reads the table; rules of a code keep its order.
 * @throws Error naming the row when a cell cannot be read.
 */
export function readProducts(rows: readonly Cells[]): ProductTable {
  const table = new Map<string, Map<string, ProductRule[]>>();
  for (const row of rows) {
    const tic = row.text('tic');
    if (tic === '') continue;
    const state = row.text('state');
    const ofState = table.get(state) ?? new Map<string, ProductRule[]>();
    table.set(state, ofState);
    const ofCode = ofState.get(tic) ?? [];
    ofState.set(tic, ofCode);
    ofCode.push(productRule(row, tic));
  }
  return table;
}
