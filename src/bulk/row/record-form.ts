/** What a cutter is given and gives: how records end, and where it stands between two. */

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
