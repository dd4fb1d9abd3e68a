/** Taxability codes: the catalogue, and the operator's own names for its codes. */
import type { Cells } from './product-cells.js';

export const CATALOGUE_DOCUMENT = 'tic';

/**
 * Optional document: `code` (1 to 10 letters and digits with at least one letter, in any case),
 * `tic` (the code that it stands for), and where they differ from that code's own `title` and
 * `label`.
 */
export const OVERRIDE_DOCUMENT = 'override-codes';

/** A code that can be asked for. */
export interface ProductCode {
  /** The standard code whose rules hold. */
  readonly tic: string;
  readonly title: string;
  /** Longer description; the title where none is held. */
  readonly label: string;
}

/** A standard code with the one above it, "" at the top. */
export interface CatalogueCode extends ProductCode {
  readonly parent: string;
}

/** Reads the catalogue by code. */
export function readCatalogue(rows: readonly Cells[]): ReadonlyMap<string, CatalogueCode> {
  return new Map(rows.map((row) => {
    const tic = row.text('tic');
    const title = row.text('title');
    return [tic, { tic, title, label: row.text('label') || title, parent: row.text('parent') }];
  }));
}

/** Reads override codes by their capitals; one that leads to no code of the catalogue is none. */
export function readOverrides(
  rows: readonly Cells[], catalogue: ReadonlyMap<string, CatalogueCode>,
): ReadonlyMap<string, ProductCode> {
  const overrides = new Map<string, ProductCode>();
  for (const row of rows) {
    const standard = catalogue.get(row.text('tic'));
    if (standard === undefined) continue;
    const { tic } = standard;
    const title = row.text('title') || standard.title;
    const label = row.text('label') || (title === standard.title ? standard.label : title);
    overrides.set(row.text('code').toUpperCase(), { tic, title, label });
  }
  return overrides;
}
