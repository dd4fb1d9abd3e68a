/**
 * A small process that starts several servers on the same address, restarts one that ends, and
 * replaces them without a gap: the new server listens beside the old one, which then leaves. It
 * opens neither store nor dataset and answers no request. It keeps the counts for limits that hold
 * over all of them.
 */
import type { HeldSignals } from '../base/held-signals.js';
import { type Config, localUrl } from '../config.js';
import { type Log, messageOf, createLog } from '../log.js';
import { freePort } from './supervised.js';
import { ClientKeeper } from './shared-clients.js';
import { Slot } from './slot.js';
import { WindowKeeper } from '../limit/listener-rates.js';

interface SupervisorOptions {
  readonly config: Config;
  /** The program that each listener runs. */
  readonly program: string;
  readonly signals: HeldSignals;
}

/** Numbers of listeners for the log, such as "0, 1". */
function numbers(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => from + at).join(', ');
}

class Supervisor {
  readonly #config: Config;
  readonly #log: Log;
  readonly #slots: readonly Slot[];
  #port: number;
  #replacing: Promise<void> | null = null;
  #again = false;
  #ending: Promise<void> | null = null;

  constructor({ config, program }: SupervisorOptions, log: Log) {
    const count = config.listeners;
    this.#config = config;
    this.#log = log;
    this.#port = config.port;
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
    const config = this.#config;
    this.#port = await freePort(config);
    const [first, ...others] = this.#slots;
    await first?.replace();
    await Promise.all(others.map((slot) => slot.replace()));
    return localUrl(config.host, this.#port, config.tls !== null);
  }

  /** Passes SIGHUP on to every listener. */
  hangUp(): void {
    for (const slot of this.#slots) slot.hangUp();
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
    const log = this.#log;
    const listeners = this.#slots.length;
    do {
      this.#again = false;
      log.info('replacing', { listeners });
      let replaced = 0;
      try {
        for (const slot of this.#slots) {
          if (this.#ending !== null) return;
          await slot.replace();
          replaced += 1;
        }
        log.info('replaced', { listeners });
      } catch (error) {
        const message = messageOf(error);
        if (replaced === 0) log.error('not replaced; what answered before goes on', { message });
        else {
          log.error('not all replaced; what answered before goes on', {
            replaced: numbers(0, replaced),
            notReplaced: numbers(replaced, listeners),
            message,
          });
        }
      }
    } while (this.#again && this.#ending === null);
  }
}

/** Runs a supervisor until a signal ends the process. */
export async function supervise(options: SupervisorOptions): Promise<void> {
  const { signals, config } = options;
  const log = createLog(config.logLevel);
  const supervisor = new Supervisor(options, log);
  const stop = (signal: string): void => {
    log.info('stopping', { signal });
    supervisor.end().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  signals.pass('SIGHUP', () => supervisor.hangUp());
  let [started, replaced] = [false, false];
  signals.pass('SIGUSR2', () => {
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
