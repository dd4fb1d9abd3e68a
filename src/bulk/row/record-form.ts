/** Records of a bulk body: how they end, their limits, and where a cutter stands between two. */
import type { BulkKind } from './chunk-payload.js';

/** How records end: `delimiter` as a byte; `loneCr` where a CR without LF ends them. */
export type RecordForm =
  | { readonly kind: 'csv'; readonly delimiter: number; readonly loneCr: boolean }
  | { readonly kind: 'ndjson' };

export interface CutterOptions {
  readonly form: RecordForm;
  /** Number of the first record; 1 unless a header was before it. */
  readonly firstLine?: number;
  readonly rowBytesMax?: number;
  /**
   * Where to go on in a body that another cutter began; `firstLine` is the number of the record
   * there.
   */
  readonly from?: Pick<CutPosition, 'at' | 'rescanned'>;
}

/** Between two records: what a cutter needs to go on there as if it had read what is before. */
export interface CutPosition {
  /** Number of the next record. */
  readonly line: number;
  /** Bytes of the body before it. */
  readonly at: number;
  /** Bytes of the body that are not scanned another time. */
  readonly rescanned: number;
}

/** Some whole records. */
export interface RawChunk {
  /** Number of the first record. */
  readonly line: number;
  /** The records one after the other. */
  readonly bytes: Uint8Array;
  /** Where each ends in `bytes`; one without any bytes was too long and has been left out. */
  readonly ends: Uint32Array;
}

/**
 * A record that begins at `start` was ended with its first line, after bytes up to `to` had been
 * scanned in vain.
 */
export interface Rescan {
  readonly start: number;
  readonly to: number;
}

// Every limit of a bulk body has an answer that names it.

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
