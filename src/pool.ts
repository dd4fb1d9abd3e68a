/**
 * The pool of workers. Requests that arrive in one turn of the event loop are sent to a worker
 * together, as a task in memory that both share. Piscina manages the threads; each worker runs one
 * task of Piscina's for its whole life, and our tasks do not go through Piscina.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Piscina } from 'piscina';
import { TURN_END } from './base/turn-end.js';
import { messageOf } from './log.js';
import { readAnswers } from './pool/frame.js';
import { Lane, type Task } from './pool/lane.js';
import {
  POOL_DEFAULTS,
  type PoolOptions,
  poolState,
  type PoolState,
  startThreads,
} from './pool/threads.js';
import type { ServeTask } from './pool/lane-server.js';
import {
  type AnswerSlice,
  isBodyRequest,
  NO_RELEASE,
  type PinnedRelease,
  type PoolRequest,
} from './pool/types.js';

export type {
  EngineSettings,
  PinnedRelease,
  PoolRequest,
} from './pool/types.js';

/** Supplies the release for each task. */
export interface ReleaseSource {
  /** Pins the active release until `unpin`; null when there is none. */
  pin(): PinnedRelease | null;
  unpin(release: PinnedRelease): void;
}

const ENGINE_WORKER = new URL('../workers/engine.js', import.meta.url);

/**
 * Lookups, or requests of the same weight, that are sent to an idle worker before the turn ends.
 */
const WEIGHT_AT_ONCE = 16;
/**
 * A request that is no lookup counts as one lookup for each so many bytes, by the time it takes: a
 * cart of ten lines has 900 bytes, and counts as seven.
 */
const BYTES_OF_A_LOOKUP = 128;
const OTHER_WEIGHT_MIN = 4;

/** How long closing waits for workers that are starting. */
const LOADING_MS_MAX = 10_000;
const LOADING_CHECK_MS = 5;

function weightOf({ kind, payload }: PoolRequest): number {
  if (kind === 'lookup') return 1;
  return Math.max(OTHER_WEIGHT_MIN, Math.floor(payload.length / BYTES_OF_A_LOOKUP));
}

export class EnginePool {
  readonly #options: Required<PoolOptions>;
  readonly #lanes: readonly Lane[];
  readonly #attention = new SharedArrayBuffer(4);
  readonly #wanted = new Int32Array(this.#attention);
  readonly #watch: NodeJS.Timeout;
  #piscina: Piscina<ServeTask, never>;
  #waiting: PoolRequest[] = [];
  #waitingBytes = 0;
  #waitingWeight = 0;
  #scheduled = false;
  #closed = false;
  #ended = 0;

  constructor(options: PoolOptions) {
    this.#options = {
      worker: ENGINE_WORKER,
      ...POOL_DEFAULTS,
      ...options,
    };
    this.#lanes = Array.from({ length: this.#options.threads }, () => this.#lane());
    this.#piscina = startThreads(this.#options);
    for (const lane of this.#lanes) lane.start();
    this.#watch = setInterval(() => this.#check(), this.#options.watchMs).unref();
  }

  /** How many requests wait or are being answered. */
  get load(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.load, this.#waiting.length);
  }

  /** The requests that wait, and what the workers are doing. */
  get state(): PoolState {
    return poolState(this.#lanes, this.#waiting.length, this.#waitingBytes, this.#ended);
  }

  /**
   * Passes a request to a worker: a full task at once, several lookups at once to an idle worker,
   * and fewer at the end of this turn of the event loop.
   */
  submit(request: PoolRequest): void {
    const { waitingMax, waitingBytesMax } = this.#options;
    const { length } = request.payload;
    // A single request may have any length.
    if (
      this.#closed ||
      this.#waiting.length >= waitingMax ||
      (this.#waitingBytes > 0 && this.#waitingBytes + length > waitingBytesMax)
    ) {
      this.#refuse(request);
      return;
    }
    const before = this.#waitingWeight;
    const weight = before + weightOf(request);
    this.#waiting.push(request);
    this.#waitingBytes += length;
    this.#waitingWeight = weight;
    this.#schedule();
    if (
      // Another request like it would not fit into the same task.
      2 * weight - before > this.#options.requestsPerTask ||
      (before < WEIGHT_AT_ONCE &&
        weight >= WEIGHT_AT_ONCE &&
        this.#lanes.some(({ length: tasks }) => tasks === 0))
    ) {
      this.#dispatch();
    }
  }

  #refuse(request: PoolRequest): void {
    const release = request.own?.release ?? null;
    if (release !== null) this.#unpin(release);
    request.failed('overloaded');
  }

  /** Ends the workers; open requests fail. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const request of this.#waiting.splice(0)) this.#refuse(request);
    await this.#loaded();
    // Before the lanes stop, or Piscina would replace each worker whose task ends.
    const destroyed = this.#piscina.destroy();
    for (const lane of this.#lanes) lane.stop('the pool closes');
    await destroyed;
  }

  /** Waits, since ending a thread that loads its modules can end the whole process. */
  async #loaded(): Promise<void> {
    const until = performance.now() + LOADING_MS_MAX;
    while (this.#lanes.some((lane) => lane.loading) && performance.now() < until) {
      await delay(LOADING_CHECK_MS);
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Answers that come before that are collected without a wake-up.
    Atomics.store(this.#wanted, 0, 0);
    TURN_END.last(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    for (const lane of this.#lanes) lane.collect();
    this.#dispatch();
    if (this.#lanes.every((lane) => lane.length === 0)) return;
    Atomics.store(this.#wanted, 0, 1);
    // A worker that answered before this was set will wake nobody.
    if (this.#lanes.some((lane) => lane.ready)) this.#schedule();
  };

  /**
   * Sends requests out while workers have room. While none has, requests gather, so that busier
   * workers get larger tasks, which cost less for each request.
   */
  #dispatch(): void {
    while (this.#waiting.length > 0) {
      let free: Lane | null = null;
      let idle = 0;
      for (const lane of this.#lanes) {
        if (!lane.free) continue;
        if (lane.length === 0) idle += 1;
        if (free === null || lane.length < free.length) free = lane;
      }
      if (free === null) return;
      const share = Math.ceil(this.#waiting.length / Math.max(1, idle));
      const next = this.#next(Math.min(share, this.#options.requestsPerTask));
      for (const request of next) {
        this.#waitingBytes -= request.payload.length;
        this.#waitingWeight -= weightOf(request);
      }
      this.#post(free, next);
    }
  }

  /**
   * Takes the requests of the next task: several that wait, or one that has a release of its own.
   */
  #next(most: number): readonly PoolRequest[] {
    const waiting = this.#waiting;
    const weightMax = this.#options.requestsPerTask;
    let count = 0;
    for (let weight = 0; count < most && count < waiting.length; count += 1) {
      const request = waiting[count]!;
      weight += weightOf(request);
      if (request.own !== undefined || weight > weightMax) break;
    }
    return waiting.splice(0, Math.max(1, count));
  }

  #post(lane: Lane, requests: readonly PoolRequest[]): void {
    const own = requests[0]?.own;
    const release = own?.release ?? this.#options.releases.pin();
    if (release === null) this.#postFree(lane, requests);
    else lane.post(own === undefined ? { requests, release } : { requests, release, now: own.now });
  }

  /** Without a dataset, only requests that need none are answered. */
  #postFree(lane: Lane, requests: readonly PoolRequest[]): void {
    const free = requests.filter(isBodyRequest);
    for (const request of requests) if (!isBodyRequest(request)) request.failed('overloaded');
    if (free.length > 0) lane.post({ requests: free, release: NO_RELEASE });
  }

  #unpin(release: PinnedRelease): void {
    if (release !== NO_RELEASE) this.#options.releases.unpin(release);
  }

  #deliver({ requests, release }: Task, answers: Uint8Array): void {
    const slices: AnswerSlice[] = [];
    let next = 0;
    try {
      try {
        readAnswers(answers, requests.length, (index, slice) => {
          requests[index]!.read?.(slice, release);
          slices.push(slice);
        });
      } finally {
        for (const slice of slices) {
          next += 1;
          requests[next - 1]!.answered(slice, release);
        }
      }
    } catch (error) {
      // Fewer answers than requests are a bug in the worker; clients must not wait because of it.
      this.#options.log.error('answers unreadable', { message: messageOf(error) });
      for (const request of requests.slice(next)) request.failed('internal');
    }
    this.#unpin(release);
  }

  #fail({ requests, release }: Task): void {
    for (const request of requests) request.failed('internal');
    this.#unpin(release);
  }

  #lane(): Lane {
    const { requestBytes, answerBytes, tasksPerWorker: slots, log } = this.#options;
    return new Lane({
      shape: { slots, requestBytes, answerBytes },
      attention: this.#attention,
      serve: (task, transferList, signal) => this.#piscina.run(task, { transferList, signal }),
      woken: () => {
        for (const lane of this.#lanes) lane.collect();
        this.#schedule();
      },
      answered: (task, answers) => this.#deliver(task, answers),
      failed: (task, message) => {
        if (!this.#closed) log.error('task failed', { message });
        this.#fail(task);
      },
      ended: (lane, message, begun) => {
        if (this.#closed) return;
        this.#ended += 1;
        log.error('worker ended', { message });
        // A worker that could not even begin is started again later (`#check`).
        if (begun) lane.start();
        this.#schedule();
      },
    });
  }

  /** Replaces workers that are stuck or could not be started. */
  #check(): void {
    const limit = performance.now() - this.#options.taskMs;
    for (const lane of this.#lanes) if (lane.isStuck(limit)) lane.stop('stuck in one task');
    if (this.#piscina.threads.length === 0) {
      void this.#piscina.destroy();
      this.#piscina = startThreads(this.#options);
    }
    for (const lane of this.#lanes) if (!lane.running) lane.start();
    this.#schedule();
  }
}
