/** What surrounds the rows of a stream: the header before them and the trailer after. */
import type { WireObject } from '../tree.js';
import { jsonMembers } from '../json.js';
import { CART_COLUMNS } from './cart-columns.js';
import { APPENDED_COLUMNS } from './columns.js';
import { csvCell, type CsvHead } from './dialect.js';
import type { BulkJob, BulkKind } from './job.js';

/** Names the program in headers; the second word is the version of this contract. */
export const BULK_ENGINE = 'situs bulk/1';

/** Limits of a stream by name, e.g. {"rows": 10000000}. */
export type StreamLimitNames = Readonly<Record<string, number>>;

/** How a stream ended. */
export interface TrailerContent {
  readonly complete: boolean;
  readonly rows: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly sha256: string;
  readonly stopped: {
    readonly code: number; readonly message: string; readonly line: number;
  } | null;
}

function line(object: WireObject): Buffer {
  return Buffer.from(`{${jsonMembers(object)}}\n`, 'utf8');
}

/** The first line of NDJSON output. */
export function headerLine({ job, kind, release }: BulkJob, limits: StreamLimitNames): Buffer {
  return line({ header: { job, kind, dataset: release.id, engine: BULK_ENGINE, limits } });
}

/** The last line of NDJSON output; a stream without it is incomplete. */
export function trailerLine(job: string, end: TrailerContent): Buffer {
  return line({ trailer: trailerTree(job, end) });
}

/** The trailer by itself: what a CSV stream has beside it. */
export function trailerBody(job: string, end: TrailerContent): string {
  return `{${jsonMembers(trailerTree(job, end))}}`;
}

function trailerTree(job: string, end: TrailerContent): WireObject {
  const { complete, rows, codes, bytes, sha256, stopped } = end;
  return {
    job, complete, rows, codes, bytes, sha256,
    stopped: stopped === null
      ? null : { code: stopped.code, message: stopped.message, line: stopped.line },
  };
}

/** The header line of CSV output: the caller's, byte for byte, with our columns. */
export function csvHeaderLine(
  { dialect, bom, header }: CsvHead, kind: BulkKind = 'lookup',
): Buffer {
  const columns: readonly string[] = kind === 'cart' ? CART_COLUMNS : APPENDED_COLUMNS;
  const ours = columns
    .map((name) => dialect.delimiter + csvCell(name, dialect)).join('');
  return Buffer.concat([
    Buffer.from(bom ? '\ufeff' : '', 'utf8'), header,
    Buffer.from(ours + dialect.newline, 'utf8'),
  ]);
}
