/** Reads the beginning of a CSV body, up to its first row, since rows cannot be read before. */
import { isProblem, problem, type Problem } from '../../base/problem.js';
import { csvRows } from '../row/text-rows.js';
import {
  BOM,
  HeaderEnd,
  isGzip,
  isWide,
  readCsvHead,
  type CsvHead,
  type Delimiter,
} from '../row/dialect.js';
import { grown } from '../../base/growing-bytes.js';
import type { Table } from '../row/chunk-payload.js';
import { HEADER_BYTES_MAX } from '../row/record-form.js';
import { LOOKUP_COLUMNS, mapColumns, type ColumnRules } from '../row/mapping.js';
import { tooLarge } from './request.js';

/** The header line, its table, and the bytes after the header line. */
export interface Begun {
  readonly head: CsvHead;
  readonly table: Table;
  readonly rest: Uint8Array;
}

/** Number of the first row, which is after the header line in a table. */
export function firstLineOf(table: Table | null): number {
  return table === null ? 1 : 2;
}

export class CsvBeginning {
  readonly #delimiter: Delimiter | null;
  readonly #map: readonly string[];
  readonly #rules: ColumnRules;
  #held: Buffer = Buffer.alloc(0);
  readonly #end: HeaderEnd;

  /** `map` and `delimiter` are what the caller asks for, see mapping.ts and dialect.ts. */
  constructor(
    map: readonly string[],
    delimiter: Delimiter | null,
    rules: ColumnRules = LOOKUP_COLUMNS,
  ) {
    this.#map = map;
    this.#rules = rules;
    this.#delimiter = delimiter;
    this.#end = new HeaderEnd(delimiter);
  }

  /**
   * Adds a piece, which may be empty when the body is `whole`. Null while the header line is not
   * complete.
   */
  push(piece: Uint8Array, whole: boolean): Begun | Problem | null {
    const before = this.#held.length;
    const held = grown(this.#held, piece);
    this.#held = held;
    if (isWide(held)) {
      return problem(415, 'The file is UTF-16; save it as UTF-8.');
    }
    if (isGzip(held)) {
      return problem(415, 'The file is packed with gzip and not said to be.');
    }
    // The header line is parsed only once, when it is complete, however small the pieces are.
    const looked = piece.subarray(0, Math.max(0, HEADER_BYTES_MAX + BOM.length + 1 - before));
    if (!this.#end.passed(looked) && !whole && held.length <= HEADER_BYTES_MAX) return null;
    const head = readCsvHead(held, whole, this.#delimiter);
    if (head === null) return null;
    if (head === 'too-long') return tooLarge('A header line', HEADER_BYTES_MAX);
    const table = this.#tableOf(head);
    return isProblem(table) ? table : { head, table, rest: held.subarray(head.bytes) };
  }

  #tableOf({ header, dialect }: CsvHead): Table | Problem {
    if (header.length === 0) return problem(422, 'The file has no header line.');
    const ends = Uint32Array.of(header.length);
    const headers = csvRows({ line: 1, bytes: header, ends }, dialect)[0] ?? null;
    if (headers === null) {
      return problem(422, 'The quotes of the header line do not match.');
    }
    const mapping = mapColumns(headers, this.#map, this.#rules);
    return isProblem(mapping) ? mapping : { dialect, columns: headers.length, mapping };
  }
}
