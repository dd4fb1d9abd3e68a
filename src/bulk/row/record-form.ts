/** The records of a bulk body: how they end, their limits, and positions between them. */
import type { BulkKind } from './chunk-payload.js';

/** How records end. `delimiter` is a byte; `loneCr` says that a CR without LF ends records. */
export type RecordForm =
  | { readonly kind: 'csv'; readonly delimiter: number; readonly loneCr: boolean }
  | { readonly kind: 'ndjson' };

export interface CutterOptions {
  readonly form: RecordForm;
  /** Number of the first record; 1 unless a header precedes it. */
  readonly firstLine?: number;
  readonly rowBytesMax?: number;
  /**
   * Where to continue in a body that another cutter began; `firstLine` is the number of the record
   * at that position.
   */
  readonly from?: Pick<CutPosition, 'at' | 'rescanned'>;
}

/**
 * A position between two records, with everything that a cutter needs to continue there as if it
 * had read the body from its beginning.
 */
export interface CutPosition {
  /** Number of the next record. */
  readonly line: number;
  /** How many bytes of the body precede it. */
  readonly at: number;
  /** Position in the body before which bytes are not rescanned. */
  readonly rescanned: number;
}

/** Some complete records. */
export interface RawChunk {
  /** Number of the first record. */
  readonly line: number;
  /** The records one after the other. */
  readonly bytes: Uint8Array;
  /**
   * The end of each record in `bytes`. A record without bytes was too long and has been left out.
   */
  readonly ends: Uint32Array;
}

/**
 * Tells that the record that begins at `start` was ended with its first line, after bytes up to
 * `to` had been scanned without finding its end.
 */
export interface Rescan {
  readonly start: number;
  readonly to: number;
}

// Every limit of a bulk body has an answer that names it.

/** Longest row of lookups, including its line end. A longer one is answered with an error row. */
export const ROW_BYTES_MAX = 65_536;
/** Longest row that is a cart. */
export const CART_ROW_BYTES_MAX = 1_048_576;
/** Longest header line of a CSV file. */
export const HEADER_BYTES_MAX = 65_536;
/** Most columns of a CSV file. */
export const COLUMNS_MAX = 500;
/** Most rows of a chunk, which is what a worker gets at a time. */
export const CHUNK_ROWS_MAX = 256;
/** Most bytes of a chunk, unless a single row is longer. */
export const CHUNK_BYTES_MAX = 131_072;
/** Longest id of a row, in characters. */
export const ID_CHARS_MAX = 255;

/** Longest row of a kind. */
export function rowBytesMax(kind: BulkKind): number {
  return kind === 'cart' ? CART_ROW_BYTES_MAX : ROW_BYTES_MAX;
}
