/**
 * One chunk of rows in a worker: bytes in, bytes out. A row that is no row, or whose answer fails,
 * is answered like any other and leaves the others alone.
 */
import type { Dataset } from '../../dataset/dataset.js';
import { FLAG_GEO, type Answer } from '../../engine/frame.js';
import type { WireContext } from '../context.js';
import type { RawParameters } from '../query-string.js';
import { SUCCESS } from '../response-code.js';
import { answerBulkCart } from './bulk-cart.js';
import { ByteWriter } from './byte-writer.js';
import { csvToCsv, csvToLines } from './csv-chunk.js';
import { decodeChunk, encodeResult, type BulkJob, type BulkKind } from './job.js';
import { messagesToLines } from './message-chunk.js';
import { linesToLines } from './ndjson-chunk.js';
import { answerLookupRow, refused, type JsonRow, type RowEngine } from './row.js';
import { Tally } from './tally.js';

/** How an NDJSON row of each kind is answered. */
const KINDS: Readonly<Record<Exclude<BulkKind, 'message'>, JsonRow>> = {
  lookup: answerLookupRow,
  cart: answerBulkCart,
};

/** Bytes to begin with for each row, about what one gets. */
const CSV_ROW_BYTES = 200;
const LINE_BYTES = 3_000;
const LIVE_BYTES = 262_144;

/** Answers the parameters of a row with the bytes of a single lookup. */
export type AnswerParameters = (
  context: WireContext, dataset: Dataset, raw: RawParameters, grants: number, nowMs: number,
) => Answer;

/** Memory of small chunks that come often; an answer is copied before the next one begins. */
let live: ByteWriter | null = null;

function liveWriter(): ByteWriter {
  live ??= new ByteWriter(LIVE_BYTES);
  live.clear();
  return live;
}

/** The op of a worker: a payload to a result, both as in job.ts. */
export function answerBulk(
  context: WireContext, given: Dataset, payload: Buffer, grants: number,
  answerParameters: AnswerParameters,
): Answer {
  const { job, chunk } = decodeChunk(payload);
  const dataset = job.release.id === given.id ? given : context.open(job.release);
  const engine: RowEngine = {
    context, dataset, job, grants,
    lookup: (raw) => {
      if (job.refusal !== undefined) return refused(engine, job.refusal);
      const { code, flags, body } = answerParameters(context, dataset, raw, grants, job.nowMs);
      return { code, body, geo: (flags & FLAG_GEO) !== 0 };
    },
  };
  const { refusal } = job;
  const tally = new Tally();
  const into = job.kind === 'message'
    ? liveWriter() : new ByteWriter(chunk.bytes.length + chunk.ends.length * rowBytes(job));
  if (job.kind === 'message') messagesToLines(engine, chunk, into, tally);
  else if (job.table === null) {
    const json = refusal === undefined ? KINDS[job.kind] : () => refused(engine, refusal);
    linesToLines(engine, json, chunk, into, tally);
  } else if (job.output === 'csv') csvToCsv(engine, job.table, chunk, into, tally);
  else csvToLines(engine, job.table, chunk, into, tally);
  return {
    status: SUCCESS.http, code: SUCCESS.code, precision: 0, flags: 0,
    body: encodeResult(tally.result(), into.bytes()),
  };
}

function rowBytes({ output }: BulkJob): number {
  return output === 'csv' ? CSV_ROW_BYTES : LINE_BYTES;
}
