/**
 * Order over a restart: what the broker had given to a process or a connection that is gone comes
 * again, mostly before anything else. A broker that is busy gives later messages first; they are
 * held back until those that are owed have come.
 */
import { performance } from 'node:perf_hooks';
import type { JsMsg } from '@nats-io/jetstream';

/** What is used of a message. */
export type OwedMessage = Pick<JsMsg, 'seq' | 'data' | 'working'>;

export class OwedMessages<M extends OwedMessage> {
  /** Of all that is held. Where that is all there is room for, the wait ends by its time alone. */
  bytes = 0;
  readonly #count: number;
  readonly #upTo: number;
  readonly #until: number;
  readonly #came = new Set<number>();
  readonly #held = new Map<number, M>();

  /**
   * @param count messages that were given out and not acknowledged
   * @param upTo the last sequence that was given out
   * @param waitMs how long they may be in coming; one that its stream has no more never does
   */
  constructor(count: number, upTo: number, waitMs: number) {
    this.#count = count;
    this.#upTo = upTo;
    this.#until = performance.now() + waitMs;
  }

  hold(message: M): void {
    if (message.seq <= this.#upTo) this.#came.add(message.seq);
    if (!this.#held.has(message.seq)) this.bytes += message.data.length;
    this.#held.set(message.seq, message);
  }

  /** Whether nothing is owed any more. */
  get settled(): boolean {
    return this.#came.size >= this.#count || performance.now() > this.#until;
  }

  /** Whether one is held that came before its turn. */
  get early(): boolean {
    return this.#held.size > this.#came.size;
  }

  /** Tells the broker that what is held was not lost, so that it does not give it again. */
  keep(): void {
    for (const message of this.#held.values()) message.working();
  }

  /** What is held, in order. */
  release(): readonly M[] {
    return [...this.#held.values()].sort((one, two) => one.seq - two.seq);
  }
}
