/**
 * Answers of a stream: those that wait to be sent, and those sent that the client may still lose.
 * What it acknowledged is forgotten, and of the rest the oldest above the limit.
 */
import { REPLAY_BYTES_MAX } from './stream-limits.js';
import type { Message } from './inbox.js';

/** The answers to one line of the client. */
export interface AnswerLine {
  readonly first: number;
  readonly last: number;
  /** A line with its end: an answer, or a list of answers. */
  readonly bytes: Buffer;
  /** Release that answered the last of them. */
  readonly dataset: string;
}

const LF = 10;
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']\n');

export class AnswerBacklog {
  #lines: AnswerLine[] = [];
  /** Lines that were sent. */
  #sent = 0;
  #sentBytes = 0;
  #unsentBytes = 0;
  /** Answers of a batch that is not complete. */
  #batch: Buffer[] = [];
  #batchFirst = 0;
  /** Answers up to here are forgotten. */
  #forgotten = 0;
  /** Answers up to here were sent once. */
  #written = 0;

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Whether something waits to be sent. */
  get pending(): boolean {
    return this.#sent < this.#lines.length;
  }

  /** The number of the last answer that was ever sent. */
  get written(): number {
    return this.#written;
  }

  /** Adds the lines of some messages, in order. */
  add(messages: readonly Message[], output: Buffer, dataset: string): void {
    let at = 0;
    for (const { seq, batch, last } of messages) {
      const end = output.indexOf(LF, at) + 1;
      if (!batch) this.#push({ first: seq, last: seq, bytes: output.subarray(at, end), dataset });
      else {
        if (this.#batch.length === 0) this.#batchFirst = seq;
        this.#batch.push(output.subarray(at, end - 1));
        if (last) this.endBatch(dataset);
      }
      at = end;
    }
  }

  /** Ends a batch, whole or cut short by the end of the stream. */
  endBatch(dataset: string): void {
    if (this.#batch.length === 0) return;
    const parts: Buffer[] = [];
    for (const answer of this.#batch) parts.push(parts.length === 0 ? OPEN : COMMA, answer);
    const last = this.#batchFirst + this.#batch.length - 1;
    this.#batch = [];
    this.#push({
      first: this.#batchFirst, last, bytes: Buffer.concat([...parts, CLOSE]), dataset,
    });
  }

  /** The next line to send; it counts as sent. */
  next(): AnswerLine | null {
    const line = this.#lines[this.#sent];
    if (line === undefined) return null;
    this.#sent += 1;
    this.#unsentBytes -= line.bytes.length;
    this.#sentBytes += line.bytes.length;
    this.#written = Math.max(this.#written, line.last);
    while (this.#sentBytes > REPLAY_BYTES_MAX && this.#sent > 1) this.#forget();
    return line;
  }

  /** The client has every answer up to a number. */
  acknowledge(seq: number): void {
    while (this.#sent > 0 && this.#lines[0]!.last <= seq) this.#forget();
  }

  /** Whether answers from the one after `from` on can be sent again. */
  canResume(from: number): boolean {
    return from >= this.#forgotten;
  }

  /** Sends again what comes after an answer, from the beginning of the batch it is part of. */
  rewind(from: number): void {
    this.acknowledge(from);
    this.#sent = 0;
    this.#unsentBytes += this.#sentBytes;
    this.#sentBytes = 0;
  }

  #push(line: AnswerLine): void {
    this.#lines.push(line);
    this.#unsentBytes += line.bytes.length;
  }

  #forget(): void {
    const line = this.#lines.shift();
    if (line === undefined) return;
    this.#sent -= 1;
    this.#sentBytes -= line.bytes.length;
    this.#forgotten = line.last;
  }
}
