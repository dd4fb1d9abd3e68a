/** Product codes and rules of a dataset, read from its documents. */
import type { Dataset } from '../../dataset/dataset.js';
import { parseUsd } from '../../tax/amount.js';
import {
  CONFIDENCES,
  PRODUCT_SCOPES,
  THRESHOLD_KINDS,
  type ProductRule,
  type RuleBasis,
} from '../../tax/product-rule.js';
import { parseRate } from '../../tax/rate.js';
import { cellsOf, type Cells } from './table-cells.js';
import { MEAL_DOCUMENT, readMeals, type MealTable } from './meal-tax.js';

export interface ProductBook {
  /** Null when the dataset has no catalogue, so that no code can be called invalid. */
  readonly catalogue: ReadonlyMap<string, CatalogueCode> | null;
  readonly overrides: ReadonlyMap<string, ProductCode>;
  readonly products: ProductTable;
  /** Null when the dataset has no meal-tax table. */
  readonly meals: MealTable | null;
}

/**
 * Reads the documents.
 * @throws Error naming document and row when a cell cannot be read.
 */
export function readProductBook(dataset: Dataset): ProductBook {
  const rowsOf = (name: string): ReturnType<typeof cellsOf> =>
    cellsOf(dataset.document(name), name);
  const codes = rowsOf(CATALOGUE_DOCUMENT);
  const catalogue = codes === null ? null : readCatalogue(codes);
  const meals = rowsOf(MEAL_DOCUMENT);
  return {
    catalogue,
    overrides: readOverrides(rowsOf(OVERRIDE_DOCUMENT) ?? [], catalogue ?? new Map()),
    products: new ProductTable(rowsOf(PRODUCT_DOCUMENT) ?? []),
    meals: meals === null ? null : readMeals(meals),
  };
}

const CATALOGUE_DOCUMENT = 'tic';

/**
 * Optional document: `code` (1 to 10 letters and digits with at least one letter, in any case),
 * `tic` (the code that it stands for), and where they differ from that code's own `title` and
 * `label`.
 */
const OVERRIDE_DOCUMENT = 'override-codes';

/** A code that lookups and carts may use. */
export interface ProductCode {
  /** The standard code whose rules apply. */
  readonly tic: string;
  readonly title: string;
  /** Longer description; the title where there is none. */
  readonly label: string;
}

/** A standard code and its parent, which is "" at the top. */
interface CatalogueCode extends ProductCode {
  readonly parent: string;
}

/** Reads the catalogue by code. */
function readCatalogue(rows: readonly Cells[]): ReadonlyMap<string, CatalogueCode> {
  return new Map(
    rows.map((row) => {
      const tic = row.text('tic');
      const title = row.text('title');
      return [tic, { tic, title, label: row.text('label') || title, parent: row.text('parent') }];
    }),
  );
}

/**
 * Reads override codes by their capitals. One that stands for a code missing in the catalogue is
 * left out.
 */
function readOverrides(
  rows: readonly Cells[],
  catalogue: ReadonlyMap<string, CatalogueCode>,
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

/**
 * The product table: document "products", one row per state and kind of product.
 *
 * Columns: `state`, `tic` (codes with semicolons between; the row is made for the first; rows
 * without one say nothing of any code), `taxable` Y, N, or `unknown` where it was asked and not
 * found, so that nothing is inherited from a wider code, `state_rate` (a rate of the product's own,
 * as a fraction; of the state part, or with scope total of the whole), `threshold_usd` with
 * `threshold_kind`, `scope`, `food_drug`, `covers_children`, `effective_from`, `effective_to`,
 * `as_of` (the day the row was read), `citation`, `source`, `confidence` (low where a table has
 * none), `condition`; where a table has them also `percent_taxable` (a fraction), `per_volume_usd`
 * with `per_volume_unit`, and `cap_per_unit_usd`.
 */
export const PRODUCT_DOCUMENT = 'products';

/** Rules of a state by code; an empty list means that the code's rules are known to be unknown. */
type StateProducts = ReadonlyMap<string, readonly ProductRule[]>;

const UNKNOWN = 'unknown';
const BETWEEN_CODES = ';';

function threshold(row: Cells): ProductRule['threshold'] {
  const amount = row.optional('threshold_usd', parseUsd);
  return amount === null ? null : { kind: row.oneOf('threshold_kind', THRESHOLD_KINDS), amount };
}

function perVolume(row: Cells): ProductRule['perVolume'] {
  const amount = row.optional('per_volume_usd', parseUsd);
  return amount === null ? null : { amount, unit: row.text('per_volume_unit') };
}

function basisOf(row: Cells): RuleBasis {
  return {
    citation: row.text('citation'),
    source: row.text('source'),
    asOf: row.date('as_of'),
    confidence: row.text('confidence') === '' ? 'low' : row.oneOf('confidence', CONFIDENCES),
    condition: row.text('condition'),
  };
}

function productRule(row: Cells, tic: string): ProductRule {
  return {
    tic,
    coversChildren: row.flag('covers_children'),
    taxable: row.oneOf('taxable', ['Y', 'N']) === 'Y',
    rate: row.optional('state_rate', parseRate),
    // The value `varies` includes that the differences are not recorded.
    scope: row.text('scope') === '' ? 'varies' : row.oneOf('scope', PRODUCT_SCOPES),
    threshold: threshold(row),
    percentTaxable: row.optional('percent_taxable', parseRate),
    perVolume: perVolume(row),
    capPerUnit: row.optional('cap_per_unit_usd', parseUsd),
    foodDrug: row.flag('food_drug'),
    from: row.date('effective_from'),
    to: row.date('effective_to'),
    heldFrom: row.heldFrom(),
    basis: basisOf(row),
  };
}

/** Reads the rows of one state; rules of a code keep their order. */
function readState(rows: readonly Cells[]): StateProducts {
  const products = new Map<string, ProductRule[]>();
  for (const row of rows) {
    const codes = row.text('tic').split(BETWEEN_CODES);
    const [first = ''] = codes;
    if (first === '') continue;
    const rules = row.text('taxable') === UNKNOWN ? [] : [productRule(row, first)];
    for (const code of codes) {
      const ofCode = products.get(code);
      if (ofCode === undefined) products.set(code, [...rules]);
      else ofCode.push(...rules);
    }
  }
  return products;
}

/**
 * Rules by state. The rows of a state are only read when it is first needed, so that opening a
 * release takes little time.
 */
class ProductTable {
  readonly #rows = new Map<string, Cells[]>();
  readonly #states = new Map<string, StateProducts>();

  constructor(rows: readonly Cells[]) {
    for (const row of rows) {
      const state = row.text('state');
      const ofState = this.#rows.get(state);
      if (ofState === undefined) this.#rows.set(state, [row]);
      else ofState.push(row);
    }
  }

  states(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** @throws Error naming the row when a cell cannot be read. */
  get(state: string): StateProducts | undefined {
    const known = this.#states.get(state);
    const rows = this.#rows.get(state);
    if (known !== undefined || rows === undefined) return known;
    const read = readState(rows);
    this.#states.set(state, read);
    this.#rows.set(state, []);
    return read;
  }
}
