/** Messages of `situs stream`: where their answers go, and in which order they are answered. */
import { performance } from 'node:perf_hooks';
import type { JsMsg } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { RefusedRow } from '../bulk/row/chunk-payload.js';
import { RESPONSE_CODES } from '../wire/response-code.js';

/** The last token of a subject; `--ordered` keeps the order of messages with the same one. */
export function keyOf(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/**
 * The subject of an answer. A last token "*" is replaced by the last token of the message's
 * subject.
 */
export function targetOf(pattern: string, subject: string): string {
  return pattern.endsWith('.*') ? `${pattern.slice(0, -1)}${keyOf(subject)}` : pattern;
}

const HEADER_CHARS_MAX = 1_000;

/** The refusal of a message whose answer is longer than the broker accepts. */
export function tooLong(seq: number, bytes: number): RefusedRow {
  return {
    line: seq,
    code: RESPONSE_CODES.internal.code,
    field: null,
    message: `The answer has ${bytes} bytes, more than its stream takes in a message.`,
  };
}

/** Bytes of header fields, including separators. */
export function bytesOf(fields: MsgHdrs | undefined): number {
  let bytes = 0;
  for (const [name, values] of fields ?? []) {
    for (const value of values) bytes += name.length + Buffer.byteLength(value) + 4;
  }
  return bytes;
}

/** A text as the value of a header field: on one line, and shortened. */
function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, HEADER_CHARS_MAX);
}

/** Header fields with which a refused message is passed on. */
export function headersOf(message: JsMsg, { code, field, message: why }: RefusedRow): MsgHdrs {
  const set = headers();
  set.set('Situs-Code', String(code));
  if (field !== null) set.set('Situs-Field', lineOf(field));
  set.set('Situs-Message', lineOf(why));
  set.set('Situs-Subject', message.subject);
  set.set('Situs-Sequence', String(message.seq));
  return set;
}

/** Half of the bytes that a process may hold; the other half is for messages being answered. */
const HELD_BYTES_MAX = 25_165_824;
/** When the broker is to deliver a message again that was given back. */
const AGAIN_MS = 500;

/** The members of a message that are used here. */
export type OwedMessage = Pick<JsMsg, 'seq' | 'data' | 'working' | 'nak'>;

/**
 * Keeps messages in order after a restart or a lost connection. Messages that the broker had
 * delivered before are owed: it delivers them again, mostly before any others. A busy broker
 * delivers later messages first; these are held until the owed ones have arrived.
 *
 * Where there is no room to hold messages, the latest are given back to the broker and then owed
 * too: no later message is released before they have arrived again.
 */
export class OwedMessages<M extends OwedMessage> {
  /** Bytes of all held messages. */
  bytes = 0;
  readonly #count: number;
  readonly #upTo: number;
  readonly #waitMs: number;
  readonly #bytesMax: number;
  /** How long messages are awaited that had been delivered to others. */
  readonly #until: number;
  readonly #came = new Set<number>();
  readonly #held = new Map<number, M>();
  /** Sequences of messages that were given back here and have not arrived again. */
  readonly #back = new Set<number>();
  #backUntil = Infinity;

  /**
   * @param count messages that were delivered and not acknowledged
   * @param upTo the last sequence that was delivered
   * @param waitMs longest wait for them; a message that was deleted never arrives
   * @param bytesMax most bytes to hold, though one message may be longer
   */
  constructor(count: number, upTo: number, waitMs: number, bytesMax = HELD_BYTES_MAX) {
    this.#count = count;
    this.#upTo = upTo;
    this.#waitMs = waitMs;
    this.#bytesMax = bytesMax;
    this.#until = performance.now() + waitMs;
  }

  hold(message: M): void {
    const { seq, data } = message;
    if (seq <= this.#upTo) this.#came.add(seq);
    if (this.#back.delete(seq)) this.#backUntil = performance.now() + this.#waitMs;
    if (!this.#held.has(seq)) this.bytes += data.length;
    this.#held.set(seq, message);
    while (this.bytes > this.#bytesMax && this.#held.size > 1) this.#giveBack();
  }

  /** Whether no message is owed any more. */
  get settled(): boolean {
    return this.#known && this.#first === Infinity;
  }

  /** Whether a held message has to wait for one that is owed. */
  get early(): boolean {
    return (
      this.#held.size > 0 &&
      (this.#back.size > 0 || [...this.#held.keys()].some((seq) => seq > this.#upTo))
    );
  }

  /**
   * Tells the broker that the held messages are being worked on, so that it does not repeat them.
   */
  keep(): void {
    for (const message of this.#held.values()) message.working();
  }

  /** Returns the held messages whose turn it is, in order, and holds them no longer. */
  release(): readonly M[] {
    if (!this.#known) return [];
    const first = this.#first;
    const turn = [...this.#held.values()]
      .filter(({ seq }) => seq < first)
      .sort((one, two) => one.seq - two.seq);
    for (const { seq, data } of turn) {
      this.#held.delete(seq);
      this.bytes -= data.length;
    }
    return turn;
  }

  /** Whether all messages that had been delivered to others have arrived, or time is up. */
  get #known(): boolean {
    return this.#came.size >= this.#count || performance.now() > this.#until;
  }

  /** The first sequence that was given back and is missing; infinite for none. */
  get #first(): number {
    if (performance.now() > this.#backUntil) this.#back.clear();
    let first = Infinity;
    for (const seq of this.#back) first = Math.min(first, seq);
    return first;
  }

  #giveBack(): void {
    let last = -Infinity;
    for (const seq of this.#held.keys()) last = Math.max(last, seq);
    const message = this.#held.get(last);
    if (message === undefined) return;
    message.nak(AGAIN_MS);
    this.#held.delete(last);
    this.bytes -= message.data.length;
    this.#back.add(last);
    this.#backUntil = performance.now() + this.#waitMs;
  }
}
