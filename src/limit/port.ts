/**
 * Windows that several processes ask: what is asked and answered, whoever keeps them. `SharedRates`
 * asks once a turn of the event loop, about each key once, and minds time limits, failures and the
 * share of a process that gets no answer; who keeps the windows does nothing but count.
 */

/** About one key: how many places are asked for in its rolling minute. */
export interface WindowQuestion {
  readonly id: string;
  /** Requests a minute. */
  readonly rate: number;
  /** Zero only looks. */
  readonly count: number;
}

export interface WindowAnswer {
  /** How many of the places asked for are had: the first ones. */
  readonly admitted: number;
  /** Places that are left after them. */
  readonly left: number;
}

/** What a process admitted by itself and has to tell. */
export interface WindowDebt {
  readonly id: string;
  /** Requests and how many milliseconds ago they were; never older than they are. */
  readonly admitted: readonly (readonly [ageMs: number, count: number])[];
}

/**
 * The windows were lost (a restart without their memory): nothing was admitted, and whoever asked
 * tells what it has admitted within the last minute before it asks again.
 */
export class WindowsLost extends Error {
  /** A name of the windows that there are now, other than the one of those before. */
  readonly memory: string;

  constructor(memory: string) {
    super('the windows were lost');
    this.memory = memory;
  }
}

/** Calls are carried out in the order in which they are made. */
export interface SharedWindows {
  /**
   * One answer for each question. It may take as long as it likes: whoever asks does not wait.
   * @throws WindowsLost, or any other error when there is no answer; both as a rejection.
   */
  ask(questions: readonly WindowQuestion[]): Promise<readonly WindowAnswer[]>;
  /** Counts what was admitted, whatever the rate of its key. */
  settle(debts: readonly WindowDebt[]): Promise<void>;
  close(): Promise<void>;
}
