/**
 * Chunks and results as messages and objects of the broker. A chunk of the fleet consists of
 * several chunks for workers, so that a node answers them like those of its own files.
 *
 * Chunk:   u32 parts · for each: u32 grants · u32 length · chunk in the form of sent-form.ts
 * Order:   u8 2 · u32 length of the head · head (JSON) · the chunk; where the chunk is too large
 *          for a message, only the head as text, and the chunk is an object
 * Result:  u32 length of the head · head (JSON) · the answers one after the other
 *
 * Every chunk has a unique name. So an object with the name of its result is its result, whichever
 * node stored it and when.
 */
import { bufferOf } from '../../base/growing-bytes.js';
import { isReleaseName } from '../../dataset/release.js';
import type { PinnedRelease } from '../../pool/types.js';
import { takenChunk } from './sent-form.js';

/** The form of orders without their chunk, and of results. */
const FORM = 1;
/** The form of orders with their chunk. A node takes no order of any other form. */
const FORM_WITH_CHUNK = 2;
const U32 = 4;

/** A chunk for a worker. */
export interface ChunkPart {
  readonly grants: number;
  readonly payload: Uint8Array;
}

/** The head of a message of the queue: which chunk to answer. */
export interface ChunkOrder {
  /** Name of the run, which is that of a job or a command. */
  readonly job: string;
  /** Name of the chunk. */
  readonly chunk: string;
  readonly release: string;
  /** Number of the first row, and how many rows there are. */
  readonly line: number;
  readonly rows: number;
  /** Whether the chunk was queued before, so that its result may be stored already. */
  readonly again?: boolean;
}

/** A message of the queue. */
export interface OrderMessage {
  readonly order: ChunkOrder;
  /** The chunk; null where it is an object. */
  readonly bytes: Buffer | null;
}

/** The result of a chunk: an answer for each part, or why there is none. */
export type ChunkResult =
  | { readonly kind: 'answered'; readonly answers: readonly Uint8Array[] }
  | { readonly kind: 'refused'; readonly fault: string };

/** What a node answers when nodes are asked. */
export interface NodeAnswer {
  readonly node: string;
  readonly program: string;
  /** The active release of the node; null for none. */
  readonly active: string | null;
  /** Whether the node can answer from the release that was asked for. */
  readonly has: boolean;
  /** How many chunks the node takes at a time; absent in answers of earlier versions. */
  readonly hands?: number;
}

/** A sentence for the case that no node has a release. */
export function nobodyHas(name: string, release: string, nodes: readonly NodeAnswer[]): string {
  if (nodes.length === 0) return `no node takes chunks of files at ${name}`;
  const held = nodes.map(({ node, active }) => `${node}: ${active ?? 'none'}`).join(', ');
  return `no node at ${name} has the dataset ${release} (${held})`;
}

interface ResultHead {
  readonly form: number;
  readonly node: string;
  readonly fault: string | null;
  readonly lengths: readonly number[];
}

/** Name of the object with the result of a chunk. */
export function resultName(chunk: string): string {
  return `${chunk}.result`;
}

/** Length in bytes of a chunk that is sent. */
export function partsBytes(parts: readonly ChunkPart[]): number {
  return parts.reduce((sum, { payload }) => sum + 2 * U32 + payload.length, U32);
}

/** The bytes of a chunk that is sent, after `before` bytes for its head. */
export function encodeParts(parts: readonly ChunkPart[], before = 0): Buffer {
  const bytes = Buffer.allocUnsafeSlow(before + partsBytes(parts));
  let at = bytes.writeUInt32LE(parts.length, before);
  for (const { grants, payload } of parts) {
    at = bytes.writeUInt32LE(grants, at);
    at = bytes.writeUInt32LE(payload.length, at);
    bytes.set(payload, at);
    at += payload.length;
  }
  return bytes;
}

/** The parts of a chunk for workers of this machine, with the place of the release here. */
export function decodeParts(bytes: Buffer, release: PinnedRelease): readonly ChunkPart[] {
  const count = bytes.readUInt32LE(0);
  let at = U32;
  return Array.from({ length: count }, () => {
    const grants = bytes.readUInt32LE(at);
    const length = bytes.readUInt32LE(at + U32);
    at += 2 * U32 + length;
    return { grants, payload: takenChunk(bytes.subarray(at - length, at), release) };
  });
}

/** The answers of a result; none where it is refused. */
export function answersOf(result: ChunkResult): readonly Uint8Array[] {
  return result.kind === 'answered' ? result.answers : [];
}

/** The head of a result: everything except its answers. */
export function encodeResultHead(node: string, result: ChunkResult): Buffer {
  const head: ResultHead = {
    form: FORM,
    node,
    fault: result.kind === 'refused' ? result.fault : null,
    lengths: answersOf(result).map(({ length }) => length),
  };
  return Buffer.from(JSON.stringify(head), 'utf8');
}

/** Reads the head of a result. */
export function decodeResultHead(head: Uint8Array): ResultHead {
  return JSON.parse(bufferOf(head).toString('utf8')) as ResultHead;
}

/** A result as an object. */
export function encodeResults(node: string, result: ChunkResult): Buffer {
  const text = encodeResultHead(node, result);
  const length = Buffer.allocUnsafe(U32);
  length.writeUInt32LE(text.length, 0);
  return Buffer.concat([length, text, ...answersOf(result)]);
}

/** Reads a result; the answers are views. */
export function decodeResults(bytes: Buffer): ChunkResult & { readonly node: string } {
  let at = U32 + bytes.readUInt32LE(0);
  const { node, fault, lengths } = decodeResultHead(bytes.subarray(U32, at));
  if (fault !== null) return { kind: 'refused', node, fault };
  const answers = lengths.map((length) => {
    at += length;
    return bytes.subarray(at - length, at);
  });
  return { kind: 'answered', node, answers };
}

/** A message of the queue with its chunk. */
export function encodeOrderWith(order: ChunkOrder, parts: readonly ChunkPart[]): Buffer {
  const head = Buffer.from(JSON.stringify(order), 'utf8');
  const bytes = encodeParts(parts, 1 + U32 + head.length);
  bytes.set(head, bytes.writeUInt32LE(head.length, bytes.writeUInt8(FORM_WITH_CHUNK, 0)));
  return bytes;
}

/** A message of the queue without its chunk. */
export function encodeOrder(order: ChunkOrder): Buffer {
  return Buffer.from(JSON.stringify({ form: FORM, ...order }), 'utf8');
}

/** Reads a message of the queue; null where it is malformed or of an unknown form. */
export function decodeOrder(data: Uint8Array): OrderMessage | null {
  const bytes = bufferOf(data);
  const whole = bytes[0] === FORM_WITH_CHUNK && bytes.length > 1 + U32;
  const end = whole ? 1 + U32 + bytes.readUInt32LE(1) : bytes.length;
  let head: Partial<ChunkOrder> & { readonly form?: number };
  try {
    head = JSON.parse(bytes.toString('utf8', whole ? 1 + U32 : 0, end)) as typeof head;
  } catch {
    return null;
  }
  const { form, job, chunk, release, line, rows, again = false } = head;
  if (
    (!whole && form !== FORM) ||
    typeof job !== 'string' ||
    typeof chunk !== 'string' ||
    typeof release !== 'string' ||
    !isReleaseName(release) ||
    typeof line !== 'number' ||
    typeof rows !== 'number'
  )
    return null;
  const order: ChunkOrder = { job, chunk, release, line, rows, again };
  return { order, bytes: whole ? bytes.subarray(end) : null };
}
