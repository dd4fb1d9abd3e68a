/** Messages that wait for the workers, in the order they came, with what they may take up. */
import { CREDIT_BYTES, CREDIT_MESSAGES } from './stream-limits.js';

export interface Message {
  readonly seq: number;
  readonly bytes: Buffer;
  /** Part of a batch, which is answered as one line. */
  readonly batch: boolean;
  /** The last of its line. */
  readonly last: boolean;
}

export class Inbox {
  #received = 0;
  /** Messages since the first one that is not answered. */
  #held: Message[] = [];
  /** Of these, those that were taken. */
  #taken = 0;
  #bytes = 0;

  /** Messages that ever came: the number of the last one. */
  get received(): number {
    return this.#received;
  }

  /** Messages that were not taken. */
  get waiting(): number {
    return this.#held.length - this.#taken;
  }

  /** Messages without an answer. */
  get unanswered(): number {
    return this.#held.length;
  }

  /** Whether the client may send another message within its credits. */
  get hasRoom(): boolean {
    return this.#held.length < CREDIT_MESSAGES && this.#bytes < CREDIT_BYTES;
  }

  /** Whether what has come is within the credits of the client. */
  get isWithin(): boolean {
    return this.#held.length <= CREDIT_MESSAGES && this.#bytes <= CREDIT_BYTES;
  }

  add(messages: readonly Buffer[], batch: boolean): void {
    for (const [index, bytes] of messages.entries()) {
      this.#received += 1;
      this.#bytes += bytes.length;
      const last = index === messages.length - 1;
      this.#held.push({ seq: this.#received, bytes, batch, last });
    }
  }

  /** The messages that wait, without taking them. */
  peek(count: number): readonly Message[] {
    return this.#held.slice(this.#taken, this.#taken + count);
  }

  take(count: number): void {
    this.#taken += count;
  }

  /** Every message up to a number has been answered. */
  answered(seq: number): void {
    let done = 0;
    while (done < this.#held.length && this.#held[done]!.seq <= seq) {
      this.#bytes -= this.#held[done]!.bytes.length;
      done += 1;
    }
    if (done === 0) return;
    this.#held.splice(0, done);
    this.#taken = Math.max(0, this.#taken - done);
  }

  /** Gives up what was not taken. */
  drop(): void {
    for (const { bytes } of this.#held.splice(this.#taken)) this.#bytes -= bytes.length;
  }
}
