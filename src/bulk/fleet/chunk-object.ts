/**
 * Chunks and results as objects of the broker. A chunk of the fleet is some chunks as workers take
 * them, so that what a node does with it is what it does with a file of its own.
 *
 * Chunk:   u32 parts · for each: u32 grants · u32 length · payload as row/chunk-payload.ts has it
 * Result:  u32 length of the head · head (JSON) · the answers one after the other
 *
 * An object is named by its job and the SHA-256 of the chunk, which says all that the answers
 * depend on: whatever lies under the name of a result is the result, whoever put it there and when.
 */
import { createHash } from 'node:crypto';
import { isReleaseName } from '../../dataset/release.js';
import type { PinnedRelease } from '../../pool/types.js';
import { decodeChunk, encodeChunk, encodeRun } from '../row/chunk-payload.js';

/** The form of all this; a node takes none of another. */
const FORM = 1;
const U32 = 4;
const DIGITS = 40;

/** What a worker is handed at a time. */
export interface ChunkPart {
  readonly grants: number;
  readonly payload: Uint8Array;
}

/** A message of the queue: one chunk to answer. */
export interface ChunkOrder {
  readonly job: string;
  /** Name of the object. */
  readonly chunk: string;
  readonly release: string;
  /** Number of the first row, and rows. */
  readonly line: number;
  readonly rows: number;
}

/** What became of a chunk: an answer for each part, or why there is none. */
export type ChunkResult =
  | { readonly answers: readonly Uint8Array[] }
  | { readonly fault: string };

/** What a node says of itself when it is asked. */
export interface NodeAnswer {
  readonly node: string;
  readonly program: string;
  /** The release that answers there; null for none. */
  readonly active: string | null;
  /** Whether it can answer with the release that was asked for. */
  readonly has: boolean;
}

interface ResultHead {
  readonly form: number;
  readonly node: string;
  readonly fault: string | null;
  readonly lengths: readonly number[];
}

/** Name of the result of a chunk. */
export function resultName(chunk: string): string {
  return `${chunk}.result`;
}

/** A chunk as an object, with its name. */
export function encodeParts(
  job: string, parts: readonly ChunkPart[],
): { readonly name: string; readonly bytes: Buffer } {
  const length = parts.reduce((sum, { payload }) => sum + 2 * U32 + payload.length, U32);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = bytes.writeUInt32LE(parts.length, 0);
  for (const { grants, payload } of parts) {
    at = bytes.writeUInt32LE(grants, at);
    at = bytes.writeUInt32LE(payload.length, at);
    bytes.set(payload, at);
    at += payload.length;
  }
  const sum = createHash('sha256').update(bytes).digest('hex').slice(0, DIGITS);
  return { name: `${job}.${sum}`, bytes };
}

/** The parts of a chunk as this machine answers them: from the release where it lies here. */
export function decodeParts(bytes: Buffer, { id, dir }: PinnedRelease): readonly ChunkPart[] {
  const count = bytes.readUInt32LE(0);
  let at = U32;
  return Array.from({ length: count }, () => {
    const grants = bytes.readUInt32LE(at);
    const length = bytes.readUInt32LE(at + U32);
    at += 2 * U32 + length;
    const { run, chunk } = decodeChunk(bytes.subarray(at - length, at));
    if (run.release.id !== id) throw new Error(`the rows are of the dataset ${run.release.id}`);
    return { grants, payload: encodeChunk(encodeRun({ ...run, release: { id, dir } }), chunk) };
  });
}

/** A result as an object. */
export function encodeResults(node: string, result: ChunkResult): Buffer {
  const answers = 'answers' in result ? result.answers : [];
  const head: ResultHead = {
    form: FORM, node, fault: 'fault' in result ? result.fault : null,
    lengths: answers.map(({ length }) => length),
  };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const length = Buffer.allocUnsafe(U32);
  length.writeUInt32LE(text.length, 0);
  return Buffer.concat([length, text, ...answers]);
}

/** Reads a result; the answers stay views. */
export function decodeResults(bytes: Buffer): ChunkResult & { readonly node: string } {
  let at = U32 + bytes.readUInt32LE(0);
  const { node, fault, lengths }: ResultHead = JSON.parse(bytes.toString('utf8', U32, at));
  if (fault !== null) return { node, fault };
  const answers = lengths.map((length) => {
    at += length;
    return bytes.subarray(at - length, at);
  });
  return { node, answers };
}

/** A message of the queue. */
export function encodeOrder(order: ChunkOrder): string {
  return JSON.stringify({ form: FORM, ...order });
}

/** Reads a message of the queue; null for what is none, or none that this program knows. */
export function decodeOrder(text: string): ChunkOrder | null {
  let order: Partial<ChunkOrder> & { readonly form?: number };
  try {
    order = JSON.parse(text) as typeof order;
  } catch {
    return null;
  }
  const { form, job, chunk, release, line, rows } = order;
  return form === FORM && typeof job === 'string' && typeof chunk === 'string'
    && typeof release === 'string' && isReleaseName(release)
    && typeof line === 'number' && typeof rows === 'number'
    ? { job, chunk, release, line, rows } : null;
}
