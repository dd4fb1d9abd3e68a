/**
 * A small process that starts servers which listen on the same address, starts one again that ends,
 * and replaces them without a gap: each new one listens beside the old one, which leaves then. It
 * opens neither store nor dataset, answers no request, and keeps the windows of keys for all.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Config, localUrl } from '../config.js';
import { messageOf, type Log } from '../log.js';
import { Slot } from './slot.js';
import { WindowKeeper } from './window-keeper.js';

export interface SupervisorOptions {
  readonly config: Config;
  readonly log: Log;
  /** The program that each listener runs. */
  readonly program: string;
}

/**
 * The port for all listeners; 0 is a free one, which each of them has to be told.
 * @throws Error where another program has it: listeners would share it unnoticed.
 */
async function freePort({ host, port }: Config): Promise<number> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen({ host, port, exclusive: true });
  try {
    await listening;
  } catch (error) {
    throw new Error(
      `cannot listen on ${host}:${port}: the port is taken, or the address or port is not ` +
      `permitted; set HOST and PORT (${messageOf(error)})`,
    );
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  #port: number;
  #replacing: Promise<void> | null = null;
  #again = false;
  #ending: Promise<void> | null = null;

  constructor(options: SupervisorOptions) {
    const { config: { listeners: count, port }, log, program } = options;
    this.#options = options;
    this.#port = port;
    const keeper = new WindowKeeper();
    this.#slots = Array.from({ length: count }, (_, index) => new Slot({
      program, log, keeper,
      order: () => ({ index, count, port: this.#port }),
    }));
  }

  /**
   * Starts all listeners, the first one alone: it makes what a new folder lacks.
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

  /** Replaces the listeners one after the other; told meanwhile, it does so once more. */
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

/** Runs a supervisor until it is told to stop. */
export async function supervise(options: SupervisorOptions): Promise<void> {
  const { log } = options;
  const supervisor = new Supervisor(options);
  const stop = (signal: string): void => {
    log.info('stopping', { signal });
    supervisor.end().then(() => process.exit(0), () => process.exit(1));
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  process.on('SIGHUP', () => supervisor.signal('SIGHUP'));
  let started = false;
  process.on('SIGUSR2', () => {
    if (started) void supervisor.replace();
  });
  try {
    const url = await supervisor.start();
    started = true;
    process.stdout.write(`Situs answers on ${url}\n`);
  } catch (error) {
    await supervisor.end();
    throw error;
  }
}
