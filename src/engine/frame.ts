/**
 * The byte protocol between the front end and the pool: one buffer of requests in, one buffer of
 * ready-to-send answers out. Little-endian; request and answer order are the same.
 *
 * Request:  u8 op · u8 version · u16 grants · u32 length · bytes (raw query string or body, UTF-8)
 * Answer:   u16 status · u8 code − 100 · u8 precision index · u8 flags · 3 spare · u32 length; the
 *           bodies follow the table in the same order, each from a multiple of eight on: bytes of
 *           equal alignment are copied into shared memory by words, others one by one.
 */
import type { Failure } from '../failure.js';

export const OP_LOOKUP = 1;
/** A chunk of rows with the job they belong to: see wire/bulk/job.ts. */
export const OP_BULK = 2;
/** An address on one line to its place, for nexus: see wire/located.ts. */
export const OP_LOCATE = 3;
/** A body of carts; the version byte names the endpoint: see wire/cart-answer.ts. */
export const OP_CART = 4;
/** A look at a long body, for which no dataset is needed: see wire/large-body.ts. */
export const OP_BODY = 5;

/** Entitlement bits of the key behind a request. */
export const GRANT_GEO = 1;
export const GRANT_CANADA = 2;
export const GRANT_PRODUCT = 4;
export const GRANT_HISTORICAL = 8;
export const GRANT_ALL = 15;

/** Answer flags. */
export const FLAG_XML = 1;
export const FLAG_ESTIMATED = 2;
export const FLAG_STALE = 4;
/** A geocoded lookup (address or coordinates), for the usage counters. */
export const FLAG_GEO = 8;

const REQUEST_HEAD_BYTES = 8;
const ANSWER_HEAD_BYTES = 12;
const BODY_ALIGNMENT = 8;
const ANSWER_BYTES_USUAL = 4096;

/**
 * Collects the requests of one event-loop turn, in memory it is given or of its own. What outgrows
 * the memory moves to a larger one.
 */
export class RequestFrame {
  readonly #given: Buffer;
  #buffer: Buffer;
  #start = 0;
  #used = 0;
  #count = 0;

  constructor(memory: number | Buffer = 16_384) {
    this.#given = typeof memory === 'number' ? Buffer.allocUnsafeSlow(memory) : memory;
    this.#buffer = this.#given;
  }

  get count(): number {
    return this.#count;
  }

  /** True once the frame has left the memory it was given. */
  get moved(): boolean {
    return this.#buffer !== this.#given;
  }

  /** Begins anew in the memory it was given, at an offset that `aligned` gave. */
  reset(start: number): void {
    this.#buffer = this.#given;
    this.#start = start;
    this.#used = start;
    this.#count = 0;
  }

  /** Appends a request; `payload` is copied. */
  add(op: number, version: number, grants: number, payload: string | Uint8Array): void {
    const worst = typeof payload === 'string' ? payload.length * 3 : payload.length;
    const at = aligned(this.#used);
    this.#reserve(at - this.#used + REQUEST_HEAD_BYTES + worst);
    const start = at + REQUEST_HEAD_BYTES;
    const buffer = this.#buffer;
    let { length } = payload;
    if (typeof payload === 'string') length = buffer.write(payload, start, 'utf8');
    else buffer.set(payload, start);
    buffer[at] = op;
    buffer[at + 1] = version;
    buffer[at + 2] = grants;
    buffer[at + 3] = grants >>> 8;
    putU32(buffer, at + 4, length);
    this.#used = start + length;
    this.#count += 1;
  }

  /** The bytes so far; a view, of memory of its own where none was given or it has moved. */
  bytes(): Uint8Array<ArrayBufferLike> {
    const { buffer, byteOffset } = this.#buffer;
    return new Uint8Array(buffer, byteOffset + this.#start, this.#used - this.#start);
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need <= this.#buffer.length) return;
    this.#buffer = enlarged(this.#buffer, this.#used, need);
  }
}

/**
 * Where a request or a body may begin, from an offset on: bytes that are not aligned are copied
 * into shared memory one by one.
 */
export function aligned(offset: number): number {
  return (offset + BODY_ALIGNMENT - 1) & -BODY_ALIGNMENT;
}

function usualBytes(count: number): number {
  return (count + 1) * ANSWER_BYTES_USUAL;
}

/** A larger memory that begins with the same bytes. */
function enlarged(buffer: Buffer, used: number, need: number): Buffer {
  const next = Buffer.allocUnsafeSlow(Math.max(need, buffer.length * 2));
  buffer.copy(next, 0, 0, used);
  return next;
}

function putU32(buffer: Buffer, at: number, value: number): void {
  buffer[at] = value;
  buffer[at + 1] = value >>> 8;
  buffer[at + 2] = value >>> 16;
  buffer[at + 3] = value >>> 24;
}

/** Walks the requests of a frame in order: `next` until false. */
export class RequestReader {
  op = 0;
  version = 0;
  grants = 0;
  readonly #buffer: Buffer;
  #start = 0;
  #end = 0;

  constructor(frame: Uint8Array) {
    this.#buffer = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  }

  next(): boolean {
    const buffer = this.#buffer;
    const at = aligned(this.#end);
    if (at + REQUEST_HEAD_BYTES > buffer.length) return false;
    this.op = buffer[at]!;
    this.version = buffer[at + 1]!;
    this.grants = buffer[at + 2]! | (buffer[at + 3]! << 8);
    this.#start = at + REQUEST_HEAD_BYTES;
    this.#end = this.#start + buffer.readUInt32LE(at + 4);
    return true;
  }

  /** The payload with one character per byte. */
  latin1(): string {
    return this.#buffer.toString('latin1', this.#start, this.#end);
  }

  /** The payload as a view. */
  payload(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }
}

/** How many requests a frame holds. */
export function countRequests(frame: Uint8Array): number {
  const requests = new RequestReader(frame);
  let count = 0;
  while (requests.next()) count += 1;
  return count;
}

/** Bytes as they are, or text that is written as UTF-8. */
export type BodyPart = Uint8Array | string;

/** One answer as the worker makes it. */
export interface Answer {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: readonly BodyPart[];
  /** Why it is refused, where a lookup is; it is not packed. */
  readonly failure?: Failure;
}

/**
 * Packs answers as they are made, in memory it is given or of its own. What outgrows the memory
 * moves to a larger one.
 */
export class AnswerWriter {
  #given: Buffer;
  #buffer: Buffer;
  #head = 0;
  #used = 0;

  constructor(count: number, memory: Buffer = Buffer.allocUnsafeSlow(usualBytes(count))) {
    this.#given = memory;
    this.#buffer = memory;
    this.begin(count, memory);
  }

  /** True once the answers have left the memory that was given. */
  get moved(): boolean {
    return this.#buffer !== this.#given;
  }

  /** Begins anew, for `count` answers. */
  begin(count: number, memory: Buffer): void {
    this.#given = memory;
    this.#buffer = memory;
    this.#head = 0;
    this.#used = 0;
    this.#reserve(count * ANSWER_HEAD_BYTES);
    this.#used = count * ANSWER_HEAD_BYTES;
  }

  add({ status, code, precision, flags, body }: Answer): void {
    const start = aligned(this.#used);
    this.#used = start;
    for (let index = 0; index < body.length; index += 1) this.#append(body[index]!);
    const buffer = this.#buffer;
    const head = this.#head;
    buffer[head] = status;
    buffer[head + 1] = status >>> 8;
    buffer[head + 2] = code - 100;
    buffer[head + 3] = precision;
    buffer[head + 4] = flags;
    buffer[head + 5] = buffer[head + 6] = buffer[head + 7] = 0;
    putU32(buffer, head + 8, this.#used - start);
    this.#head = head + ANSWER_HEAD_BYTES;
  }

  /** The bytes so far; a view, of memory of its own where none was given or they have moved. */
  bytes(): Uint8Array<ArrayBufferLike> {
    return new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset, this.#used);
  }

  #append(part: BodyPart): void {
    if (typeof part === 'string') {
      this.#reserve(part.length * 3);
      this.#used += this.#buffer.write(part, this.#used, 'utf8');
    } else {
      this.#reserve(part.length);
      this.#buffer.set(part, this.#used);
      this.#used += part.length;
    }
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need <= this.#buffer.length) return;
    this.#buffer = enlarged(this.#buffer, this.#used, need);
  }
}

export interface AnswerSlice {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

/** Calls `each` with every answer of a packed buffer, in order. Bodies are views. */
export function readAnswers(
  packed: Uint8Array,
  count: number,
  each: (index: number, slice: AnswerSlice) => void,
): void {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (count * ANSWER_HEAD_BYTES > packed.length) throw new RangeError('answers are cut short');
  let at = count * ANSWER_HEAD_BYTES;
  for (let index = 0; index < count; index += 1) {
    const head = index * ANSWER_HEAD_BYTES;
    const length = view.getUint32(head + 8, true);
    at = aligned(at);
    each(index, {
      status: view.getUint16(head, true),
      code: view.getUint8(head + 2) + 100,
      precision: view.getUint8(head + 3),
      flags: view.getUint8(head + 4),
      body: new Uint8Array(packed.buffer, packed.byteOffset + at, length),
    });
    at += length;
  }
}
