/** The header before answers to rows and messages, and the trailer after them. */
import { type WireObject, jsonMembers } from '../../wire/tree.js';
import { columnsOf } from './columns.js';
import { csvCells, type CsvHead } from './dialect.js';
import type { RunFacts, BulkKind } from './chunk-payload.js';

/** The name of the program in headers; the second word is the version of the format. */
export const BULK_ENGINE = 'situs bulk/1';

/** Limits of a run by their names, e.g. {"rows": 10000000}. */
type LimitsByName = Readonly<Record<string, number>>;

/** Why a run or a stream ended before its last row. */
export interface Stopped {
  readonly code: number;
  readonly message: string;
  /** The first row without an answer. */
  readonly line: number;
  /** Whether its owner paused it, to continue later. */
  readonly paused?: boolean;
}

/** How a run or a stream ended: the content of its trailer. */
export interface Trailer {
  /** Whether every row was answered. */
  readonly complete: boolean;
  readonly rows: number;
  /** Rows by response code, e.g. {"100": 7, "109": 1}. */
  readonly codes: Readonly<Record<string, number>>;
  /** Number of bytes of the output before the trailer; their SHA-256 in hex is `sha256`. */
  readonly bytes: number;
  readonly sha256: string;
  readonly stopped: Stopped | null;
}

function line(object: WireObject): Buffer {
  return Buffer.from(`{${jsonMembers(object)}}\n`, 'utf8');
}

/** The first line of NDJSON output. */
export function headerLine({ name, kind, release }: RunFacts, limits: LimitsByName): Buffer {
  return line({ header: { job: name, kind, dataset: release.id, engine: BULK_ENGINE, limits } });
}

/** The last line of NDJSON output; output without it is incomplete. */
export function trailerLine(name: string, end: Trailer): Buffer {
  return line({ trailer: trailerTree(name, end) });
}

/** The trailer as a document of its own, since CSV output has none. */
export function trailerBody(name: string, end: Trailer): string {
  return `{${jsonMembers(trailerTree(name, end))}}`;
}

function trailerTree(name: string, end: Trailer): WireObject {
  const { complete, rows, codes, bytes, sha256, stopped } = end;
  return {
    job: name,
    complete,
    rows,
    codes,
    bytes,
    sha256,
    stopped: stoppedTree(stopped),
  };
}

/** The public members of why a run ended before its last row; null where it did not. */
export function stoppedTree(stopped: Omit<Stopped, 'paused'> | null): WireObject | null {
  return stopped && { code: stopped.code, message: stopped.message, line: stopped.line };
}

/** The header line of CSV output: that of the file, byte for byte, with the added columns. */
export function csvHeaderLine(
  { dialect, bom, header }: CsvHead,
  kind: BulkKind = 'lookup',
): Buffer {
  const ours = csvCells(columnsOf(kind), dialect);
  return Buffer.concat([
    Buffer.from(bom ? '\ufeff' : '', 'utf8'),
    header,
    Buffer.from(ours + dialect.newline, 'utf8'),
  ]);
}

/**
 * The name of the program in headers of streams; the second word is the version of the protocol.
 */
export const STREAM_ENGINE = 'situs stream/1';

interface StreamHeader {
  readonly name: string;
  /** Id of the release that answers now. */
  readonly dataset: string;
  /** The token with which another connection can resume the stream. */
  readonly resume: string;
  /** How many messages were received before this connection. */
  readonly received: number;
  readonly limits: LimitsByName;
}

/** The first line of every connection of a stream. */
export function streamHeaderLine({
  name,
  dataset,
  resume,
  received,
  limits,
}: StreamHeader): Buffer {
  return line({
    header: {
      job: name,
      kind: 'message',
      dataset,
      engine: STREAM_ENGINE,
      resume,
      received,
      limits,
    },
  });
}

/** The line before the first answer of another release than the last one that was named. */
export function datasetLine(dataset: string, seq: number): Buffer {
  return line({ dataset: { id: dataset, seq } });
}
