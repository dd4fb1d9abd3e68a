/**
 * A worker's end of a lane: takes requests out of shared memory, answers them, and sleeps between.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { messageOf } from '../log.js';
import { aligned, AnswerWriter } from './frame.js';
import {
  ANSWERED,
  ASLEEP,
  BEGUN,
  type EngineTask,
  IN_MESSAGE,
  LaneMemory,
  type LaneTask,
  POSTED,
  SLOT_ANSWER_BYTES,
  SLOT_BRIEF,
  SLOT_COUNT,
  SLOT_FAILED,
  SLOT_FRAME_BYTES,
  SLOT_OWN,
  SLOT_RELEASE_BYTES,
} from './types.js';

export interface ServeTask extends LaneTask {
  readonly port: MessagePort;
}

/** Writes the answers to a task's requests, in order. What it throws fails the task alone. */
type AnswerTask = (task: EngineTask, into: AnswerWriter) => void;

const ERROR_CHARS_MAX = 1000;

/**
 * So many answered lookups may wait for those of the next task, so that the front end is woken for
 * more of them at a time.
 */
const UNTOLD_MAX = 32;

class Serving {
  readonly #memory: LaneMemory;
  readonly #attention: Int32Array;
  readonly #port: MessagePort;
  readonly #slots: number;
  readonly #answer: AnswerTask;
  readonly #writer = new AnswerWriter(0);
  #releaseText = '';
  #release = { id: '', dir: '' };
  /** Answers that the front end was not told of. */
  #untold = 0;

  constructor({ shared, shape, attention, port }: ServeTask, answer: AnswerTask) {
    this.#memory = new LaneMemory(shared, shape);
    this.#attention = new Int32Array(attention);
    this.#port = port;
    this.#slots = shape.slots;
    this.#answer = answer;
  }

  /** Answers the tasks of the lane one after another and never returns. */
  run(): never {
    const { control } = this.#memory;
    Atomics.store(control, BEGUN, 1);
    for (let done = 0; ; ) {
      if (Atomics.load(control, POSTED) === done) this.#sleep(done);
      else {
        const slot = done % this.#slots;
        this.#serve(slot);
        this.#untold += control[this.#memory.word(slot, SLOT_COUNT)]!;
        done = this.#memory.next(done);
        Atomics.store(control, ANSWERED, done);
        if (!this.#tellsLater(done)) this.#tell();
      }
    }
  }

  /** Whether the next task is there, and answered soon. */
  #tellsLater(done: number): boolean {
    const memory = this.#memory;
    const { control } = memory;
    if (Atomics.load(control, POSTED) === done) return false;
    const slot = done % this.#slots;
    const count = control[memory.word(slot, SLOT_COUNT)]!;
    return control[memory.word(slot, SLOT_BRIEF)] === 1 && this.#untold + count <= UNTOLD_MAX;
  }

  /** Wakes the front end, if it wants that. */
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
    const memory = this.#memory;
    const { control, answers } = memory;
    const writer = this.#writer;
    let failed = 0;
    let length: number;
    try {
      writer.begin(control[memory.word(slot, SLOT_COUNT)]!, answers[slot]!);
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
    control[memory.word(slot, SLOT_FAILED)] = failed;
    control[memory.word(slot, SLOT_ANSWER_BYTES)] = length;
  }

  #task(slot: number): EngineTask {
    const memory = this.#memory;
    const { control, requests } = memory;
    const buffer = requests[slot]!;
    const releaseBytes = control[memory.word(slot, SLOT_RELEASE_BYTES)]!;
    const text = buffer.toString('utf8', 0, releaseBytes);
    if (text !== this.#releaseText) {
      const [id = '', dir = ''] = text.split('\0');
      this.#release = { id, dir };
      this.#releaseText = text;
    }
    const length = control[memory.word(slot, SLOT_FRAME_BYTES)]!;
    const start = aligned(releaseBytes);
    const frame = length === IN_MESSAGE ? this.#received() : buffer.subarray(start, start + length);
    const own = control[memory.word(slot, SLOT_OWN)] === 1;
    return { dataset: this.#release, now: memory.times[slot]!, own, frame };
  }

  /**
   * Takes a frame that was too large for its slot. It came as a message that was sent before the
   * slot was posted, so it is there.
   */
  #received(): Uint8Array {
    const received = receiveMessageOnPort(this.#port);
    if (received?.message instanceof Uint8Array) return received.message;
    throw new Error('a frame was announced and not sent');
  }
}

/** Serves a lane until the worker is ended. */
export function serveLane(task: ServeTask, answer: AnswerTask): never {
  return new Serving(task, answer).run();
}
