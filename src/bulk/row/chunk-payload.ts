/**
 * What a worker is told with every chunk, and what it gives back.
 *
 * Chunk:  u32 length of the run · run (JSON) · u32 line · u32 rows · u32 end of each row · bytes
 * Result: u32 length of the tally · tally (JSON) · output bytes
 */
import type { Failure } from '../../failure.js';
import type { ReleaseName } from '../../api/lookup/context.js';
import type { ParameterName } from '../../api/lookup/parameter-table.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import type { CartParameter } from './cart-parameters.js';
import type { Dialect } from './dialect.js';
import type { RawChunk } from './framing.js';
import type { Mapping } from './mapping.js';

/** What each row asks for. */
const BULK_KINDS = ['lookup', 'cart', 'message'] as const;
export type BulkKind = (typeof BULK_KINDS)[number];

export const BULK_FORMATS = ['csv', 'ndjson'] as const;
export type BulkFormat = (typeof BULK_FORMATS)[number];

/** The table that rows of a CSV file are part of. */
export interface Table {
  readonly dialect: Dialect;
  readonly columns: number;
  readonly mapping: Mapping;
}

/** Parameters that hold for every row without a value of its own. */
export type Defaults = Readonly<Partial<Record<ParameterName | CartParameter, string>>>;

/**
 * A run over rows: the same run and rows give the same output, in any chunks and workers.
 */
export interface RunFacts {
  /** Told as `job` in what the client gets. */
  readonly name: string;
  readonly kind: BulkKind;
  /** The release that answers every row, whatever is activated meanwhile. */
  readonly release: ReleaseName;
  /** The moment that "today" is told from, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly output: BulkFormat;
  /** Null where rows are NDJSON. */
  readonly table: Table | null;
  readonly defaults: Defaults;
  /** Refuses every row: how a run ends whose quota is used up. */
  readonly refusal?: Failure;
  /** What rows of the kind need to know beside it, e.g. whose carts these are. */
  readonly subject?: string;
  /** Settings of whose file it is; those of the machine that answers where absent. */
  readonly settings?: AnswerSettings;
}

/** The first row of a chunk that was not answered with success. */
export interface RowRefusal {
  readonly line: number;
  readonly code: number;
  readonly message: string;
  readonly field: string | null;
}

/** What became of the rows of a chunk. */
export interface ChunkTally {
  readonly rows: number;
  /** Rows by response code. */
  readonly codes: Readonly<Record<string, number>>;
  /** Rows that count in the quota of lookups, and those of them that count as geocoded. */
  readonly core: number;
  readonly geo: number;
  /** Rows that count as merchant operations. */
  readonly merchant: number;
  readonly refusal: RowRefusal | null;
}

const U32 = 4;

/** A run as it travels with every chunk; encoded once. */
export function encodeRun(run: RunFacts): Buffer {
  return Buffer.from(JSON.stringify(run), 'utf8');
}

/** The payload of a chunk. */
export function encodeChunk(run: Buffer, { line, ends, bytes }: RawChunk): Buffer {
  const head = U32 + run.length + 2 * U32 + ends.length * U32;
  const payload = Buffer.allocUnsafeSlow(head + bytes.length);
  let at = payload.writeUInt32LE(run.length, 0);
  at += run.copy(payload, at);
  at = payload.writeUInt32LE(line, at);
  at = payload.writeUInt32LE(ends.length, at);
  for (const end of ends) at = payload.writeUInt32LE(end, at);
  payload.set(bytes, at);
  return payload;
}

/** Which rows a payload has: the number of the first one, and how many. */
export function rowsOf(payload: Uint8Array): { readonly line: number; readonly rows: number } {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const at = U32 + bytes.readUInt32LE(0);
  return { line: bytes.readUInt32LE(at), rows: bytes.readUInt32LE(at + U32) };
}

export interface DecodedChunk {
  readonly run: RunFacts;
  readonly chunk: RawChunk;
}

/** Reads a payload; the bytes stay views. */
export function decodeChunk(payload: Buffer): DecodedChunk {
  const length = payload.readUInt32LE(0);
  let at = U32 + length;
  const run: RunFacts = JSON.parse(payload.toString('utf8', U32, at));
  const line = payload.readUInt32LE(at);
  const rows = payload.readUInt32LE(at + U32);
  at += 2 * U32;
  const ends = new Uint32Array(rows);
  for (let index = 0; index < rows; index += 1, at += U32) ends[index] = payload.readUInt32LE(at);
  return { run, chunk: { line, ends, bytes: payload.subarray(at) } };
}

/** The two parts of a result. */
export function encodeResult(tally: ChunkTally, output: Uint8Array): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(tally), 'utf8');
  const length = Buffer.allocUnsafe(U32);
  length.writeUInt32LE(text.length, 0);
  return [length, text, output];
}

/**
 * Reads a result; the output is a copy where answers share memory, made by `copy` if it is given,
 * else a view.
 */
export function decodeResult(
  body: Uint8Array,
  copy: (output: Buffer) => Buffer = Buffer.from,
): { readonly tally: ChunkTally; output: Buffer } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const at = U32 + bytes.readUInt32LE(0);
  const tally: ChunkTally = JSON.parse(bytes.toString('utf8', U32, at));
  const output = bytes.subarray(at);
  return { tally, output: output.buffer instanceof SharedArrayBuffer ? copy(output) : output };
}
