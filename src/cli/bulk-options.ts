/** What `situs bulk` and `situs lint` are asked to do, and where they read rows from. */
import { errorCode } from '../base/error-code.js';
import { isProblem } from '../base/problem.js';
import { messageOf } from '../log.js';
import { BULK_ROUTES } from '../bulk/run/kind.js';
import { type BulkRequest, requestOf } from '../bulk/run/request.js';
import { BULK_FORMATS, type BulkFormat, type BulkKind } from '../bulk/row/chunk-payload.js';
import { columnRulesOf, readEntry } from '../bulk/row/mapping.js';
import { UsageError } from './command-line.js';
import { readPipe } from './named-pipe.js';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type ByteSource,
  type FileIdentity,
  fileSource,
  onceSource,
} from '../bulk/job/byte-source.js';

/** Stands for standard input or standard output. */
export const STANDARD = '-';

/** Pipes and devices can be read only once, so a run from one cannot be resumed. */
export const RESUME_NEEDS = '--resume needs a file to read and a file to write (-o)';

export interface BulkOptions {
  readonly file: string;
  readonly output: string;
  readonly kind: BulkKind;
  readonly request: BulkRequest;
  readonly resume: boolean;
  readonly quiet: boolean;
  /** Null for a thread on each processor. */
  readonly threads: number | null;
  /** Address of the broker whose nodes answer the rows; null to answer them on this machine. */
  readonly fleet: string | null;
}

/** The format by the ending of a file's name, also of a compressed file. */
function formatOf(file: string): BulkFormat {
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file) ? 'ndjson' : 'csv';
}

function formatNamed(option: string, name: string): BulkFormat {
  const found = BULK_FORMATS.find((format) => format === name);
  if (found === undefined) throw new UsageError(`--${option} is csv or ndjson`);
  return found;
}

/** Options on how the rows of a file are read. */
export interface RowsAsked {
  readonly input?: string;
  readonly format?: string;
  readonly map?: readonly string[];
  readonly delimiter?: string;
  readonly default?: readonly string[];
  readonly dataset?: string;
  readonly at?: string;
  readonly strict?: boolean;
}

/** The options of `situs bulk`. */
export interface BulkAsked extends RowsAsked {
  readonly output: string;
  readonly kind: string;
  readonly resume?: boolean;
  readonly quiet?: boolean;
  readonly threads?: number;
  readonly fleet?: string;
}

/**
 * The parameters that a server would be sent for the same rows.
 * @throws UsageError for options that it would refuse.
 */
export function requestFor(file: string, asked: RowsAsked, kind: BulkKind): BulkRequest {
  const query = new URLSearchParams();
  for (const entry of asked.map ?? []) {
    const read = readEntry(entry, columnRulesOf(kind, {}));
    if (isProblem(read)) throw new UsageError(read.detail);
    query.append('map', entry);
  }
  if (asked.delimiter !== undefined) query.set('delimiter', asked.delimiter);
  if (asked.dataset !== undefined) query.set('dataset', asked.dataset);
  if (asked.at !== undefined) query.set('at', asked.at);
  if (asked.strict === true) query.set('strict', 'true');
  for (const entry of asked.default ?? []) {
    const at = entry.indexOf('=');
    if (at < 0) throw new UsageError('--default is NAME=VALUE');
    query.set(entry.slice(0, at), entry.slice(at + 1));
  }
  const input = formatNamed('input', asked.input ?? formatOf(file));
  const output = asked.format === undefined ? input : formatNamed('format', asked.format);
  const formats = { kind, input, output, gzipIn: false, gzipOut: false };
  const request = requestOf(formats, query, 'query');
  if (isProblem(request)) throw new UsageError(request.detail);
  return request;
}

/** The kind of rows, checked. */
function kindOf(text: string): BulkKind {
  const kinds = BULK_ROUTES.map(({ kind }) => kind);
  const found = kinds.find((kind) => kind === text);
  if (found === undefined) throw new UsageError(`--kind is ${kinds.join(' or ')}`);
  return found;
}

/**
 * What a run of `situs bulk` is to do.
 * @throws UsageError for options that do not go together.
 */
export function bulkOptions(file: string, asked: BulkAsked): BulkOptions {
  const { output, resume = false, quiet = false, threads = null, fleet = null } = asked;
  const kind = kindOf(asked.kind);
  if (resume && (file === STANDARD || output === STANDARD)) {
    throw new UsageError(RESUME_NEEDS);
  }
  if (fleet !== null && threads !== null) {
    throw new UsageError('--threads are of this machine; with --fleet its nodes have theirs');
  }
  const request = requestFor(file, asked, kind);
  return { file, output, kind, resume, quiet, threads, fleet, request };
}

/** Bytes of rows that take about as long to answer as a thread takes to start. */
const THREAD_BYTES_MIN = 262_144;

/**
 * How many threads are worth starting for a file, where none were asked for. `plainBytes` is null
 * where the size is not known.
 */
export function threadsFor(plainBytes: number | null, processors: number): number {
  if (plainBytes === null) return processors;
  return Math.min(processors, Math.max(1, Math.floor(plainBytes / THREAD_BYTES_MIN)));
}

// Where the commands read rows from: a file, compressed or not, or an input that can be read once.

const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

export interface RowsSource {
  readonly source: ByteSource;
  readonly identity: FileIdentity;
  /** Whether it can be read only once, as a pipe. Then its run cannot be resumed. */
  readonly once: boolean;
  /** Bytes after decompression; null where they are not known. */
  readonly plainBytes: number | null;
  /** Closes the input, so that a pipe without data does not keep the process running. */
  close(): void;
}

async function isPackedFile(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(GZIP_MAGIC.length), 0, GZIP_MAGIC.length, 0);
    return GZIP_MAGIC.equals(buffer);
  } finally {
    await file.close();
  }
}

/** The bytes of an input that is read once, decompressed where they begin as gzip does. */
async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const iterator = packed[Symbol.asyncIterator]();
  let begin = Buffer.alloc(0);
  while (begin.length < GZIP_MAGIC.length) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    begin = Buffer.concat([begin, value]);
  }
  const whole = {
    async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
      if (begin.length > 0) yield begin;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return;
        yield value;
      }
    },
  };
  if (!begin.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    yield* whole;
    return;
  }
  yield* pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined);
}

/** As `source`; what cannot be unpacked is told with the name of the file. */
function naming(name: string, source: ByteSource): ByteSource {
  return async function* read(from) {
    try {
      yield* source(from);
    } catch (error) {
      if (!errorCode(error).startsWith('Z_')) throw error;
      throw new Error(`${name} cannot be unpacked: ${messageOf(error)}`);
    }
  };
}

/**
 * Opens what FILE names. A pipe and a device are read once, as standard input is.
 * @throws UsageError for a folder
 */
export async function openRows(file: string): Promise<RowsSource> {
  const readOnce = (input: Readable): RowsSource => ({
    source: naming(file === STANDARD ? 'standard input' : file, onceSource(unpacked(input))),
    identity: { bytes: 0, modifiedMs: 0 },
    once: true,
    plainBytes: null,
    close: () => input.destroy(),
  });
  if (file === STANDARD) return readOnce(process.stdin);
  const path = resolve(file);
  const found = await stat(path);
  if (found.isDirectory()) throw new UsageError(`${file} is a folder`);
  if (found.isFIFO()) return readOnce(readPipe(path));
  if (!found.isFile()) return readOnce(createReadStream(path));
  const packed = await isPackedFile(path);
  const identity = { bytes: found.size, modifiedMs: found.mtimeMs };
  return {
    source: naming(file, fileSource(path, identity, packed, true)),
    identity,
    once: false,
    plainBytes: packed ? null : found.size,
    close: () => undefined,
  };
}
