/**
 * The worker's side of a lane: takes tasks from shared memory, reads their requests, packs the
 * answers, and sleeps in between. `frame.ts` describes the bytes.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { aligned, ByteWriter } from '../base/byte-writer.js';
import { messageOf } from '../log.js';
import { ANSWER_HEAD_BYTES, LOOKUP, otherRequest, REQUEST_HEAD_BYTES } from './frame.js';
import {
  type Answer,
  ANSWERED,
  ASLEEP,
  BEGUN,
  type EngineTask,
  IN_MESSAGE,
  LaneMemory,
  type LaneTask,
  POSTED,
  type ReceivedRequest,
  SLOT,
} from './types.js';

export interface ServeTask extends LaneTask {
  readonly port: MessagePort;
}

/** Writes the answers to a task's requests, in order. An exception fails this task only. */
export type AnswerTask = (task: EngineTask, into: AnswerWriter) => void;

const ERROR_CHARS_MAX = 1000;

/**
 * At most this many answered lookups may wait until the next task is answered too, so that the
 * front end is woken once for several tasks.
 */
const UNTOLD_MAX = 32;

const { latin1Slice } = Buffer.prototype;

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
    const at = aligned(this.#end);
    const start = at + REQUEST_HEAD_BYTES;
    if (start > buffer.length) return null;
    const end = (this.#end = start + buffer.readUInt32LE(at + 4));
    const kind = buffer[at]!;
    const byte = buffer[at + 1]!;
    const word = buffer[at + 2]! | (buffer[at + 3]! << 8);
    if (kind !== LOOKUP) return otherRequest(kind, byte, word, buffer.subarray(start, end));
    const payload = latin1Slice.call(buffer, start, end);
    return { kind: 'lookup', version: byte, grants: word, payload };
  }
}

const ANSWER_BYTES_USUAL = 4096;

function memoryFor(count: number, memory: Buffer | null): ByteWriter {
  return new ByteWriter(memory?.length ?? (count + 1) * ANSWER_BYTES_USUAL);
}

/**
 * Packs answers in memory of its own, and copies all of them into the given memory at the end.
 * Written there one by one, parts that are not aligned would be copied byte by byte.
 */
export class AnswerWriter {
  #given: Buffer | null = null;
  #packed: ByteWriter;
  #head = 0;

  /** Reserves memory for answers to about `count` requests, or as much as the given memory has. */
  constructor(count: number, memory: Buffer | null = null) {
    this.#packed = memoryFor(count, memory);
    this.begin(count, memory);
  }

  /** True where the answers are larger than the given memory, or none was given. */
  get moved(): boolean {
    return this.#given === null || this.#packed.length > this.#given.length;
  }

  /**
   * Starts again with a table for `count` answers. Takes new memory where the last answers did not
   * fit the given one, because their own memory was handed out.
   */
  begin(count: number, memory: Buffer | null): void {
    if (this.moved && this.#packed.length > 0) this.#packed = memoryFor(count, memory);
    this.#packed.clear();
    this.#given = memory;
    this.#head = 0;
    this.#packed.leave(count * ANSWER_HEAD_BYTES);
  }

  add({ status, code, precision, flags, body }: Answer): void {
    const packed = this.#packed;
    packed.leave(0);
    const start = packed.length;
    for (let index = 0; index < body.length; index += 1) packed.part(body[index]!);
    const head = this.#head;
    packed.put32(head, status | ((code - 100) << 16) | (precision << 24));
    packed.put32(head + 4, flags);
    packed.put32(head + 8, packed.length - start);
    this.#head = head + ANSWER_HEAD_BYTES;
  }

  /**
   * A view of the answers. They lie in memory of the writer itself where none was given, or they do
   * not fit.
   */
  bytes(): Uint8Array<ArrayBufferLike> {
    const own = this.#packed.bytes();
    const given = this.moved ? null : this.#given;
    given?.set(own);
    return given === null ? own : new Uint8Array(given.buffer, given.byteOffset, own.length);
  }
}

class Serving {
  readonly #memory: LaneMemory;
  readonly #attention: Int32Array;
  readonly #port: MessagePort;
  readonly #answer: AnswerTask;
  readonly #writer: AnswerWriter;
  #releaseText = '';
  #release = { id: '', dir: '' };
  /** How many requests were answered since the front end was last woken. */
  #untold = 0;

  constructor({ shared, shape, attention, port }: ServeTask, answer: AnswerTask) {
    this.#memory = new LaneMemory(shared, shape);
    this.#attention = new Int32Array(attention);
    this.#port = port;
    this.#writer = new AnswerWriter(0, this.#memory.answers[0]!);
    this.#answer = answer;
  }

  /** Answers the tasks of the lane one after another and never returns. */
  run(): never {
    const { control, slots, countSpan } = this.#memory;
    Atomics.store(control, BEGUN, 1);
    for (let done = 0; ; ) {
      if (Atomics.load(control, POSTED) === done) this.#sleep(done);
      else {
        const slot = done % slots.length;
        this.#serve(slot);
        this.#untold += slots[slot]![SLOT.count]!;
        done = (done + 1) % countSpan;
        Atomics.store(control, ANSWERED, done);
        if (!this.#tellsLater(done)) this.#tell();
      }
    }
  }

  /**
   * Whether waking the front end can wait for the next task: it is there, takes no long time, and
   * does not make the answers too many.
   */
  #tellsLater(done: number): boolean {
    const { control, slots } = this.#memory;
    if (Atomics.load(control, POSTED) === done) return false;
    const words = slots[done % slots.length]!;
    return words[SLOT.brief] === 1 && this.#untold + words[SLOT.count]! <= UNTOLD_MAX;
  }

  /** Wakes the front end, if it has asked for that. */
  #tell(): void {
    this.#untold = 0;
    if (Atomics.exchange(this.#attention, 0, 0) === 1) this.#port.postMessage(null);
  }

  #sleep(done: number): void {
    const { control } = this.#memory;
    Atomics.store(control, ASLEEP, 1);
    Atomics.wait(control, POSTED, done);
    Atomics.store(control, ASLEEP, 0);
  }

  #serve(slot: number): void {
    const { slots, answers } = this.#memory;
    const words = slots[slot]!;
    const writer = this.#writer;
    let failed = 0;
    let length: number;
    try {
      writer.begin(words[SLOT.count]!, answers[slot]!);
      this.#answer(this.#task(slot), writer);
      const bytes = writer.bytes();
      length = writer.moved ? IN_MESSAGE : bytes.length;
      // The answers outgrew the slot and lie in the writer's own memory, which now goes to the
      // front end.
      if (writer.moved) this.#port.postMessage(bytes, [bytes.buffer as ArrayBuffer]);
    } catch (error) {
      failed = 1;
      length = answers[slot]!.write(messageOf(error).slice(0, ERROR_CHARS_MAX));
    }
    words[SLOT.failed] = failed;
    words[SLOT.answerBytes] = length;
  }

  #task(slot: number): EngineTask {
    const { slots, requests, times } = this.#memory;
    const words = slots[slot]!;
    const buffer = requests[slot]!;
    const releaseBytes = words[SLOT.releaseBytes]!;
    const text = buffer.toString('utf8', 0, releaseBytes);
    if (text !== this.#releaseText) {
      const [id = '', dir = ''] = text.split('\0');
      this.#release = { id, dir };
      this.#releaseText = text;
    }
    const length = words[SLOT.frameBytes]!;
    const start = aligned(releaseBytes);
    const frame = length === IN_MESSAGE ? this.#received() : buffer.subarray(start, start + length);
    const own = words[SLOT.own] === 1;
    return { dataset: this.#release, now: times[slot]!, own, frame };
  }

  /**
   * Takes a frame that was too large for its slot. The front end sent it as a message before it
   * posted the slot, so the message has arrived.
   */
  #received(): Uint8Array {
    const received = receiveMessageOnPort(this.#port);
    if (received?.message instanceof Uint8Array) return received.message;
    throw new Error('a frame was announced and not sent');
  }
}

/** Serves a lane; never returns. */
export function serveLane(task: ServeTask, answer: AnswerTask): never {
  return new Serving(task, answer).run();
}
