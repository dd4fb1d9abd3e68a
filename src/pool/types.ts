/**
 * What travels between the front end and the workers: requests and answers, the tasks that hold
 * them, and the memory of a lane that both sides share. `frame.ts` writes them as bytes.
 */
import type { BodyPart } from '../base/byte-writer.js';
import type { LogLevel, MinimumPrecision } from '../config.js';
import type { Failure } from '../failure.js';
import type { EndpointName } from '../provider/operation-call.js';

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
/** The lists behind the rates are known to lack districts. */
export const FLAG_PARTIAL = 16;
/** All flags lie below it. */
export const FLAGS_SPAN = 32;

/** A lookup; the payload is the raw query string. */
interface LookupFields {
  readonly kind: 'lookup';
  /** 10 to 60. */
  readonly version: number;
  readonly grants: number;
}

/** Rows of a run; the payload is a chunk as bulk/row/chunk-payload.ts writes it. */
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

/** The payload is a body of carts. */
export interface CartFields {
  readonly kind: 'cart';
  readonly endpoint: CartEndpoint;
  /** Rounding and explanation of the query, as api/cart/options.ts packs them. */
  readonly optionBits: number;
}

/** Asks which merchant a body of carts is for that is too long to be parsed on the main thread. */
interface CartOwnerFields {
  readonly kind: 'cart-owner';
}

/** Checks a body of such length before it is relayed to the compliance provider. */
interface RelayedFields {
  readonly kind: 'relayed';
  readonly operation: EndpointName;
}

/** Reads a body of such length for nexus/create. */
interface NexusFields {
  readonly kind: 'nexus';
}

/** Looks whether a long answer of the compliance provider is JSON. */
interface AnswerFields {
  readonly kind: 'answer';
}

/** Requests about a long body alone, which need no dataset. */
export type BodyFields = CartOwnerFields | RelayedFields | NexusFields | AnswerFields;

/** What is asked of a worker beside the payload. */
export type RequestFields = LookupFields | RowsFields | LocateFields | CartFields | BodyFields;

const BODY_KINDS: ReadonlySet<string> = new Set<BodyFields['kind']>([
  'cart-owner',
  'relayed',
  'nexus',
  'answer',
]);

/** Whether a request is about a body alone and needs no dataset. */
export function isBodyRequest<R extends RequestFields>(
  request: R,
): request is Extract<R, BodyFields> {
  return BODY_KINDS.has(request.kind);
}

export type { BodyPart };

/** One answer as the worker makes it. */
export interface Answer {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: readonly BodyPart[];
  /** Why a lookup is refused, for callers in the worker; it does not travel. */
  readonly failure?: Failure;
}

/** One answer as the front end reads it. */
export interface AnswerSlice {
  readonly status: number;
  readonly code: number;
  readonly precision: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

/** A release that answers, as the workers are told of it. */
export interface PinnedRelease {
  readonly id: string;
  readonly dir: string;
}

/** Stands for a release where none is active and none is needed. */
export const NO_RELEASE: PinnedRelease = { id: '', dir: '' };

/** A task of its own, for a request that is not for now or for the active release. */
export interface OwnTask {
  /** Pinned for the task; null for the active one. */
  readonly release: PinnedRelease | null;
  /** The moment that today is told from, in milliseconds since 1970. */
  readonly now: number;
}

export type PoolFailure = 'overloaded' | 'internal';

/** What is sent, and what becomes of it. Exactly one of the two is called, once. */
interface Sent {
  readonly payload: string | Uint8Array;
  /** Absent where the request goes with others, to the active release. */
  readonly own?: OwnTask | undefined;
  /**
   * The memory of a long payload is moved to the worker instead of copied, so it must belong to
   * nobody else: the payload is empty afterwards.
   */
  readonly gives?: boolean;
  /**
   * Called before `answered`, with every answer of a task before the first of them is sent: what
   * needs no connection is done for all of them while its code is at hand.
   */
  read?(slice: AnswerSlice, release: PinnedRelease): void;
  /** The body is a view of memory that is used again where it is shared: see `kept`. */
  answered(slice: AnswerSlice, release: PinnedRelease): void;
  failed(failure: PoolFailure): void;
}

/** One request in the pool. */
export type PoolRequest = RequestFields & Sent;
export type LookupRequest = LookupFields & Sent;
export type RowsRequest = RowsFields & Sent;
export type LocateRequest = LocateFields & Sent;
export type CartRequest = CartFields & Sent;
export type BodyRequest = BodyFields & Sent;

/** What a worker is asked at once. */
export interface EngineTask {
  readonly dataset: PinnedRelease;
  readonly now: number;
  /** It is a task of its own: its moment or its release may be another than the next one's. */
  readonly own: boolean;
  readonly frame: Uint8Array;
}

/** What every worker is told once, at its start. */
export interface EngineSettings {
  readonly baseUrl: string;
  readonly precisionMin: MinimumPrecision;
  /** As `Config` has it; false if absent. */
  readonly refuseUnruled?: boolean;
  readonly logLevel: LogLevel;
  /** Shared by threads that tell once among them which rates are not held; each does if absent. */
  readonly told?: Uint8Array;
  /** Bytes of rendered parts kept, and as many of postal answers; as the wire has it if absent. */
  readonly cacheBytesMax?: number;
}

/** For every code of two letters or digits, now and in the past. */
export const TOLD_BYTES = 2 * 36 ** 2;

/*
 * The memory that the front end shares with one worker. Tasks lie in slots that are used in turn:
 * the front end posts, the worker answers, and each side counts what it did.
 *
 * control  i32 posted · i32 answered · i32 asleep · i32 begun, then eight i32 a slot
 * times    f64 a slot: the task's clock, in milliseconds since 1970
 * slots    bytes of requests (the release's name and folder first), then bytes of answers
 *
 * A frame that does not fit its slot goes through the message port of the lane instead.
 */

/** Tasks posted; the worker sleeps on it. */
export const POSTED = 0;
/** Tasks answered. */
export const ANSWERED = 1;
/** 1 while the worker sleeps. */
export const ASLEEP = 2;
/** 1 once the worker serves. */
export const BEGUN = 3;

/** Members of a slot among its control words. */
export const SLOT = {
  count: 0,
  releaseBytes: 1,
  /** Bytes of the frame, or IN_MESSAGE. */
  frameBytes: 2,
  /** Bytes of the answers or of the error's message, or IN_MESSAGE. */
  answerBytes: 3,
  /** 1 when the task threw. */
  failed: 4,
  /** 1 for a task of its own. */
  own: 5,
  /** 1 for a task that takes no long time: some lookups of the active release. */
  brief: 6,
} as const;

export const IN_MESSAGE = -1;

const SLOTS_AT = 8;
const SLOT_WORDS = 8;
const TIMES_AT_BYTES = 2048;
const HEAD_BYTES = 4096;
/** How many slots the control words have room for. */
export const SLOTS_MAX = 32;

/** Size of a lane, in tasks and bytes of a task. */
export interface LaneShape {
  readonly slots: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
}

/** What a worker is handed when it begins to serve. */
export interface LaneTask {
  readonly shared: SharedArrayBuffer;
  readonly shape: LaneShape;
  /** One word: 1 while the front end wants to be woken. */
  readonly attention: SharedArrayBuffer;
}

/** A view of a lane; each side has one. */
export class LaneMemory {
  readonly control: Int32Array;
  /** The control words of each slot. */
  readonly slots: readonly Int32Array[];
  readonly times: Float64Array;
  readonly requests: readonly Buffer[];
  readonly answers: readonly Buffer[];
  /**
   * What counts of tasks are taken modulo: twice the number of slots, so that a full lane (counts
   * apart by all slots) differs from an empty one (counts equal).
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

/** What requests of other kinds than lookups carry beside their payload. */
type OtherFields = Exclude<RequestFields, LookupFields>;
export type OtherRequest = OtherFields & { readonly payload: Buffer };

/** A lookup whose query string has one character per byte. */
export type ReceivedLookup = LookupFields & { readonly payload: string };
/** A request as the worker reads it; the payload of any other is a view of its bytes. */
export type ReceivedRequest = ReceivedLookup | OtherRequest;
