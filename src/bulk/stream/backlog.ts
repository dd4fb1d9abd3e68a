/**
 * What a stream has waiting: messages for the workers, in the order they came, with what they may
 * take up, and answers for the client.
 */
import { elementEnd, skipBlanks } from '../../base/json-scan.js';
import { WORD_BYTES_MAX } from '../row/stream-word.js';
import {
  BATCH_MESSAGES_MAX,
  CREDIT_BYTES,
  CREDIT_MESSAGES,
  REPLAY_BYTES_MAX,
} from './session-options.js';

/*
 * Lines of a client: a message, a batch of messages, or a word about the stream itself. Messages
 * stay bytes; the workers parse them, so that a bad one is answered and never harms another.
 */

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;

type ClientLine =
  /** The client has every answer up to `seq`. */
  | { readonly kind: 'ack'; readonly seq: number }
  /** No more messages. */
  | { readonly kind: 'end' }
  | { readonly kind: 'messages'; readonly messages: readonly Buffer[]; readonly batch: boolean }
  | { readonly kind: 'batch-too-long' };

const ACK = /^\s*\{\s*"ack"\s*:\s*(\d{1,15})\s*\}\s*$/;
const END = /^\s*\{\s*"end"\s*:\s*true\s*\}\s*$/;

/** In place of an empty element: a message of no bytes already means one that was too long. */
const SPACE = Buffer.from(' ');

/** The first elements of a list as they were sent; null for bytes that are no list. */
export function listElements(bytes: Buffer): readonly Buffer[] | null {
  const open = skipBlanks(bytes, 0);
  if (bytes[open] !== OPEN_BRACKET) return null;
  const elements: Buffer[] = [];
  let end = open;
  do {
    const start = end + 1;
    end = elementEnd(bytes, start);
    // One more element than a batch may have is enough to refuse it: half a million views would
    // hold up every other client.
    if (elements.length <= BATCH_MESSAGES_MAX) {
      elements.push(end === start ? SPACE : bytes.subarray(start, end));
    }
  } while (bytes[end] === COMMA);
  const isWhole = end < bytes.length && skipBlanks(bytes, end + 1) === bytes.length;
  return isWhole ? elements : null;
}

/**
 * Messages of a batch that hold nothing of it but themselves: a view keeps the whole line in
 * memory, and blanks around the list are counted by nobody.
 */
function withoutBlanks(line: Buffer, elements: readonly Buffer[]): readonly Buffer[] {
  const used = elements.reduce((sum, { length }) => sum + length, 0);
  if (line.length - used <= BATCH_MESSAGES_MAX + 1) return elements;
  return elements.map((element) => Buffer.from(element));
}

/** Reads a line; the messages are views of it where it is little more than these. */
export function readClientLine(bytes: Buffer): ClientLine {
  if (bytes.length <= WORD_BYTES_MAX) {
    const text = bytes.toString('latin1');
    const ack = ACK.exec(text);
    if (ack !== null) return { kind: 'ack', seq: Number(ack[1]) };
    if (END.test(text)) return { kind: 'end' };
  }
  const elements = listElements(bytes);
  if (elements === null) return { kind: 'messages', messages: [bytes], batch: false };
  return elements.length > BATCH_MESSAGES_MAX
    ? { kind: 'batch-too-long' }
    : { kind: 'messages', messages: withoutBlanks(bytes, elements), batch: true };
}

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

/*
 * Answers of a stream: those that wait to be sent, and those sent that the client may still lose.
 * What it acknowledged is forgotten, and of the rest the oldest above the limit.
 */

/** The answers to one line of the client. */
interface AnswerLine {
  readonly first: number;
  readonly last: number;
  /** A line with its end: an answer, or a list of answers. */
  readonly bytes: Buffer;
  /** Release that answered the last of them. */
  readonly dataset: string;
}

const LF = 10;
const OPEN = Buffer.from('[');
const BETWEEN = Buffer.from(',');
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
    for (const answer of this.#batch) parts.push(parts.length === 0 ? OPEN : BETWEEN, answer);
    const last = this.#batchFirst + this.#batch.length - 1;
    this.#batch = [];
    this.#push({
      first: this.#batchFirst,
      last,
      bytes: Buffer.concat([...parts, CLOSE]),
      dataset,
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
