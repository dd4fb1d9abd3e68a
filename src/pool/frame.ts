/**
 * The byte protocol between the front end and the pool: one buffer of requests in, one buffer of
 * ready-to-send answers out. Little-endian; request and answer order are the same.
 *
 * Request:  u8 kind · u8 and u16 fields of the kind · u32 length · payload, text as UTF-8
 *           (lookup: version, grants; rows: –, grants; cart: endpoint, option bits;
 *           relayed: operation, –)
 * Answer:   u16 status · u8 code − 100 · u8 precision index · u8 flags · 3 spare · u32 length; the
 *           bodies follow the table in the same order, each from a multiple of eight on: bytes of
 *           equal alignment are copied into shared memory by words, others one by one.
 */
import { type BodyPart, printedBytes } from '../base/byte-writer.js';
import { HEAD_ROOM_BYTES } from '../base/growing-bytes.js';
import { ENDPOINT_NAMES } from '../provider/operation-call.js';
import {
  type Answer,
  type AnswerSlice,
  CART_ENDPOINTS,
  type OtherRequest,
  type ReceivedRequest,
  type RequestFields,
} from './types.js';

const LOOKUP = 1;
const ROWS = 2;
const CART = 4;
const RELAYED = 6;
/** Kinds without fields. */
const PLAIN = { locate: 3, 'cart-owner': 5, nexus: 7, answer: 8 } as const;

/** A payload with this much room before it becomes a frame without being copied. */
export const REQUEST_HEAD_BYTES = HEAD_ROOM_BYTES;
const ANSWER_HEAD_BYTES = 12;
const BODY_ALIGNMENT = 8;
const ANSWER_BYTES_USUAL = 4096;

type WriteText = (this: Buffer, text: string, at: number) => number;

/** What `write` does once it has looked at its arguments; undocumented, so it may be lacking. */
const writeUtf8: WriteText =
  (Buffer.prototype as { readonly utf8Write?: WriteText }).utf8Write ?? Buffer.prototype.write;
const { latin1Slice } = Buffer.prototype;

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

  /** Empties it and starts over in the memory it was given, at an offset from `aligned`. */
  reset(start: number): void {
    this.#buffer = this.#given;
    this.#start = start;
    this.#used = start;
    this.#count = 0;
  }

  /** Appends a request; the payload is copied. */
  add(fields: RequestFields, payload: string | Uint8Array): void {
    const worst = typeof payload === 'string' ? payload.length * 3 : payload.length;
    const at = aligned(this.#used);
    this.#reserve(at - this.#used + REQUEST_HEAD_BYTES + worst);
    const start = at + REQUEST_HEAD_BYTES;
    const buffer = this.#buffer;
    let { length } = payload;
    if (typeof payload === 'string') length = buffer.write(payload, start, 'utf8');
    else buffer.set(payload, start);
    putHead(buffer, at, fields, length);
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

/** Where a request or a body may begin, from an offset on. */
export function aligned(offset: number): number {
  return (offset + BODY_ALIGNMENT - 1) & -BODY_ALIGNMENT;
}

const usualBytes = (count: number): number => (count + 1) * ANSWER_BYTES_USUAL;

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

function put(buffer: Buffer, at: number, kind: number, byte: number, word: number): void {
  buffer[at] = kind;
  buffer[at + 1] = byte;
  buffer[at + 2] = word;
  buffer[at + 3] = word >>> 8;
}

/** Writes the head of a request. */
export function putHead(buffer: Buffer, at: number, fields: RequestFields, length: number): void {
  putU32(buffer, at + 4, length);
  // biome-ignore format: a kind a row
  switch (fields.kind) {
    case 'lookup': return put(buffer, at, LOOKUP, fields.version, fields.grants);
    case 'rows': return put(buffer, at, ROWS, 0, fields.grants);
    case 'cart':
      return put(buffer, at, CART, CART_ENDPOINTS.indexOf(fields.endpoint), fields.optionBits);
    case 'relayed': return put(buffer, at, RELAYED, ENDPOINT_NAMES.indexOf(fields.operation), 0);
    default: return put(buffer, at, PLAIN[fields.kind], 0, 0);
  }
}

function otherRequest(kind: number, byte: number, word: number, payload: Buffer): OtherRequest {
  // biome-ignore format: a kind a row
  switch (kind) {
    case ROWS: return { kind: 'rows', grants: word, payload };
    case PLAIN.locate: return { kind: 'locate', payload };
    case CART: return { kind: 'cart', endpoint: CART_ENDPOINTS[byte]!, optionBits: word, payload };
    case PLAIN['cart-owner']: return { kind: 'cart-owner', payload };
    case RELAYED: return { kind: 'relayed', operation: ENDPOINT_NAMES[byte]!, payload };
    case PLAIN.nexus: return { kind: 'nexus', payload };
    case PLAIN.answer: return { kind: 'answer', payload };
    default: throw new RangeError(`no request of kind ${kind}`);
  }
}

/** Walks the requests of a frame in order. */
export class RequestReader {
  readonly #buffer: Buffer;
  #end = 0;

  constructor(frame: Uint8Array) {
    this.#buffer = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  }

  /** The next request; null after the last. */
  next(): ReceivedRequest | null {
    const buffer = this.#buffer;
    const at = this.#skip();
    if (at < 0) return null;
    const start = at + REQUEST_HEAD_BYTES;
    const end = this.#end;
    const kind = buffer[at]!;
    const byte = buffer[at + 1]!;
    const word = buffer[at + 2]! | (buffer[at + 3]! << 8);
    if (kind !== LOOKUP) return otherRequest(kind, byte, word, buffer.subarray(start, end));
    const payload = latin1Slice.call(buffer, start, end);
    return { kind: 'lookup', version: byte, grants: word, payload };
  }

  /** How many requests are left. It passes them all, so nothing can be read afterwards. */
  count(): number {
    let count = 0;
    while (this.#skip() >= 0) count += 1;
    return count;
  }

  /** Passes a request and tells where its head is; -1 after the last. */
  #skip(): number {
    const at = aligned(this.#end);
    if (at + REQUEST_HEAD_BYTES > this.#buffer.length) return -1;
    this.#end = at + REQUEST_HEAD_BYTES + this.#buffer.readUInt32LE(at + 4);
    return at;
  }
}

/** How many requests a frame holds. */
export function countRequests(frame: Uint8Array): number {
  return new RequestReader(frame).count();
}

/**
 * Packs answers in memory of its own, which goes into the memory that is given at the end, at once:
 * parts that are not aligned would be copied there byte by byte.
 */
export class AnswerWriter {
  #given: Buffer | null = null;
  #buffer: Buffer;
  #head = 0;
  #used = 0;

  constructor(count: number, memory: Buffer | null = null) {
    this.#buffer = Buffer.allocUnsafeSlow(usualBytes(count));
    this.begin(count, memory);
  }

  /** True once the answers are more than the memory that was given. */
  get moved(): boolean {
    return this.#given === null || this.#used > this.#given.length;
  }

  /** Starts over, with room for a table of `count`; what did not fit was handed out as it is. */
  begin(count: number, memory: Buffer | null): void {
    if (this.moved && this.#used > 0) this.#buffer = Buffer.allocUnsafeSlow(usualBytes(count));
    this.#given = memory;
    this.#head = this.#used = 0;
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

  /** The answers; a view, of memory of its own where none was given or they do not fit. */
  bytes(): Uint8Array<ArrayBufferLike> {
    const own = new Uint8Array(this.#buffer.buffer, 0, this.#used);
    const given = this.moved ? null : this.#given;
    given?.set(own);
    return given === null ? own : new Uint8Array(given.buffer, given.byteOffset, own.length);
  }

  #append(part: BodyPart): void {
    if (typeof part === 'string') {
      this.#reserve(part.length * 3);
      this.#used += writeUtf8.call(this.#buffer, part, this.#used);
    } else {
      const bytes = part instanceof Uint8Array ? part : printedBytes(part);
      this.#reserve(bytes.length);
      this.#buffer.set(bytes, this.#used);
      this.#used += bytes.length;
    }
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need <= this.#buffer.length) return;
    this.#buffer = enlarged(this.#buffer, this.#used, need);
  }
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
