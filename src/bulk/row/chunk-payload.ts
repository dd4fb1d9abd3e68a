/**
 * The payload that a worker gets for a chunk, and its result. The run and the tally are fields in
 * the form of field-bytes.ts.
 *
 * Chunk:  u32 length of the run · run · u32 line · u32 rows · u32 end of each row · bytes
 * Result: u32 length of the tally · tally · output bytes
 */
import { MINIMUM_PRECISIONS } from '../../config.js';
import { fail, type Failure, FAILURE_KINDS } from '../../failure.js';
import type { ParameterName } from '../../api/lookup/parameter-table.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import type { CartParameter } from './cart-parameters.js';
import { type Dialect, DELIMITERS, NEWLINES } from './dialect.js';
import { FieldReader, FieldWriter } from './field-bytes.js';
import type { RawChunk } from './record-form.js';
import type { Mapping } from './mapping.js';
import type { RowRefusal } from '../../wire/response-code.js';
import type { PinnedRelease } from '../../pool/types.js';

/** The kinds of rows. */
const BULK_KINDS = ['lookup', 'cart', 'message'] as const;
export type BulkKind = (typeof BULK_KINDS)[number];

export const BULK_FORMATS = ['csv', 'ndjson'] as const;
export type BulkFormat = (typeof BULK_FORMATS)[number];

/** The table that the rows of a CSV file belong to. */
export interface Table {
  readonly dialect: Dialect;
  readonly columns: number;
  readonly mapping: Mapping;
}

/** Parameters for every row that has no value of its own. */
export type Defaults = Readonly<Partial<Record<ParameterName | CartParameter, string>>>;

/**
 * The facts of a run over rows. The same facts and rows give the same output, however the rows are
 * cut into chunks and whichever workers answer them.
 */
export interface RunFacts {
  /** The name that clients see as `job`. */
  readonly name: string;
  readonly kind: BulkKind;
  /** The release that answers every row, even if another one is activated in the meantime. */
  readonly release: PinnedRelease;
  /** The moment that "today" is derived from, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly output: BulkFormat;
  /** Null where the rows are NDJSON. */
  readonly table: Table | null;
  readonly defaults: Defaults;
  /** Refuses every row, such as the last one of a run whose quota is used up. */
  readonly refusal?: Failure;
  /** What else rows of the kind need to know, such as that their merchants are the caller's. */
  readonly subject?: string;
  /**
   * Settings of the server that the file was given to; absent for those of the machine that
   * answers.
   */
  readonly settings?: AnswerSettings;
}

/** A row of a chunk that was refused. */
export interface RefusedRow extends RowRefusal {
  readonly line: number;
}

/** The counts of a chunk's rows. */
export interface ChunkTally {
  readonly rows: number;
  /** How many rows have each response code. */
  readonly codes: Readonly<Record<string, number>>;
  /** How many rows count as lookups (`core`), and how many of these as geocoded. */
  readonly core: number;
  readonly geo: number;
  /** How many rows count as merchant operations. */
  readonly merchant: number;
  /** All refused rows where rows are messages, otherwise only the first. */
  readonly refusals: readonly RefusedRow[];
}

const U32 = 4;
const FIELDS_BYTES = 1_024;

/** Memory in which fields are written. They are copied before the next ones begin. */
const fields = new FieldWriter(FIELDS_BYTES);

function putFailure(failure: Failure | undefined): void {
  fields.byte(failure === undefined ? 0 : 1 + FAILURE_KINDS.indexOf(failure.failure));
  if (failure === undefined) return;
  fields.text(failure.detail ?? null);
  fields.text(failure.field);
}

function failureFrom(from: FieldReader): Failure | undefined {
  const kind = FAILURE_KINDS[from.byte() - 1];
  if (kind === undefined) return undefined;
  const detail = from.textOrNull() ?? undefined;
  return fail(kind, detail, from.textOrNull());
}

function putTable(table: Table | null): void {
  fields.byte(Number(table !== null));
  if (table === null) return;
  const { dialect, columns, mapping } = table;
  fields.byte(DELIMITERS.indexOf(dialect.delimiter));
  fields.byte(NEWLINES.indexOf(dialect.newline));
  fields.byte(Number(dialect.quoteAll));
  fields.u32(columns);
  const roles = Object.entries(mapping);
  fields.u32(roles.length);
  for (const [role, column] of roles) {
    fields.text(role);
    fields.u32(column);
  }
}

/** Reads a table. Fields are read in the order in which `putTable` writes them. */
function tableFrom(from: FieldReader): Table | null {
  if (from.byte() === 0) return null;
  const dialect: Dialect = {
    delimiter: DELIMITERS[from.byte()]!,
    newline: NEWLINES[from.byte()]!,
    quoteAll: from.byte() === 1,
  };
  const columns = from.u32();
  const mapping: Record<string, number> = {};
  for (let left = from.u32(); left > 0; left -= 1) mapping[from.text()] = from.u32();
  return { dialect, columns, mapping };
}

function putSettings(settings: AnswerSettings | undefined): void {
  fields.text(settings?.baseUrl ?? null);
  if (settings === undefined) return;
  fields.byte(MINIMUM_PRECISIONS.indexOf(settings.precisionMin));
  fields.byte(Number(settings.refuseUnruled));
}

function settingsFrom(from: FieldReader): AnswerSettings | undefined {
  const baseUrl = from.textOrNull();
  if (baseUrl === null) return undefined;
  const precisionMin = MINIMUM_PRECISIONS[from.byte()]!;
  return { baseUrl, precisionMin, refuseUnruled: from.byte() === 1 };
}

/** The bytes of a run that go with each of its chunks; they are made once. */
export function encodeRun(run: RunFacts): Buffer {
  fields.clear();
  fields.text(run.name);
  fields.byte(BULK_KINDS.indexOf(run.kind));
  fields.text(run.release.id);
  fields.text(run.release.dir);
  fields.f64(run.nowMs);
  fields.byte(BULK_FORMATS.indexOf(run.output));
  putTable(run.table);
  const defaults = Object.entries(run.defaults);
  fields.u32(defaults.length);
  for (const each of defaults) for (const text of each) fields.text(text);
  putFailure(run.refusal);
  fields.text(run.subject ?? null);
  putSettings(run.settings);
  return fields.bytes();
}

/** Reads a run. Members are read in the order in which they were written. */
export function decodeRun(run: Buffer): RunFacts {
  const from = new FieldReader(run);
  const name = from.text();
  const kind = BULK_KINDS[from.byte()]!;
  const release = { id: from.text(), dir: from.text() };
  const nowMs = from.f64();
  const output = BULK_FORMATS[from.byte()]!;
  const table = tableFrom(from);
  const defaults: Record<string, string> = {};
  for (let left = from.u32(); left > 0; left -= 1) defaults[from.text()] = from.text();
  const refusal = failureFrom(from);
  const subject = from.textOrNull();
  const settings = settingsFrom(from);
  return {
    name,
    kind,
    release,
    nowMs,
    output,
    table,
    defaults,
    ...(refusal === undefined ? {} : { refusal }),
    ...(subject === null ? {} : { subject }),
    ...(settings === undefined ? {} : { settings }),
  };
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

/** The number of the first row of a payload, and how many rows it has. */
export function rowsOf(payload: Uint8Array): { readonly line: number; readonly rows: number } {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const at = U32 + bytes.readUInt32LE(0);
  return { line: bytes.readUInt32LE(at), rows: bytes.readUInt32LE(at + U32) };
}

interface DecodedChunk {
  readonly run: RunFacts;
  readonly chunk: RawChunk;
}

/** Reads a payload; the bytes of the rows are a view of it. */
export function decodeChunk(payload: Buffer): DecodedChunk {
  const length = payload.readUInt32LE(0);
  let at = U32 + length;
  const run = decodeRun(payload.subarray(U32, at));
  const line = payload.readUInt32LE(at);
  const rows = payload.readUInt32LE(at + U32);
  at += 2 * U32;
  const ends = new Uint32Array(rows);
  for (let index = 0; index < rows; index += 1, at += U32) ends[index] = payload.readUInt32LE(at);
  return { run, chunk: { line, ends, bytes: payload.subarray(at) } };
}

/** The bytes of a tally, which precede the output in a result. */
export function encodeTally({ rows, codes, core, geo, merchant, refusals }: ChunkTally): Buffer {
  fields.clear();
  for (const count of [rows, core, geo, merchant]) fields.u32(count);
  const counts = Object.entries(codes);
  fields.byte(counts.length);
  for (const [code, count] of counts) {
    fields.u16(Number(code));
    fields.u32(count);
  }
  fields.u32(refusals.length);
  for (const { line, code, message, field } of refusals) {
    fields.u32(line);
    fields.u16(code);
    fields.text(message);
    fields.text(field);
  }
  return fields.bytes();
}

/** Reads a tally. */
export function decodeTally(tally: Buffer): ChunkTally {
  const from = new FieldReader(tally);
  const [rows, core, geo, merchant] = [from.u32(), from.u32(), from.u32(), from.u32()];
  const codes: Record<string, number> = {};
  for (let left = from.byte(); left > 0; left -= 1) codes[from.u16()] = from.u32();
  const refusals: RefusedRow[] = [];
  for (let left = from.u32(); left > 0; left -= 1) {
    const [line, code] = [from.u32(), from.u16()];
    refusals.push({ line, code, message: from.text(), field: from.textOrNull() });
  }
  return { rows, codes, core, geo, merchant, refusals };
}

/** A result in parts. */
export function encodeResult(tally: ChunkTally, output: Uint8Array): readonly Uint8Array[] {
  const told = encodeTally(tally);
  const length = Buffer.allocUnsafe(U32);
  length.writeUInt32LE(told.length, 0);
  return [length, told, output];
}

/**
 * Reads a result. The output is a view, or a copy made by `copy` where the body lies in shared
 * memory.
 */
export function decodeResult(
  body: Uint8Array,
  copy: (output: Buffer) => Buffer = Buffer.from,
): { readonly tally: ChunkTally; output: Buffer } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const at = U32 + bytes.readUInt32LE(0);
  const tally = decodeTally(bytes.subarray(U32, at));
  const output = bytes.subarray(at);
  return { tally, output: output.buffer instanceof SharedArrayBuffer ? copy(output) : output };
}
