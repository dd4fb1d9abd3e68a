/**
 * The front end's side of a lane. Its tasks reach one worker through shared memory; for Piscina,
 * the worker runs a single task that never returns. When that ends, every request in the lane
 * fails.
 */
import { performance } from 'node:perf_hooks';
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { aligned } from '../base/byte-writer.js';
import { putHead, REQUEST_HEAD_BYTES, RequestFrame } from './frame.js';
import { messageOf } from '../log.js';
import {
  ANSWERED,
  ASLEEP,
  BEGUN,
  IN_MESSAGE,
  LaneMemory,
  POSTED,
  shareMemory,
  SLOTS_MAX,
  type LaneShape,
  type PinnedRelease,
  type PoolRequest,
  SLOT,
} from './types.js';
import type { ServeTask } from './lane-server.js';

/** Requests of one release that a worker answers together. */
export interface Task {
  readonly requests: readonly PoolRequest[];
  readonly release: PinnedRelease;
  /** The moment that the requests ask about; absent for the present. */
  readonly now?: number;
}

/** What a lane needs of its pool. */
interface LaneOptions {
  readonly shape: LaneShape;
  readonly attention: SharedArrayBuffer;
  /**
   * Starts the worker's task that serves the lane; the promise settles only when the worker ends.
   */
  serve(task: ServeTask, transfer: readonly MessagePort[], signal: AbortSignal): Promise<unknown>;
  /** Called when the worker's message has woken the front end: there are answers. */
  woken(): void;
  /** The answers are views of memory that is used again after the call returns. */
  answered(task: Task, answers: Uint8Array): void;
  failed(task: Task, reason: string): void;
  /** The worker has ended, and the lane is empty. `begun` tells whether the worker ever served. */
  ended(lane: Lane, reason: string, begun: boolean): void;
}

/** What a lane has only from `start` until its worker ends. */
interface Run {
  readonly memory: LaneMemory;
  readonly frames: readonly RequestFrame[];
  readonly port: MessagePort;
  readonly abort: AbortController;
  /** Frames of answers that came as messages and have not been handed out yet. */
  readonly received: Uint8Array[];
  posted: number;
  answered: number;
}

/**
 * The name of a release as bytes for the head of a slot. The bytes are kept, since most tasks name
 * the same release as the one before.
 */
class ReleaseText {
  #release: PinnedRelease | null = null;
  #bytes = Buffer.alloc(0);

  of(release: PinnedRelease): Buffer {
    if (release.id !== this.#release?.id || release.dir !== this.#release.dir) {
      this.#release = release;
      this.#bytes = Buffer.from(`${release.id}\0${release.dir}`);
    }
    return this.#bytes;
  }
}

/**
 * A frame of one request, made around its payload without copying it; null where there is no room
 * for the head before the payload.
 */
function frameInPlace(request: PoolRequest, payload: Uint8Array): Uint8Array | null {
  const { buffer, byteOffset, length } = payload;
  if (byteOffset < REQUEST_HEAD_BYTES || buffer instanceof SharedArrayBuffer) return null;
  const start = byteOffset - REQUEST_HEAD_BYTES;
  const frame = Buffer.from(buffer, start, REQUEST_HEAD_BYTES + length);
  putHead(frame, 0, request, length);
  return new Uint8Array(buffer, start, frame.length);
}

/**
 * Whether a task takes no long time. One with a moment of its own may have to open a release first.
 */
function isBrief({ requests, now }: Task): boolean {
  return now === undefined && requests.every(({ kind }) => kind === 'lookup');
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #release = new ReleaseText();
  #tasks: Task[] = [];
  #run: Run | null = null;
  /** When the worker began its oldest task, in milliseconds. */
  #since = 0;
  /**
   * While answers are handed out, their slot counts as taken: a receiver may post its next request
   * at once, which must not overwrite them.
   */
  #delivering = false;

  constructor(options: LaneOptions) {
    if (options.shape.slots > SLOTS_MAX) throw new RangeError(`a lane has ${SLOTS_MAX} slots`);
    this.#options = options;
  }

  /** How many tasks are posted and not answered. */
  get length(): number {
    return this.#tasks.length;
  }

  /** How many requests are posted and not answered. */
  get load(): number {
    return this.#tasks.reduce((sum, { requests }) => sum + requests.length, 0);
  }

  get running(): boolean {
    return this.#run !== null;
  }

  /** True while its worker has not begun to serve. */
  get loading(): boolean {
    return this.#run !== null && Atomics.load(this.#run.memory.control, BEGUN) !== 1;
  }

  get free(): boolean {
    const taken = this.#tasks.length + (this.#delivering ? 1 : 0);
    return this.#run !== null && taken < this.#options.shape.slots;
  }

  /** Whether there are answers to hand out. */
  get ready(): boolean {
    const run = this.#run;
    return run !== null && Atomics.load(run.memory.control, ANSWERED) !== run.answered;
  }

  /**
   * Whether the worker has been busy with one task since before the time `limit`, in milliseconds.
   */
  isStuck(limit: number): boolean {
    return this.#tasks.length > 0 && this.#since < limit;
  }

  /** Gives the lane a worker, and new memory that no earlier worker can touch. */
  start(): void {
    const { shape, attention } = this.#options;
    const shared = shareMemory(shape);
    const memory = new LaneMemory(shared, shape);
    const { port1, port2 } = new MessageChannel();
    const run: Run = {
      memory,
      port: port1,
      abort: new AbortController(),
      received: [],
      posted: 0,
      answered: 0,
      frames: memory.requests.map((buffer) => new RequestFrame(buffer)),
    };
    port1.on('message', (message: unknown) => {
      if (message instanceof Uint8Array) run.received.push(message);
      this.#options.woken();
    });
    this.#run = run;
    const ended = (reason: unknown): void => {
      if (this.#run === run) this.#end(run, reason);
    };
    this.#options
      .serve({ shared, shape, attention, port: port2 }, [port2], run.abort.signal)
      .then(() => ended(new Error('the worker stopped serving')), ended);
  }

  /** Posts a task. The lane must have a free slot. */
  post(task: Task): void {
    const run = this.#run;
    if (run === null) throw new Error('a lane without a worker was given a task');
    const { memory, posted } = run;
    const { control } = memory;
    const slot = posted % memory.slots.length;
    const words = memory.slots[slot]!;
    const release = this.#release.of(task.release);
    memory.requests[slot]!.set(release);
    const bytes = this.#frame(run.frames[slot]!, release.length, task);
    const isMessage = !(bytes.buffer instanceof SharedArrayBuffer);
    if (isMessage) run.port.postMessage(bytes, [bytes.buffer as ArrayBuffer]);
    words[SLOT.count] = task.requests.length;
    words[SLOT.releaseBytes] = release.length;
    words[SLOT.frameBytes] = isMessage ? IN_MESSAGE : bytes.length;
    words[SLOT.own] = task.now === undefined ? 0 : 1;
    words[SLOT.brief] = isBrief(task) ? 1 : 0;
    memory.times[slot] = task.now ?? Date.now();
    if (this.#tasks.length === 0) this.#since = performance.now();
    this.#tasks.push(task);
    run.posted = (posted + 1) % memory.countSpan;
    Atomics.store(control, POSTED, run.posted);
    if (Atomics.load(control, ASLEEP) === 1) Atomics.notify(control, POSTED);
  }

  /**
   * Writes the frame of a task into its slot. Where it is too large, writes it into memory that is
   * sent as a message.
   */
  #frame(frame: RequestFrame, start: number, { requests }: Task): Uint8Array {
    const [first] = requests;
    if (
      requests.length === 1 &&
      first?.gives === true &&
      typeof first.payload !== 'string' &&
      first.payload.length > this.#options.shape.requestBytes
    ) {
      const bytes = frameInPlace(first, first.payload);
      if (bytes !== null) return bytes;
    }
    frame.reset(aligned(start));
    for (const request of requests) frame.add(request, request.payload);
    return frame.bytes();
  }

  /** Hands out the answers that there are. */
  collect(): void {
    while (this.ready) this.#deliver(this.#run!);
  }

  /** Ends the worker; all requests in the lane fail. */
  stop(reason: string): void {
    const run = this.#run;
    if (run === null) return;
    run.abort.abort();
    this.#end(run, reason);
  }

  #deliver(run: Run): void {
    const { memory } = run;
    const slot = run.answered % memory.slots.length;
    const words = memory.slots[slot]!;
    const length = words[SLOT.answerBytes]!;
    const failed = words[SLOT.failed] === 1;
    const answers =
      length === IN_MESSAGE ? this.#received(run) : memory.answers[slot]!.subarray(0, length);
    const task = this.#tasks.shift()!;
    this.#since = performance.now();
    this.#delivering = true;
    try {
      if (failed) this.#options.failed(task, Buffer.from(answers).toString());
      else this.#options.answered(task, answers);
    } finally {
      this.#delivering = false;
    }
    // Only after its answers are handed out may the slot be used again.
    run.answered = (run.answered + 1) % memory.countSpan;
  }

  #received(run: Run): Uint8Array {
    const early = run.received.shift();
    if (early !== undefined) return early;
    for (;;) {
      const next = receiveMessageOnPort(run.port);
      if (next === undefined) return new Uint8Array(0);
      if (next.message instanceof Uint8Array) return next.message;
    }
  }

  #end(run: Run, reason: unknown): void {
    this.#run = null;
    // Answers that the worker finished but did not announce are handed out too.
    while (Atomics.load(run.memory.control, ANSWERED) !== run.answered) this.#deliver(run);
    run.port.close();
    const begun = Atomics.load(run.memory.control, BEGUN) === 1;
    const text = messageOf(reason);
    for (const task of this.#tasks.splice(0)) this.#options.failed(task, text);
    this.#options.ended(this, text, begun);
  }
}
