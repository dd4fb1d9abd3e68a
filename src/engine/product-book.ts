/** What a dataset says of products, read once per open dataset. */
import type { Dataset } from '../dataset/dataset.js';
import { MEAL_DOCUMENT, readMeals, type MealTable } from './meal-tax-table.js';
import { cellsOf } from './product-cells.js';
import {
  CATALOGUE_DOCUMENT, OVERRIDE_DOCUMENT, readCatalogue, readOverrides, type CatalogueCode,
  type ProductCode,
} from './product-codes.js';
import { PRODUCT_DOCUMENT, readProducts, type ProductTable } from './product-table.js';

export interface ProductBook {
  /** Null when the dataset has no catalogue, so that no code can be called invalid. */
  readonly catalogue: ReadonlyMap<string, CatalogueCode> | null;
  readonly overrides: ReadonlyMap<string, ProductCode>;
  readonly products: ProductTable;
  /** Null when the dataset has no meal-tax table. */
  readonly meals: MealTable | null;
}

const BOOKS = new WeakMap<Dataset, ProductBook>();

function readBook(dataset: Dataset): ProductBook {
  const rowsOf = (name: string): ReturnType<typeof cellsOf> =>
    cellsOf(dataset.document(name), name);
  const codes = rowsOf(CATALOGUE_DOCUMENT);
  const catalogue = codes === null ? null : readCatalogue(codes);
  const meals = rowsOf(MEAL_DOCUMENT);
  return {
    catalogue,
    overrides: readOverrides(rowsOf(OVERRIDE_DOCUMENT) ?? [], catalogue ?? new Map()),
    products: readProducts(rowsOf(PRODUCT_DOCUMENT) ?? []),
    meals: meals === null ? null : readMeals(meals),
  };
}

/** The book of a dataset. */
export function productBook(dataset: Dataset): ProductBook {
  let book = BOOKS.get(dataset);
  if (book === undefined) {
    book = readBook(dataset);
    BOOKS.set(dataset, book);
  }
  return book;
}
