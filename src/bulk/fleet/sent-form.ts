/**
 * Chunks and results as machines send them to one another. They are those of row/chunk-payload.ts,
 * but for the run and the tally, which are JSON here: a node of another version reads it as well.
 */
import { bufferOf } from '../../base/growing-bytes.js';
import type { PinnedRelease } from '../../pool/types.js';
import {
  type ChunkTally,
  decodeRun,
  decodeTally,
  encodeRun,
  encodeTally,
  type RefusedRow,
  type RunFacts,
} from '../row/chunk-payload.js';

const U32 = 4;

interface SentTally extends Omit<ChunkTally, 'refusals'> {
  /** The first one. */
  readonly refusal: RefusedRow | null;
}

function headOf(bytes: Buffer): Buffer {
  return bytes.subarray(U32, U32 + bytes.readUInt32LE(0));
}

/** What was sent with another head before it, in memory of its own. */
function withHead(bytes: Buffer, head: Buffer): Buffer {
  const rest = bytes.subarray(U32 + bytes.readUInt32LE(0));
  const all = Buffer.allocUnsafeSlow(U32 + head.length + rest.length);
  all.writeUInt32LE(head.length, 0);
  all.set(head, U32);
  all.set(rest, U32 + head.length);
  return all;
}

function asJson(value: RunFacts | SentTally): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

/** A chunk for another machine. */
export function sentChunk(payload: Uint8Array): Buffer {
  const bytes = bufferOf(payload);
  return withHead(bytes, asJson(decodeRun(headOf(bytes))));
}

/**
 * A chunk of another machine as workers here take it: from the release where it lies here.
 * @throws Error where the rows are of another release.
 */
export function takenChunk(bytes: Buffer, { id, dir }: PinnedRelease): Buffer {
  const run: RunFacts = JSON.parse(headOf(bytes).toString('utf8'));
  if (run.release.id !== id) throw new Error(`the rows are of the dataset ${run.release.id}`);
  return withHead(bytes, encodeRun({ ...run, release: { id, dir } }));
}

/** A result for another machine; a copy. */
export function sentResult(body: Uint8Array): Buffer {
  const bytes = bufferOf(body);
  const { refusals, ...counts } = decodeTally(headOf(bytes));
  return withHead(bytes, asJson({ ...counts, refusal: refusals[0] ?? null }));
}

/** A result of another machine as workers here give it. */
export function takenResult(answer: Uint8Array): Buffer {
  const bytes = bufferOf(answer);
  const { refusal, ...counts }: SentTally = JSON.parse(headOf(bytes).toString('utf8'));
  return withHead(bytes, encodeTally({ ...counts, refusals: refusal === null ? [] : [refusal] }));
}
