/** Random bulk bodies, of which it is known what they hold, and their way through a worker. */
import type { Dataset } from '../../src/dataset/dataset.js';
import { isProblem } from '../../src/base/problem.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { CsvBeginning } from '../../src/bulk/run/csv-beginning.js';
import { rowCutter } from '../../src/bulk/run/run.js';
import { answerFrame } from '../../src/worker.js';
import { columnRulesOf } from '../../src/bulk/row/mapping.js';
import { csvHeaderLine } from '../../src/bulk/row/envelope.js';
import type { RecordCutter } from '../../src/bulk/row/record-cutter.js';
import {
  decodeResult,
  encodeChunk,
  encodeRun,
  type BulkFormat,
  type RunFacts,
  type BulkKind,
  type ChunkTally,
  type Defaults,
  type Table,
} from '../../src/bulk/row/chunk-payload.js';
import { CHUNK_BYTES_MAX } from '../../src/bulk/row/record-form.js';
import { openWire, type WireContext } from '../../src/api/lookup/context.js';
import { engineOf } from './engine-of.js';

/** Zero up to one. */
export type Random = () => number;

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[below(random, values.length)]!;
}

export interface CsvBody {
  readonly bytes: Buffer;
  readonly delimiter: string;
  readonly newline: string;
  readonly headers: readonly string[];
  /** Rows as bytes without line end, and their cells; null where they are no row of the table. */
  readonly rows: readonly { readonly bytes: Buffer; readonly cells: readonly string[] | null }[];
}

const ADDRESSES = [
  '200 Spindle Center Dr, Brookmere, QZ 97001',
  '1 Nowhere Rd, Elmton, QA 91010',
  '',
  '  ',
  'x',
];
const ODD_CELLS = [
  '',
  'plain',
  'a "quoted" word',
  'comma, semi; tab\t pipe|',
  'two\nlines',
  'two\r\nlines',
  'ünï©ode ☃',
  ' led by space',
  '"',
  '""',
  'end "',
  "it's",
  '=1+1',
  '\ufeffmark',
  'cr\ralone',
];
const BROKEN_ROWS = ['"a"b', 'x,"y" z"', '5" pipe', 'one"two"', 'a"', '""b'];

function writeCell(random: Random, text: string, delimiter: string, always: boolean): string {
  const must = always || text.includes(delimiter) || /["\r\n]/.test(text) || random() < 0.2;
  return must ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A well-formed CSV file now and then spoiled by rows that are none. */
export function csvBody(random: Random, spoiled = true): CsvBody {
  const delimiter = oneOf(random, [',', ';', '\t', '|']);
  const newline = oneOf(random, ['\n', '\r\n', '\r']);
  const always = random() < 0.2;
  const headers = ['id', 'address', 'note', ...(random() < 0.5 ? ['zip'] : [])];
  const line = (cells: readonly string[]): string =>
    cells.map((cell) => writeCell(random, cell, delimiter, always)).join(delimiter);
  const rows: { bytes: Buffer; cells: readonly string[] | null }[] = [];
  for (let index = 0, count = below(random, 12); index < count; index += 1) {
    if (spoiled && random() < 0.15) {
      const text = oneOf(random, BROKEN_ROWS).replaceAll(',', delimiter);
      rows.push({ bytes: Buffer.from(text), cells: null });
      continue;
    }
    const cells = headers.map((name) =>
      name === 'id'
        ? `r${index}`
        : name === 'address'
          ? oneOf(random, ADDRESSES)
          : oneOf(random, ODD_CELLS),
    );
    const kept = random() < 0.1 ? cells.slice(0, 1 + below(random, cells.length - 1)) : cells;
    rows.push({ bytes: Buffer.from(line(kept)), cells: kept });
  }
  const ended = rows.length === 0 || random() < 0.7;
  const parts = [
    Buffer.from((random() < 0.3 ? '\ufeff' : '') + line(headers) + newline),
    ...rows.flatMap(({ bytes }, index) =>
      index < rows.length - 1 || ended ? [bytes, Buffer.from(newline)] : [bytes],
    ),
  ];
  return { bytes: Buffer.concat(parts), delimiter, newline, headers, rows };
}

export interface NdjsonBody {
  readonly bytes: Buffer;
  /** Ids of the lines, undefined where a line is no request. */
  readonly ids: readonly (string | number | null | undefined)[];
}

const BAD_LINES = [
  '',
  ' ',
  '{',
  '[]',
  'null',
  '"text"',
  '{"id":{}}',
  '{"address":["x"]}',
  '12',
  '{"id":"x"',
  '\ufeff{}',
];

/** NDJSON with good and bad lines. */
export function ndjsonBody(random: Random): NdjsonBody {
  const ids: (string | number | null | undefined)[] = [];
  const lines: Buffer[] = [];
  for (let index = 0, count = below(random, 12); index < count; index += 1) {
    const kind = random();
    if (kind < 0.2) {
      lines.push(Buffer.from(oneOf(random, BAD_LINES)));
      ids.push(undefined);
    } else if (kind < 0.25) {
      lines.push(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
      ids.push(undefined);
    } else {
      const id = oneOf(random, [index, `line ${index}`, 'ü"\n', null]);
      const row = { id, address: oneOf(random, ADDRESSES), other: oneOf(random, ODD_CELLS) };
      lines.push(Buffer.from(JSON.stringify(row)));
      ids.push(id);
    }
  }
  const newline = oneOf(random, ['\n', '\r\n']);
  const last = lines.at(-1);
  // Without its line end an empty last line would be none.
  const ended = last === undefined || last.length === 0 || random() < 0.7;
  const bytes = Buffer.concat(
    lines.flatMap((line, index) =>
      index < lines.length - 1 || ended ? [line, Buffer.from(newline)] : [line],
    ),
  );
  return { bytes, ids };
}

/** Cuts a body into pieces at random positions; the pieces are emptied after use by none. */
export function cut(random: Random, bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = random() < 0.3 ? 1 : 1 + below(random, bytes.length - at);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

interface Answered {
  readonly output: Buffer;
  readonly tallies: readonly ChunkTally[];
}

export interface BulkRun {
  readonly dataset: Dataset;
  readonly output: BulkFormat;
  readonly nowMs: number;
  readonly map?: readonly string[];
  readonly defaults?: Defaults;
  readonly rowsPerChunk?: number;
  readonly kind?: BulkKind;
  readonly job?: string;
  readonly grants?: number;
  readonly context?: WireContext;
}

const CONTEXT = openWire({ baseUrl: 'https://rates.example' });

/** A body on its way through the worker's op, chunk by chunk. */
class BulkFeed {
  readonly parts: Buffer[] = [];
  readonly tallies: ChunkTally[] = [];
  readonly #run: BulkRun;
  readonly #kind: BulkKind;
  readonly #beginning: CsvBeginning;
  #cutter: RecordCutter | null = null;
  #job: Buffer = Buffer.alloc(0);

  constructor(input: BulkFormat, run: BulkRun) {
    this.#run = run;
    this.#kind = run.kind ?? 'lookup';
    this.#beginning = new CsvBeginning(
      run.map ?? [],
      null,
      columnRulesOf(this.#kind, run.defaults ?? {}),
    );
    if (input === 'ndjson') this.#begin(null);
  }

  push(piece: Uint8Array): void {
    if (this.#cutter === null) this.#beginCsv(piece, false);
    else this.#cutter.push(piece);
  }

  end(): void {
    if (this.#cutter === null) this.#beginCsv(new Uint8Array(0), true);
    if (this.#cutter === null) throw new Error('the body never began');
    this.#cutter.end();
    this.take();
  }

  /** Answers what is whole so far. */
  take(): void {
    const { dataset, nowMs, rowsPerChunk = 256, grants = GRANT_ALL, context = CONTEXT } = this.#run;
    for (;;) {
      const chunk = this.#cutter?.take(rowsPerChunk, CHUNK_BYTES_MAX) ?? null;
      if (chunk === null) return;
      const frame = new RequestFrame();
      frame.add({ kind: 'rows', grants }, encodeChunk(this.#job, chunk));
      const packed = answerFrame(engineOf(dataset), frame.bytes(), nowMs, context);
      readAnswers(packed, 1, (_index, { status, body }) => {
        if (status !== 200) throw new Error(Buffer.from(body).toString());
        const result = decodeResult(body);
        this.parts.push(result.output);
        this.tallies.push(result.tally);
      });
    }
  }

  #begin(table: Table | null): RecordCutter {
    const { dataset, job = 'test', nowMs, output, defaults = {} } = this.#run;
    const content: RunFacts = {
      name: job,
      kind: this.#kind,
      release: { id: dataset.id, dir: '' },
      nowMs,
      output,
      table,
      defaults,
    };
    this.#job = encodeRun(content);
    this.#cutter = rowCutter(table, this.#kind, null);
    return this.#cutter;
  }

  #beginCsv(piece: Uint8Array, whole: boolean): void {
    const found = this.#beginning.push(piece, whole);
    if (found === null) return;
    if (isProblem(found)) throw new Error(found.detail);
    if (this.#run.output === 'csv') this.parts.push(csvHeaderLine(found.head, this.#kind));
    this.#begin(found.table).push(found.rest);
  }
}

/** Sends pieces of a body through cutter and worker op; `input` csv or ndjson. */
export function runBulk(input: BulkFormat, pieces: readonly Buffer[], run: BulkRun): Answered {
  const feed = new BulkFeed(input, run);
  for (const piece of pieces) {
    // As the native server does, the piece is emptied once it was handed over.
    const lent = Uint8Array.from(piece);
    feed.push(lent);
    lent.fill(0);
    feed.take();
  }
  feed.end();
  return { output: Buffer.concat(feed.parts), tallies: feed.tallies };
}
