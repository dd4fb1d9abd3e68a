/**
 * The worker pool. Requests that arrive in one turn of the event loop travel together: one message
 * to a worker and one back, whatever their number, and no promise per request.
 */
import { performance } from 'node:perf_hooks';
import { Piscina } from 'piscina';
import { fileURLToPath } from 'node:url';
import type { LogLevel, MinimumPrecision } from './config.js';
import { readAnswers, RequestFrame, type AnswerSlice } from './engine/frame.js';
import { messageOf, type Log } from './log.js';

/** A release that answers, as the workers are told of it. */
export interface PinnedRelease {
  readonly id: string;
  readonly dir: string;
}

/** Where the pool takes the release of each task from. */
export interface ReleaseSource {
  /** Pins the active release until `unpin`; null when there is none. */
  pin(): PinnedRelease | null;
  unpin(release: PinnedRelease): void;
}

export type PoolFailure = 'overloaded' | 'internal';

/** One request in the pool. Exactly one of the two callbacks is called, once. */
export interface PoolRequest {
  readonly op: number;
  readonly version: number;
  readonly grants: number;
  readonly payload: string | Uint8Array;
  /** The body is a view that others share; it is not kept after the call. */
  answered(slice: AnswerSlice, release: PinnedRelease): void;
  failed(failure: PoolFailure): void;
}

/** What a worker is sent. */
export interface EngineTask {
  readonly dataset: PinnedRelease;
  readonly now: number;
  readonly frame: Uint8Array;
}

/** What every worker is told once, at its start. */
export interface EngineSettings {
  readonly baseUrl: string;
  readonly precisionMin: MinimumPrecision;
  readonly logLevel: LogLevel;
}

export interface PoolOptions {
  readonly releases: ReleaseSource;
  readonly log: Log;
  readonly threads: number;
  readonly worker?: URL;
  readonly settings?: EngineSettings;
  /** Tasks a worker may hold: one being answered and the next ones waiting for it. */
  readonly tasksPerWorker?: number;
  readonly requestsPerTask?: number;
  readonly waitingMax?: number;
  readonly taskMs?: number;
  readonly watchMs?: number;
}

export const ENGINE_WORKER = new URL('../workers/engine.js', import.meta.url);

/** Name of the function a worker file exports. */
const WORKER_EXPORT = 'answer';

/** Two, so that a worker has the next task when it ends one while answers are being written. */
const TASKS_PER_WORKER = 2;

/**
 * A task costs about 80 µs whatever its size and each request about 3 µs more: from here on larger
 * tasks save little and only keep their first request waiting for the last.
 */
const REQUESTS_PER_TASK = 64;

/** Requests that wait for a worker; beyond it they are refused at once. */
const WAITING_MAX = 4096;
/** Longest time of a task, after which its worker is taken for stuck. */
const TASK_MS_MAX = 10_000;
const WATCH_MS = 1_000;
/** Turns of the event loop to wait while each brings more requests. */
const GATHER_TURNS_MAX = 4;

interface Task {
  readonly requests: readonly PoolRequest[];
  readonly release: PinnedRelease;
  readonly startedAt: number;
  /** True once its requests were answered, whatever its worker still says. */
  done: boolean;
}

export class EnginePool {
  readonly #options: Required<PoolOptions>;
  readonly #tasks = new Set<Task>();
  readonly #watch: NodeJS.Timeout;
  #piscina: Piscina<EngineTask, Uint8Array>;
  #waiting: PoolRequest[] = [];
  #scheduled = false;
  /** Requests that waited at the last turn, and how many turns they were gathered for. */
  #gathered = 0;
  #turns = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = {
      worker: ENGINE_WORKER,
      settings: { baseUrl: '', precisionMin: 'postal', logLevel: 'info' },
      tasksPerWorker: TASKS_PER_WORKER,
      requestsPerTask: REQUESTS_PER_TASK,
      waitingMax: WAITING_MAX,
      taskMs: TASK_MS_MAX,
      watchMs: WATCH_MS,
      ...options,
    };
    this.#piscina = this.#start();
    this.#watch = setInterval(() => this.#check(), this.#options.watchMs).unref();
  }

  /** Requests waiting or being answered. */
  get load(): number {
    let load = this.#waiting.length;
    for (const task of this.#tasks) load += task.requests.length;
    return load;
  }

  /**
   * Hands a request to a worker at the end of this turn of the event loop. Bulk chunks will have a
   * lane of their own beside `#waiting`, so that a lookup never stands behind them.
   */
  submit(request: PoolRequest): void {
    if (this.#closed || this.#waiting.length >= this.#options.waitingMax) {
      request.failed('overloaded');
      return;
    }
    this.#waiting.push(request);
    this.#schedule();
  }

  /** Ends the workers; what is still open fails. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const task of this.#tasks) this.#fail(task);
    for (const request of this.#waiting.splice(0)) request.failed('overloaded');
    await this.#piscina.destroy();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  /**
   * A turn often brings one request of many that are on their way; while the next turns bring
   * more, a few are waited for. A lone request waits for one turn, which takes microseconds.
   */
  readonly #turn = (): void => {
    const { length } = this.#waiting;
    const more = length > this.#gathered && length < this.#options.requestsPerTask;
    if (more && this.#turns < GATHER_TURNS_MAX) {
      this.#gathered = length;
      this.#turns += 1;
      setImmediate(this.#turn);
      return;
    }
    this.#gathered = 0;
    this.#turns = 0;
    this.#scheduled = false;
    this.#dispatch();
  };

  /**
   * While workers have room, requests go out; while they have none, requests gather, so that the
   * busier the workers the larger the tasks and the smaller their cost.
   */
  #dispatch(): void {
    const { threads, tasksPerWorker, requestsPerTask } = this.#options;
    while (this.#waiting.length > 0 && this.#tasks.size < threads * tasksPerWorker) {
      const idle = Math.max(1, threads - this.#tasks.size);
      const share = Math.ceil(this.#waiting.length / idle);
      this.#post(this.#waiting.splice(0, Math.min(share, requestsPerTask)));
    }
  }

  #post(requests: readonly PoolRequest[]): void {
    const release = this.#options.releases.pin();
    if (release === null) {
      for (const request of requests) request.failed('overloaded');
      return;
    }
    const frame = new RequestFrame();
    for (const { op, version, grants, payload } of requests) {
      frame.add(op, version, grants, payload);
    }
    const task: Task = { requests, release, startedAt: performance.now(), done: false };
    this.#tasks.add(task);
    const bytes = frame.bytes();
    this.#piscina.run(
      { dataset: { id: release.id, dir: release.dir }, now: Date.now(), frame: bytes },
      { transferList: [bytes.buffer as ArrayBuffer] },
    ).then(
      (answers) => this.#deliver(task, answers),
      (error: unknown) => {
        if (!task.done) this.#options.log.error('worker failed', { message: messageOf(error) });
        this.#fail(task);
      },
    );
  }

  #deliver(task: Task, answers: Uint8Array): void {
    if (!this.#finish(task)) return;
    const { requests, release } = task;
    let next = 0;
    try {
      readAnswers(answers, requests.length, (index, slice) => {
        next = index + 1;
        requests[index]?.answered(slice, release);
      });
    } catch (error) {
      // Fewer answers than requests: a bug in the worker must not leave clients waiting.
      this.#options.log.error('answers unreadable', { message: messageOf(error) });
      for (const request of requests.slice(next)) request.failed('internal');
    }
    this.#schedule();
  }

  #fail(task: Task): void {
    if (!this.#finish(task)) return;
    for (const request of task.requests) request.failed('internal');
    this.#schedule();
  }

  #finish(task: Task): boolean {
    if (task.done) return false;
    task.done = true;
    this.#tasks.delete(task);
    this.#options.releases.unpin(task.release);
    return true;
  }

  /** Replaces the workers when one is stuck or none could be started. */
  #check(): void {
    const limit = performance.now() - this.#options.taskMs;
    const stuck = [...this.#tasks].filter((task) => task.startedAt < limit);
    if (stuck.length === 0 && this.#piscina.threads.length > 0) return;
    this.#options.log.error('workers replaced', { stuck: stuck.length });
    const old = this.#piscina;
    this.#piscina = this.#start();
    for (const task of [...this.#tasks]) this.#fail(task);
    void old.destroy();
  }

  #start(): Piscina<EngineTask, Uint8Array> {
    const { threads, worker, settings, tasksPerWorker, log } = this.#options;
    const piscina = new Piscina<EngineTask, Uint8Array>({
      filename: fileURLToPath(worker),
      name: WORKER_EXPORT,
      workerData: settings,
      minThreads: threads,
      maxThreads: threads,
      // Never: a pool that lets idle threads go starts them again under load.
      idleTimeout: Infinity,
      concurrentTasksPerWorker: tasksPerWorker,
      recordTiming: false,
    });
    piscina.on('error', (error: unknown) => {
      log.error('worker error', { message: messageOf(error) });
    });
    return piscina;
  }
}
