/**
 * The time as it was when a turn of the event loop began to be busy. Each question to the system
 * takes 75 ns, and a request asks several times. What is handled in one turn had come before it
 * began, so the time of its first request is that of all of them.
 */
import { performance } from 'node:perf_hooks';
import { type TurnEnd, TURN_END } from './turn-end.js';

/** Questions that follow each other sooner come from many requests of one turn. */
const BUSY_MS = 0.05;

interface Sources {
  /** Milliseconds of a clock that never goes back. */
  readonly steady: () => number;
  /** Milliseconds since 1970 UTC. */
  readonly wall: () => number;
  readonly turnEnd: Pick<TurnEnd, 'last'>;
}

export class TurnClock {
  readonly #sources: Sources;
  #steady = Number.NEGATIVE_INFINITY;
  /** Not known until it is asked for. */
  #wall = Number.NaN;
  /** Whether they hold until the end of this turn. */
  #holds = false;

  constructor(sources: Partial<Sources> = {}) {
    this.#sources = {
      steady: () => performance.now(),
      wall: () => Date.now(),
      turnEnd: TURN_END,
      ...sources,
    };
  }

  /** Milliseconds of a clock that never goes back. */
  now(): number {
    if (this.#holds) return this.#steady;
    const { steady, turnEnd } = this.#sources;
    const before = this.#steady;
    this.#steady = steady();
    // What is alone in its turn would pay for the end of it.
    if (this.#steady - before < BUSY_MS) {
      this.#holds = true;
      this.#wall = Number.NaN;
      turnEnd.last(this.#over);
    }
    return this.#steady;
  }

  /** Milliseconds since 1970 UTC. */
  date(): number {
    const { wall } = this.#sources;
    if (!this.#holds) return wall();
    if (Number.isNaN(this.#wall)) this.#wall = wall();
    return this.#wall;
  }

  readonly #over = (): void => {
    this.#holds = false;
  };
}

/** That of this thread. */
export const TURN_CLOCK = new TurnClock();
