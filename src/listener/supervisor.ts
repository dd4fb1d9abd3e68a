/**
 * A small process that starts several servers on the same address, restarts one that ends, and
 * replaces them without a gap: the new server listens beside the old one, which then leaves. It
 * opens neither store nor dataset and answers no request. It keeps the counts for limits that hold
 * over all of them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { type Config, localUrl } from '../config.js';
import { type Log, messageOf } from '../log.js';
import {
  freePort,
  isFromListener,
  type ListenerMessage,
  type ListenerOrder,
  orderWords,
  type SupervisorMessage,
} from './supervised.js';
import { ClientKeeper } from './shared-clients.js';
import { WindowKeeper } from '../limit/listener-rates.js';

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

class Slot {
  readonly #options: SlotOptions;
  /** All processes of this listener that have not ended. */
  readonly #processes = new Set<ChildProcess>();
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

  /** Passes a signal on to all processes of this listener. */
  signal(signal: NodeJS.Signals): void {
    for (const process of this.#processes) process.kill(signal);
  }

  /** Ends all processes of this listener and resolves when the last has ended. */
  async end(): Promise<void> {
    this.#ending = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.signal('SIGTERM');
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
    return new Promise((resolve, reject) => {
      child.on('message', (message) => {
        if (!isFromListener(message)) return;
        if (message.type === 'ready') return resolve(child);
        const answer = answerTo(message, this.#options);
        if (answer !== null && child.connected) child.send(answer, () => undefined);
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

interface SupervisorOptions {
  readonly config: Config;
  readonly log: Log;
  /** The program that each listener runs. */
  readonly program: string;
}

class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  #port: number;
  #replacing: Promise<void> | null = null;
  #again = false;
  #ending: Promise<void> | null = null;

  constructor(options: SupervisorOptions) {
    const {
      config: { listeners: count, port },
      log,
      program,
    } = options;
    this.#options = options;
    this.#port = port;
    const keeper = new WindowKeeper();
    const clients = new ClientKeeper();
    this.#slots = Array.from(
      { length: count },
      (_, index) =>
        new Slot({
          program,
          log,
          keeper,
          clients,
          order: () => ({ index, count, port: this.#port }),
        }),
    );
  }

  /**
   * Starts the first listener alone, since it makes what a new folder lacks, and then all others.
   * @throws Error when the port is taken or one of them ends.
   */
  async start(): Promise<string> {
    const { config } = this.#options;
    this.#port = await freePort(config);
    const [first, ...others] = this.#slots;
    await first?.replace();
    await Promise.all(others.map((slot) => slot.replace()));
    return localUrl(config.host, this.#port, config.tls !== null);
  }

  /** Passes a signal on to every listener. */
  signal(signal: NodeJS.Signals): void {
    for (const slot of this.#slots) slot.signal(signal);
  }

  /**
   * Replaces the listeners one after the other. If called while it does, it repeats that once at
   * the end.
   */
  replace(): Promise<void> {
    if (this.#replacing !== null) this.#again = true;
    this.#replacing ??= this.#replaceAll().finally(() => {
      this.#replacing = null;
    });
    return this.#replacing;
  }

  /** Ends all listeners. */
  end(): Promise<void> {
    this.#ending ??= Promise.all(this.#slots.map((slot) => slot.end())).then(() => undefined);
    return this.#ending;
  }

  async #replaceAll(): Promise<void> {
    const { log } = this.#options;
    do {
      this.#again = false;
      log.info('replacing', { listeners: this.#slots.length });
      try {
        for (const slot of this.#slots) {
          if (this.#ending !== null) return;
          await slot.replace();
        }
        log.info('replaced', { listeners: this.#slots.length });
      } catch (error) {
        log.error('not replaced; what answered before goes on', { message: messageOf(error) });
      }
    } while (this.#again && this.#ending === null);
  }
}

/** Runs a supervisor until a signal ends the process. */
export async function supervise(options: SupervisorOptions): Promise<void> {
  const { log } = options;
  const supervisor = new Supervisor(options);
  const stop = (signal: string): void => {
    log.info('stopping', { signal });
    supervisor.end().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  process.on('SIGHUP', () => supervisor.signal('SIGHUP'));
  let [started, replaced] = [false, false];
  process.on('SIGUSR2', () => {
    if (started) void supervisor.replace();
    // The listeners that are just being started run the previous version of the program.
    else replaced = true;
  });
  try {
    const url = await supervisor.start();
    started = true;
    process.stdout.write(`Situs answers on ${url}\n`);
    if (replaced) void supervisor.replace();
  } catch (error) {
    await supervisor.end();
    throw error;
  }
}
