/**
 * The queues of a stream: messages for the workers, in the order in which they came and within the
 * client's credits, and answers for the client.
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
 * Lines of a client: a message, a batch of messages, or a control message about the stream.
 * Messages stay bytes; the workers parse them, so that a malformed one is answered and never
 * affects others.
 */

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;

type ClientLine =
  /** The client has received every answer up to `seq`. */
  | { readonly kind: 'ack'; readonly seq: number }
  /** The client sends no more messages. */
  | { readonly kind: 'end' }
  | { readonly kind: 'messages'; readonly messages: readonly Buffer[]; readonly batch: boolean }
  | { readonly kind: 'batch-too-long' };

const ACK = /^\s*\{\s*"ack"\s*:\s*(\d{1,15})\s*\}\s*$/;
const END = /^\s*\{\s*"end"\s*:\s*true\s*\}\s*$/;

/** Replaces an empty element, since a message without bytes stands for one that was too long. */
const SPACE = Buffer.from(' ');

/**
 * The elements of a list as they were sent, up to one more than a batch may have; null for bytes
 * that are not a list.
 */
export function listElements(bytes: Buffer): readonly Buffer[] | null {
  const open = skipBlanks(bytes, 0);
  if (bytes[open] !== OPEN_BRACKET) return null;
  const elements: Buffer[] = [];
  let end = open;
  do {
    const start = end + 1;
    end = elementEnd(bytes, start);
    // One more element than a batch may have suffices to refuse it. Half a million views would
    // delay every other client.
    if (elements.length <= BATCH_MESSAGES_MAX) {
      elements.push(end === start ? SPACE : bytes.subarray(start, end));
    }
  } while (bytes[end] === COMMA);
  const isWhole = end < bytes.length && skipBlanks(bytes, end + 1) === bytes.length;
  return isWhole ? elements : null;
}

/**
 * The messages of a batch, copied where the line is much longer than they are: a view keeps the
 * whole line in memory, while credits count only the messages.
 */
function withoutBlanks(line: Buffer, elements: readonly Buffer[]): readonly Buffer[] {
  const used = elements.reduce((sum, { length }) => sum + length, 0);
  if (line.length - used <= BATCH_MESSAGES_MAX + 1) return elements;
  return elements.map((element) => Buffer.from(element));
}

/** Reads a line. The messages are views of it, except in a batch with many blanks. */
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
  /** Whether it is part of a batch, which is answered with one line. */
  readonly batch: boolean;
  /** Whether it is the last message of its line. */
  readonly last: boolean;
}

export class Inbox {
  #received = 0;
  /** Messages from the first one without an answer on. */
  #held: Message[] = [];
  /** How many of these the workers have taken. */
  #taken = 0;
  #bytes = 0;

  /** How many messages have been received, which is the number of the last one. */
  get received(): number {
    return this.#received;
  }

  /** How many messages were not taken yet. */
  get waiting(): number {
    return this.#held.length - this.#taken;
  }

  /** Whether the client may send another message within its credits. */
  get hasRoom(): boolean {
    return this.#held.length < CREDIT_MESSAGES && this.#bytes < CREDIT_BYTES;
  }

  /** Whether the messages without an answer are within the client's credits. */
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

  /** The first messages that were not taken yet; they are not taken by this. */
  peek(count: number): readonly Message[] {
    return this.#held.slice(this.#taken, this.#taken + count);
  }

  take(count: number): void {
    this.#taken += count;
  }

  /** Removes all messages up to a number, since their answers were sent. */
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

  /** Discards all messages that were not taken yet. */
  drop(): void {
    for (const { bytes } of this.#held.splice(this.#taken)) this.#bytes -= bytes.length;
  }
}

/*
 * The answers of a stream: those that are to be sent, and sent ones that the client may not have
 * received. Answers that it acknowledged are forgotten, and so are the oldest of the others beyond
 * the limit.
 */

/** The answers to one line of the client. */
interface AnswerLine {
  readonly first: number;
  readonly last: number;
  /** An answer, or a list of answers, with the end of the line. */
  readonly bytes: Buffer;
  /** Id of the release that gave the last of the answers. */
  readonly dataset: string;
}

const LF = 10;
const OPEN = Buffer.from('[');
const BETWEEN = Buffer.from(',');
const CLOSE = Buffer.from(']\n');

export class AnswerBacklog {
  #lines: AnswerLine[] = [];
  /** How many of the lines were sent. */
  #sent = 0;
  #sentBytes = 0;
  #unsentBytes = 0;
  /** Answers to a batch that is not complete yet. */
  #batch: Buffer[] = [];
  #batchFirst = 0;
  /** Number of the last answer that was forgotten. */
  #forgotten = 0;
  /** Number of the last answer that was sent at least once. */
  #written = 0;

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Whether there are lines to send. */
  get pending(): boolean {
    return this.#sent < this.#lines.length;
  }

  /** The number of the last answer that was ever sent. */
  get written(): number {
    return this.#written;
  }

  /** Adds the answers to messages, in order; `output` has a line for each. */
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

  /** Ends a batch, which is incomplete where the stream has ended before its last message. */
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

  /** The next line to send, which then counts as sent. */
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

  /** Forgets all sent answers up to a number, since the client has received them. */
  acknowledge(seq: number): void {
    while (this.#sent > 0 && this.#lines[0]!.last <= seq) this.#forget();
  }

  /** Whether all answers after `from` can still be sent. */
  canResume(from: number): boolean {
    return from >= this.#forgotten;
  }

  /**
   * Prepares to send all lines again that have answers after `from`; a batch is repeated as a
   * whole.
   */
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
