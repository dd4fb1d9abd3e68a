/**
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

/** Members of a slot in the control words. */
export const SLOT_COUNT = 0;
export const SLOT_RELEASE_BYTES = 1;
/** Bytes of the frame, or IN_MESSAGE. */
export const SLOT_FRAME_BYTES = 2;
/** Bytes of the answers or of the error's message, or IN_MESSAGE. */
export const SLOT_ANSWER_BYTES = 3;
/** 1 when the task threw. */
export const SLOT_FAILED = 4;

export const IN_MESSAGE = -1;

const SLOTS_AT = 8;
const SLOT_WORDS = 8;
const TIMES_AT_BYTES = 2048;
const HEAD_BYTES = 4096;
/** What the control words have room for. */
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
  readonly times: Float64Array;
  readonly requests: readonly Buffer[];
  readonly answers: readonly Buffer[];

  constructor(shared: SharedArrayBuffer, { slots, requestBytes, answerBytes }: LaneShape) {
    this.control = new Int32Array(shared, 0, SLOTS_AT + SLOTS_MAX * SLOT_WORDS);
    this.times = new Float64Array(shared, TIMES_AT_BYTES, SLOTS_MAX);
    const at = (slot: number): number => HEAD_BYTES + slot * (requestBytes + answerBytes);
    const numbers = Array.from({ length: slots }, (_, slot) => slot);
    this.requests = numbers.map((slot) => Buffer.from(shared, at(slot), requestBytes));
    this.answers = numbers.map((slot) =>
      Buffer.from(shared, at(slot) + requestBytes, answerBytes));
  }

  /** The count after this one. Both wrap at twice the slots, which tells full from empty. */
  next(count: number): number {
    return count + 1 === this.requests.length * 2 ? 0 : count + 1;
  }

  /** The index of a slot's member among the control words. */
  word(slot: number, member: number): number {
    return SLOTS_AT + slot * SLOT_WORDS + member;
  }
}

/** Makes the memory of a lane. */
export function shareMemory({ slots, requestBytes, answerBytes }: LaneShape): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + slots * (requestBytes + answerBytes));
}
