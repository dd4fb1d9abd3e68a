/**
 * A clock that is asked once in a busy turn of the event loop: each question to the system takes
 * 75 ns, and a request asks several times. Two questions that follow each other at once have the
 * turn's others answered with the time of the second, so that it may be behind by as long as a turn
 * takes (by two, where they come at the end of one), and is never ahead.
 */
import { performance } from 'node:perf_hooks';
import { type TurnEnd, TURN_END } from './turn-end.js';

/** Questions that follow each other sooner are taken for a busy turn's. */
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
    // Where a turn has one question, to be told of its end would cost more than to ask.
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
