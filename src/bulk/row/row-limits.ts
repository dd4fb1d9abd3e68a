/** What a bulk body may hold. Every limit has an answer that names it. */
import type { BulkKind } from './chunk-payload.js';

/** One row of lookups, its line end included. A longer one is answered with an error row. */
export const ROW_BYTES_MAX = 65_536;
/** One row that holds a cart. */
export const CART_ROW_BYTES_MAX = 1_048_576;
/** Header line of a CSV file. */
export const HEADER_BYTES_MAX = 65_536;
/** Columns of a CSV file. */
export const COLUMNS_MAX = 500;
/** Rows of one chunk: what a worker is handed at a time. */
export const CHUNK_ROWS_MAX = 256;
/** Bytes of one chunk, unless a single row is larger. */
export const CHUNK_BYTES_MAX = 131_072;
/** Characters of a row's id. */
export const ID_CHARS_MAX = 255;

/** Bytes of a row of a kind. */
export function rowBytesMax(kind: BulkKind): number {
  return kind === 'cart' ? CART_ROW_BYTES_MAX : ROW_BYTES_MAX;
}
