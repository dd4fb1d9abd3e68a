/** One listener of a supervisor: its process, and the one that takes its place. */
import { fork, type ChildProcess } from 'node:child_process';
import type { Log } from '../log.js';
import { isFromListener, type SupervisorMessage } from './messages.js';
import { orderWords, type ListenerOrder } from './supervised.js';
import type { WindowKeeper } from './window-keeper.js';

/** The first pause before one that ended is started again; it doubles up to the last. */
export const RESTART_MS_MIN = 100;
export const RESTART_MS_MAX = 10_000;
/** One that was ready for so long begins with the first pause again. */
const CALM_MS = 60_000;

/** One that is to take another's place and is not ready by then is given up. */
const READY_MS_MAX = 300_000;

/** How a process of the slot is started, and what is told of it. */
export interface SlotOptions {
  /** The program. */
  readonly program: string;
  readonly log: Log;
  readonly keeper: WindowKeeper;
  /** What the next process is to be. */
  order(): ListenerOrder;
}

/** How a process came to its end before it was ready. */
export class ListenerEnded extends Error {
  override readonly name = 'ListenerEnded';
  readonly code: number;

  constructor(index: number, code: number | null, signal: NodeJS.Signals | null) {
    super(`listener ${index} ended before it was ready (${signal ?? `code ${code}`})`);
    this.code = code ?? 1;
  }
}

export class Slot {
  readonly #options: SlotOptions;
  /** All processes that have not ended. */
  readonly #processes = new Set<ChildProcess>();
  /** The one that is to answer. */
  #current: ChildProcess | null = null;
  #pauseMs = RESTART_MS_MIN;
  #restart: NodeJS.Timeout | null = null;
  #ending = false;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get pids(): readonly number[] {
    return [...this.#processes].map(({ pid = 0 }) => pid);
  }

  /**
   * Starts a process and waits until it is ready; the one before leaves then.
   * @throws ListenerEnded when it ends before; the one before goes on as it was.
   */
  async replace(): Promise<void> {
    const next = await this.#start();
    const before = this.#current;
    this.#current = next;
    if (next.exitCode !== null || next.signalCode !== null) this.#again();
    if (before?.connected === true) {
      before.send({ type: 'leave' } satisfies SupervisorMessage, () => undefined);
    }
  }

  /** Passes a signal on to all of its processes. */
  signal(signal: NodeJS.Signals): void {
    for (const process of this.#processes) process.kill(signal);
  }

  /** Ends them and resolves when the last has. */
  async end(): Promise<void> {
    this.#ending = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.signal('SIGTERM');
    await Promise.all([...this.#processes].map((process) => new Promise<void>((resolve) => {
      process.once('exit', () => resolve());
    })));
  }

  #start(): Promise<ChildProcess> {
    const { program, keeper } = this.#options;
    const order = this.#options.order();
    const child = fork(program, [...orderWords(order)], { stdio: ['ignore', 1, 2, 'ipc'] });
    this.#processes.add(child);
    return new Promise((resolve, reject) => {
      child.on('message', (message) => {
        if (!isFromListener(message)) return;
        switch (message.type) {
          case 'ready': return resolve(child);
          case 'settle': return keeper.settle(message.debts);
          case 'ask': {
            const { id, questions } = message;
            const answers = keeper.ask(questions);
            const answer: SupervisorMessage = { type: 'answers', id, answers };
            if (child.connected) child.send(answer, () => undefined);
          }
        }
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        this.#processes.delete(child);
        reject(new ListenerEnded(order.index, code, signal));
        if (child === this.#current) this.#ended(order, code, signal);
      });
      const beganAt = performance.now();
      child.once('exit', () => {
        if (performance.now() - beganAt >= CALM_MS) this.#pauseMs = RESTART_MS_MIN;
      });
      // The first one may build a dataset; the others have it.
      const late = this.#current === null ? null
        : setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX);
      const over = (): void => {
        if (late !== null) clearTimeout(late);
      };
      child.once('exit', over).on('message', (message) => {
        if (isFromListener(message) && message.type === 'ready') over();
      });
    });
  }

  #ended({ index }: ListenerOrder, code: number | null, signal: string | null): void {
    if (this.#ending) return;
    this.#options.log.error('listener ended', { listener: index, code, signal });
    this.#again();
  }

  /** Starts another where the one that was to answer has ended. */
  #again(): void {
    this.#current = null;
    if (this.#ending || this.#restart !== null) return;
    this.#restart = setTimeout(() => {
      this.#restart = null;
      // One that takes its place may have come meanwhile.
      if (this.#ending || this.#current !== null) return;
      this.replace().catch((error: unknown) => {
        const { log } = this.#options;
        log.error('listener not started', { message: String(error) });
        if (this.#current === null) this.#again();
      });
    }, this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, RESTART_MS_MAX);
  }
}
