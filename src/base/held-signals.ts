/**
 * Signals that do not end a server. Each would end a process that has no handler for it, as while
 * the modules of a server are loaded; so they are held from the first moment on.
 */
import { isatty } from 'node:tty';

const STANDARD_INPUT = 0;

/** In a terminal, SIGHUP ends a server, like any other program. */
export const HANGUP_ENDS = isatty(STANDARD_INPUT);

const HELD: readonly NodeJS.Signals[] = HANGUP_ENDS ? ['SIGUSR2'] : ['SIGHUP', 'SIGUSR2'];

export class HeldSignals {
  readonly #came = new Set<NodeJS.Signals>();
  readonly #hold = (signal: NodeJS.Signals): void => {
    this.#came.add(signal);
  };

  constructor() {
    for (const signal of HELD) process.on(signal, this.#hold);
  }

  /** Calls `act` whenever the signal comes, and at once where it has come already. */
  pass(signal: NodeJS.Signals, act: (signal: NodeJS.Signals) => void): void {
    process.on(signal, act).off(signal, this.#hold);
    if (this.#came.delete(signal)) act(signal);
  }
}

/**
 * Lets a process that a server has started go on after SIGHUP. The signal may be sent to all
 * processes of a service, and means its logs and its certificate.
 */
export function outliveHangup(): void {
  process.on('SIGHUP', () => undefined);
}
