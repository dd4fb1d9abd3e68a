/**
 * Chunks and results in the form that machines send each other. They differ from those of
 * row/chunk-payload.ts only in the run and the tally, which are JSON here, so that a node of
 * another version can read them.
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
  /** The first refused row; null where there is none. */
  readonly refusal: RefusedRow | null;
}

function headOf(bytes: Buffer): Buffer {
  return bytes.subarray(U32, U32 + bytes.readUInt32LE(0));
}

/** A copy of `bytes` with another head. */
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

/** The form of a chunk for another machine. */
export function sentChunk(payload: Uint8Array): Buffer {
  const bytes = bufferOf(payload);
  return withHead(bytes, asJson(decodeRun(headOf(bytes))));
}

/**
 * The form of another machine's chunk for workers here, with the place of the release here.
 * @throws Error where the rows are for another release.
 */
export function takenChunk(bytes: Buffer, { id, dir }: PinnedRelease): Buffer {
  const run: RunFacts = JSON.parse(headOf(bytes).toString('utf8'));
  if (run.release.id !== id) throw new Error(`the rows are of the dataset ${run.release.id}`);
  return withHead(bytes, encodeRun({ ...run, release: { id, dir } }));
}

/** The form of a result for another machine; a copy. */
export function sentResult(body: Uint8Array): Buffer {
  const bytes = bufferOf(body);
  const { refusals, ...counts } = decodeTally(headOf(bytes));
  return withHead(bytes, asJson({ ...counts, refusal: refusals[0] ?? null }));
}

/** The form of another machine's result that workers here would give. */
export function takenResult(answer: Uint8Array): Buffer {
  const bytes = bufferOf(answer);
  const { refusal, ...counts }: SentTally = JSON.parse(headOf(bytes).toString('utf8'));
  return withHead(bytes, encodeTally({ ...counts, refusals: refusal === null ? [] : [refusal] }));
}
