/** The processes of one listener: starts them, restarts one that ends, and replaces them. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Log } from '../log.js';
import {
  isFromListener,
  type ListenerMessage,
  type ListenerOrder,
  orderWords,
  type SupervisorMessage,
} from './supervised.js';
import type { ClientKeeper } from './shared-clients.js';
import type { WindowKeeper } from '../limit/listener-rates.js';

/**
 * The pause before a listener that ended is started again. It doubles with each restart, up to the
 * second value.
 */
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;
/** A listener that ran for so long is restarted after the shortest pause. */
const CALM_MS = 60_000;

/** A process that is to replace another is ended if it is not ready after this time. */
const READY_MS_MAX = 300_000;

/** How the processes of one listener are started, and what answers their messages. */
interface SlotOptions {
  /** The file of the program. */
  readonly program: string;
  readonly log: Log;
  readonly keeper: WindowKeeper;
  readonly clients: ClientKeeper;
  /** What the next process is told by its command line. */
  order(): ListenerOrder;
}

/** A process ended before it was ready. */
class ListenerEnded extends Error {
  override readonly name = 'ListenerEnded';
  readonly code: number;

  constructor(index: number, code: number | null, signal: NodeJS.Signals | null) {
    super(`listener ${index} ended before it was ready (${signal ?? `code ${code}`})`);
    this.code = code ?? 1;
  }
}

/** The answer to a listener's message; null where it expects none. */
function answerTo(
  message: ListenerMessage,
  { keeper, clients }: Pick<SlotOptions, 'keeper' | 'clients'>,
): SupervisorMessage | null {
  switch (message.type) {
    case 'ask':
      return { type: 'answers', id: message.id, answers: keeper.ask(message.questions) };
    case 'clients':
      return { type: 'counted', id: message.id, answers: clients.ask(message.asked) };
    case 'settle':
      keeper.settle(message.debts);
      return null;
    case 'ready':
      return null;
  }
}

export class Slot {
  readonly #options: SlotOptions;
  /** All processes of this listener that have not ended. */
  readonly #processes = new Set<ChildProcess>();
  /** Those that are not ready yet, each with whether it is to be sent SIGHUP when it is. */
  readonly #starting = new Map<ChildProcess, boolean>();
  /** The process that requests are meant for. */
  #current: ChildProcess | null = null;
  #pauseMs = RESTART_MS_MIN;
  #restart: NodeJS.Timeout | null = null;
  #ending = false;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  /**
   * Starts a process and waits until it is ready; then the previous one is told to leave.
   * @throws ListenerEnded when the new one ends first; the previous one continues.
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

  /**
   * Sends SIGHUP to all processes of this listener; to one that is starting when it is ready, since
   * it would end a process that has no handler yet.
   */
  hangUp(): void {
    for (const process of this.#processes) {
      if (this.#starting.has(process)) this.#starting.set(process, true);
      else process.kill('SIGHUP');
    }
  }

  /** Ends all processes of this listener and resolves when the last has ended. */
  async end(): Promise<void> {
    this.#ending = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    for (const process of this.#processes) process.kill('SIGTERM');
    await Promise.all(
      [...this.#processes].map(
        (process) =>
          new Promise<void>((resolve) => {
            process.once('exit', () => resolve());
          }),
      ),
    );
  }

  #start(): Promise<ChildProcess> {
    const { program } = this.#options;
    const order = this.#options.order();
    const child = fork(program, [...orderWords(order)], { stdio: ['ignore', 1, 2, 'ipc'] });
    this.#processes.add(child);
    this.#starting.set(child, false);
    return new Promise((resolve, reject) => {
      child.on('message', (message) => {
        if (!isFromListener(message)) return;
        if (message.type === 'ready') {
          if (this.#starting.get(child) === true) child.kill('SIGHUP');
          this.#starting.delete(child);
          return resolve(child);
        }
        const answer = answerTo(message, this.#options);
        if (answer !== null && child.connected) child.send(answer, () => undefined);
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        this.#processes.delete(child);
        this.#starting.delete(child);
        reject(new ListenerEnded(order.index, code, signal));
        if (child === this.#current) this.#ended(order, code, signal);
      });
      const beganAt = performance.now();
      child.once('exit', () => {
        if (performance.now() - beganAt >= CALM_MS) this.#pauseMs = RESTART_MS_MIN;
      });
      // A process that replaces none has no time limit: it may have to build a dataset first.
      const late =
        this.#current === null ? null : setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX);
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

  /** Starts a new process after a pause, because the current one has ended. */
  #again(): void {
    this.#current = null;
    if (this.#ending || this.#restart !== null) return;
    this.#restart = setTimeout(() => {
      this.#restart = null;
      // Another process may have been started as a replacement meanwhile.
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
