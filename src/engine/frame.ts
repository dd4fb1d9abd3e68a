/**
 * The byte protocol between the front end and the pool: one buffer of requests in, one buffer of
 * ready-to-send answers out. Little-endian; request and answer order are the same.
 *
 * Request:  u8 op · u8 version · u16 grants · u32 length · bytes (raw query string or body, UTF-8)
 * Answer:   u16 status · u8 code − 100 · u8 precision index · u8 flags · 3 spare · u32 length; the
 *           bodies follow the table in the same order.
 */
export const OP_LOOKUP = 1;

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

/** Collects the requests of one event-loop turn. */
export class RequestFrame {
  #buffer: Buffer;
  #used = 0;
  #count = 0;

  constructor(capacityBytes = 16_384) {
    this.#buffer = Buffer.allocUnsafeSlow(capacityBytes);
  }

  get count(): number {
    return this.#count;
  }

  /** Appends a request; `payload` is copied. */
  add(op: number, version: number, grants: number, payload: string | Uint8Array): void {
    const worst = typeof payload === 'string' ? payload.length * 3 : payload.length;
    this.#reserve(REQUEST_HEAD_BYTES + worst);
    const at = this.#used;
    const start = at + REQUEST_HEAD_BYTES;
    let length: number;
    if (typeof payload === 'string') {
      length = this.#buffer.write(payload, start, 'utf8');
    } else {
      this.#buffer.set(payload, start);
      length = payload.length;
    }
    this.#buffer[at] = op;
    this.#buffer[at + 1] = version;
    this.#buffer.writeUInt16LE(grants, at + 2);
    this.#buffer.writeUInt32LE(length, at + 4);
    this.#used = start + length;
    this.#count += 1;
  }

  /** The bytes so far, as a view over this frame's own ArrayBuffer (to transfer it). */
  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer as ArrayBuffer, 0, this.#used);
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need <= this.#buffer.length) return;
    const next = Buffer.allocUnsafeSlow(Math.max(need, this.#buffer.length * 2));
    this.#buffer.copy(next, 0, 0, this.#used);
    this.#buffer = next;
  }
}

export interface FramedRequest {
  readonly op: number;
  readonly version: number;
  readonly grants: number;
  readonly payload: Buffer;
}

/** Walks the requests of a frame in order. */
export function* readRequests(frame: Uint8Array): Generator<FramedRequest> {
  const buffer = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  let at = 0;
  while (at + REQUEST_HEAD_BYTES <= buffer.length) {
    const length = buffer.readUInt32LE(at + 4);
    const start = at + REQUEST_HEAD_BYTES;
    yield {
      op: buffer[at]!,
      version: buffer[at + 1]!,
      grants: buffer.readUInt16LE(at + 2),
      payload: buffer.subarray(start, start + length),
    };
    at = start + length;
  }
}

/** One answer as the worker makes it: body parts are concatenated when the frame is closed. */
export interface Answer {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: readonly Uint8Array[];
}

/** Packs answers into one transferable buffer. */
export function packAnswers(answers: readonly Answer[]): Uint8Array {
  let total = answers.length * ANSWER_HEAD_BYTES;
  for (const answer of answers) for (const part of answer.body) total += part.length;
  const out = Buffer.allocUnsafeSlow(total);
  let at = answers.length * ANSWER_HEAD_BYTES;
  for (let index = 0; index < answers.length; index += 1) {
    const answer = answers[index]!;
    const start = at;
    for (const part of answer.body) {
      out.set(part, at);
      at += part.length;
    }
    const head = index * ANSWER_HEAD_BYTES;
    out.writeUInt16LE(answer.status, head);
    out[head + 2] = answer.code - 100;
    out[head + 3] = answer.precision;
    out[head + 4] = answer.flags;
    out[head + 5] = out[head + 6] = out[head + 7] = 0;
    out.writeUInt32LE(at - start, head + 8);
  }
  return new Uint8Array(out.buffer as ArrayBuffer, 0, total);
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
  let at = count * ANSWER_HEAD_BYTES;
  for (let index = 0; index < count; index += 1) {
    const head = index * ANSWER_HEAD_BYTES;
    const length = view.getUint32(head + 8, true);
    each(index, {
      status: view.getUint16(head, true),
      code: view.getUint8(head + 2) + 100,
      precision: view.getUint8(head + 3),
      flags: view.getUint8(head + 4),
      body: packed.subarray(at, at + length),
    });
    at += length;
  }
}
