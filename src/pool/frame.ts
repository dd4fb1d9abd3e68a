/**
 * Writes requests for the workers as bytes, and reads their answers: one buffer of requests goes
 * out, one buffer of answers that are ready to be sent comes back. Little-endian; answers have the
 * order of their requests. `lane-server.ts` is the worker's side.
 *
 * Request:  u8 kind · u8 and u16 fields of the kind · u32 length · payload, text as UTF-8
 *           (lookup: version, grants; rows: –, grants; cart: endpoint, option bits;
 *           relayed: operation, –)
 * Answer:   u16 status · u8 code − 100 · u8 precision index · u8 flags · 3 spare · u32 length; the
 *           bodies follow the table in the same order, each from a multiple of eight on: bytes of
 *           equal alignment are copied into shared memory by words, others one by one.
 */
import { aligned } from '../base/byte-writer.js';
import { doubled, HEAD_ROOM_BYTES } from '../base/growing-bytes.js';
import { ENDPOINT_NAMES } from '../provider/operation-call.js';
import {
  type AnswerSlice,
  CART_ENDPOINTS,
  type OtherRequest,
  type RequestFields,
} from './types.js';

export const LOOKUP = 1;
const ROWS = 2;
const CART = 4;
const RELAYED = 6;
/** Kinds of requests that have no fields beside their payload. */
const PLAIN = { locate: 3, 'cart-owner': 5, nexus: 7, answer: 8 } as const;

/**
 * A payload with this much room before it becomes a frame without being copied, since the head of
 * its request fits there.
 */
export const REQUEST_HEAD_BYTES = HEAD_ROOM_BYTES;
export const ANSWER_HEAD_BYTES = 12;

/**
 * Collects the requests of one turn of the event loop, in memory that it is given or allocates.
 * Requests that need more move to a larger memory.
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

  /** True once the frame has outgrown the memory it was given. */
  get moved(): boolean {
    return this.#buffer !== this.#given;
  }

  /**
   * Empties the frame and starts again in the memory it was given. `start` is an offset that
   * `aligned` has rounded.
   */
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

  /**
   * A view of the bytes so far. They lie in memory of the frame itself where none was given, or the
   * frame has moved.
   */
  bytes(): Uint8Array<ArrayBufferLike> {
    const { buffer, byteOffset } = this.#buffer;
    return new Uint8Array(buffer, byteOffset + this.#start, this.#used - this.#start);
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need > this.#buffer.length) this.#buffer = doubled(this.#buffer, this.#used, need);
  }
}

function put(buffer: Buffer, at: number, kind: number, byte: number, word: number): void {
  buffer[at] = kind;
  buffer[at + 1] = byte;
  buffer[at + 2] = word;
  buffer[at + 3] = word >>> 8;
}

/** Writes the head of a request. */
export function putHead(buffer: Buffer, at: number, fields: RequestFields, length: number): void {
  buffer.writeUInt32LE(length, at + 4);
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

/** A request of any kind but lookups, from the fields of its head. */
export function otherRequest(
  kind: number,
  byte: number,
  word: number,
  payload: Buffer,
): OtherRequest {
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

/**
 * Calls `each` with every answer of a packed buffer, in order. The bodies are views of that buffer.
 */
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
