/**
 * Requests and answers that travel between the front end and the workers, the tasks that hold them,
 * and the memory of a lane, which both sides share. `frame.ts` writes requests as bytes.
 */
import type { BodyPart } from '../base/byte-writer.js';
import type { LogLevel, MinimumPrecision } from '../config.js';
import type { Failure } from '../failure.js';
import type { EndpointName } from '../provider/operation-call.js';

/** Bits for what the key of a request entitles it to. */
export const GRANT_GEO = 1;
export const GRANT_CANADA = 2;
export const GRANT_PRODUCT = 4;
export const GRANT_HISTORICAL = 8;
export const GRANT_ALL = 15;

/** Flags of an answer. */
export const FLAG_XML = 1;
export const FLAG_ESTIMATED = 2;
export const FLAG_STALE = 4;
/** A lookup that was geocoded (from an address or coordinates), for the usage counters. */
export const FLAG_GEO = 8;
/** The rates come from lists that are known to lack districts. */
export const FLAG_PARTIAL = 16;
/** One more than the sum of all flags. */
export const FLAGS_SPAN = 32;

/** A lookup; the payload is the raw query string. */
interface LookupFields {
  readonly kind: 'lookup';
  /** Version of the API, 10 to 60. */
  readonly version: number;
  readonly grants: number;
}

/** Rows of a file or session; the payload is a chunk as `bulk/row/chunk-payload` writes it. */
interface RowsFields {
  readonly kind: 'rows';
  readonly grants: number;
}

/** Asks where an address is, without its rates; the payload is the address on one line. */
interface LocateFields {
  readonly kind: 'locate';
}

/** Endpoints of carts. */
export const CART_ENDPOINTS = ['merchant', 'calculation'] as const;
export type CartEndpoint = (typeof CART_ENDPOINTS)[number];

/** A body of carts, which is the payload. */
export interface CartFields {
  readonly kind: 'cart';
  readonly endpoint: CartEndpoint;
  /** Rounding and explanation that the query asks for, as api/cart/options.ts packs them. */
  readonly optionBits: number;
}

/** Asks for the merchant of a body of carts that is too long to parse on the main thread. */
interface CartOwnerFields {
  readonly kind: 'cart-owner';
}

/** Checks a long body before it is relayed to the compliance provider. */
interface RelayedFields {
  readonly kind: 'relayed';
  readonly operation: EndpointName;
}

/** Reads a long body of nexus/create. */
interface NexusFields {
  readonly kind: 'nexus';
}

/** Tells whether a long answer of the compliance provider is JSON. */
interface AnswerFields {
  readonly kind: 'answer';
}

/** Requests that concern only a long body and need no dataset. */
export type BodyFields = CartOwnerFields | RelayedFields | NexusFields | AnswerFields;

/** What a worker is asked, without the payload. */
export type RequestFields = LookupFields | RowsFields | LocateFields | CartFields | BodyFields;

const BODY_KINDS: ReadonlySet<string> = new Set<BodyFields['kind']>([
  'cart-owner',
  'relayed',
  'nexus',
  'answer',
]);

/** Whether a request concerns only a body and needs no dataset. */
export function isBodyRequest<R extends RequestFields>(
  request: R,
): request is Extract<R, BodyFields> {
  return BODY_KINDS.has(request.kind);
}

export type { BodyPart };

/** An answer as the worker makes it. */
export interface Answer {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: readonly BodyPart[];
  /** Why a lookup is refused. For callers in the worker only; it is not written to the frame. */
  readonly failure?: Failure;
}

/** An answer as the front end reads it. */
export interface AnswerSlice {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

/** The id and folder of a release that is kept open. */
export interface PinnedRelease {
  readonly id: string;
  readonly dir: string;
}

/** Stands for a release where none is active, for requests that need none. */
export const NO_RELEASE: PinnedRelease = { id: '', dir: '' };

/** A task for one request that does not ask about the present, or not of the active release. */
export interface OwnTask {
  /** The release that is kept open for the task; null for the active one. */
  readonly release: PinnedRelease | null;
  /** The moment that "today" is derived from, in milliseconds since 1970. */
  readonly now: number;
}

export type PoolFailure = 'overloaded' | 'internal';

/**
 * The payload of a request, and what to call when it is answered or fails: exactly one of
 * `answered` and `failed`, once.
 */
interface Sent {
  readonly payload: string | Uint8Array;
  /** Absent where the request shares a task with others, on the active release. */
  readonly own?: OwnTask | undefined;
  /**
   * The memory of a long payload is moved to the worker instead of copied, so it must belong to
   * nobody else: the payload is empty afterwards.
   */
  readonly gives?: boolean;
  /**
   * Called before `answered`, with every answer of a task before the first of them is sent. What
   * needs no connection is done here for all of them in a row, while its code is in the processor's
   * cache.
   */
  read?(slice: AnswerSlice, release: PinnedRelease): void;
  /** The body may be a view of memory that is used again: `kept` copies it. */
  answered(slice: AnswerSlice, release: PinnedRelease): void;
  failed(failure: PoolFailure): void;
}

/** A request in the pool. */
export type PoolRequest = RequestFields & Sent;
export type LookupRequest = LookupFields & Sent;
export type RowsRequest = RowsFields & Sent;
export type LocateRequest = LocateFields & Sent;
export type CartRequest = CartFields & Sent;
export type BodyRequest = BodyFields & Sent;

/** A task as the worker's code sees it. */
export interface EngineTask {
  readonly dataset: PinnedRelease;
  readonly now: number;
  /** Whether this is an `OwnTask`: its moment or its release may differ from the next one's. */
  readonly own: boolean;
  readonly frame: Uint8Array;
}

/** What every worker is told at its start. */
export interface EngineSettings {
  readonly baseUrl: string;
  readonly precisionMin: MinimumPrecision;
  /** The setting of this name; false if absent. */
  readonly refuseUnruled?: boolean;
  readonly logLevel: LogLevel;
  /** Marks of states whose missing rates one of the threads has logged; each logs if absent. */
  readonly told?: Uint8Array;
  /** Most bytes of rendered parts, and of postal answers, that are kept; a default if absent. */
  readonly cacheBytesMax?: number;
}

/** A byte for every code of two letters or digits, once for the present and once for the past. */
export const TOLD_BYTES = 2 * 36 ** 2;

/*
 * The memory that the front end shares with one worker. Tasks lie in slots that are used in turn:
 * the front end posts them, the worker answers, and each side counts its own.
 *
 * control  i32 posted · i32 answered · i32 asleep · i32 begun, then eight i32 a slot
 * times    f64 a slot: the task's clock, in milliseconds since 1970
 * slots    bytes of requests (the release's name and folder first), then bytes of answers
 *
 * A frame that does not fit its slot is sent through the message port of the lane instead.
 */

/** How many tasks were posted; the worker sleeps until this changes. */
export const POSTED = 0;
/** How many tasks were answered. */
export const ANSWERED = 1;
/** 1 while the worker sleeps. */
export const ASLEEP = 2;
/** 1 once the worker serves. */
export const BEGUN = 3;

/** Offsets of a slot's fields among its control words. */
export const SLOT = {
  count: 0,
  releaseBytes: 1,
  /** Bytes of the requests' frame, or IN_MESSAGE. */
  frameBytes: 2,
  /** Bytes of the answers or of an error's message, or IN_MESSAGE. */
  answerBytes: 3,
  /** 1 when the task threw. */
  failed: 4,
  /** 1 for an `OwnTask`. */
  own: 5,
  /** 1 for a task that takes no long time: lookups of the active release. */
  brief: 6,
} as const;

export const IN_MESSAGE = -1;

const SLOTS_AT = 8;
const SLOT_WORDS = 8;
const TIMES_AT_BYTES = 2048;
const HEAD_BYTES = 4096;
/** How many slots the control words can describe. */
export const SLOTS_MAX = 32;

/** Size of a lane: the number of its slots, and the bytes of each. */
export interface LaneShape {
  readonly slots: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
}

/** What a worker is given when it begins to serve. */
export interface LaneTask {
  readonly shared: SharedArrayBuffer;
  readonly shape: LaneShape;
  /** One word, 1 while the front end wants to be woken. */
  readonly attention: SharedArrayBuffer;
}

/** A view of a lane's memory; each side has its own. */
export class LaneMemory {
  readonly control: Int32Array;
  /** The control words of each slot. */
  readonly slots: readonly Int32Array[];
  readonly times: Float64Array;
  readonly requests: readonly Buffer[];
  readonly answers: readonly Buffer[];
  /**
   * Counts of tasks are kept modulo this number, which is twice the number of slots, so that a full
   * lane (the counts differ by all slots) can be told from an empty one (the counts are equal).
   */
  readonly countSpan: number;

  constructor(shared: SharedArrayBuffer, { slots, requestBytes, answerBytes }: LaneShape) {
    this.control = new Int32Array(shared, 0, SLOTS_AT);
    this.times = new Float64Array(shared, TIMES_AT_BYTES, SLOTS_MAX);
    this.countSpan = 2 * slots;
    const at = (slot: number): number => HEAD_BYTES + slot * (requestBytes + answerBytes);
    const numbers = Array.from({ length: slots }, (_, slot) => slot);
    this.slots = numbers.map((slot) => {
      const words = SLOTS_AT + slot * SLOT_WORDS;
      return new Int32Array(shared, words * Int32Array.BYTES_PER_ELEMENT, SLOT_WORDS);
    });
    this.requests = numbers.map((slot) => Buffer.from(shared, at(slot), requestBytes));
    this.answers = numbers.map((slot) => Buffer.from(shared, at(slot) + requestBytes, answerBytes));
  }
}

/** Makes the memory of a lane. */
export function shareMemory({ slots, requestBytes, answerBytes }: LaneShape): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + slots * (requestBytes + answerBytes));
}

/** The fields of a request of any kind but lookups. */
type OtherFields = Exclude<RequestFields, LookupFields>;
export type OtherRequest = OtherFields & { readonly payload: Buffer };

/** A lookup as the worker reads it; its query string has one character per byte. */
export type ReceivedLookup = LookupFields & { readonly payload: string };
/** A request as the worker reads it; the payload is a view of bytes where it is no lookup. */
export type ReceivedRequest = ReceivedLookup | OtherRequest;
