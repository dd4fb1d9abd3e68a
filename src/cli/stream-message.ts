/** Messages of `situs stream`: where their answers go, and the order they come in again. */
import { performance } from 'node:perf_hooks';
import type { JsMsg } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { RefusedRow } from '../bulk/row/chunk-payload.js';
import { RESPONSE_CODES } from '../wire/response-code.js';

/** The last token of a subject: what `--ordered` keeps the order of. */
export function keyOf(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** Where an answer goes: a last token "*" is that of the message. */
export function targetOf(pattern: string, subject: string): string {
  return pattern.endsWith('.*') ? `${pattern.slice(0, -1)}${keyOf(subject)}` : pattern;
}

const HEADER_CHARS_MAX = 1_000;

/** The refusal of a message whose answer is not taken. */
export function tooLong(seq: number, bytes: number): RefusedRow {
  return {
    line: seq,
    code: RESPONSE_CODES.internal.code,
    field: null,
    message: `The answer has ${bytes} bytes, more than its stream takes in a message.`,
  };
}

/** Bytes of header fields, with what is written between them. */
export function bytesOf(fields: MsgHdrs | undefined): number {
  let bytes = 0;
  for (const [name, values] of fields ?? []) {
    for (const value of values) bytes += name.length + Buffer.byteLength(value) + 4;
  }
  return bytes;
}

/** A text as the value of a header field: one line of no great length. */
function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, HEADER_CHARS_MAX);
}

/** What a refused message is sent on with. */
export function headersOf(message: JsMsg, { code, field, message: why }: RefusedRow): MsgHdrs {
  const set = headers();
  set.set('Situs-Code', String(code));
  if (field !== null) set.set('Situs-Field', lineOf(field));
  set.set('Situs-Message', lineOf(why));
  set.set('Situs-Subject', message.subject);
  set.set('Situs-Sequence', String(message.seq));
  return set;
}

/** Half of what a process has in hand: the rest is for those that have their turn. */
const HELD_BYTES_MAX = 25_165_824;
/** When what was given back is to come again. */
const AGAIN_MS = 500;

/** What is used of a message. */
export type OwedMessage = Pick<JsMsg, 'seq' | 'data' | 'working' | 'nak'>;

/**
 * Order over a restart: what the broker had given to a process or a connection that is gone comes
 * again, mostly before anything else. A broker that is busy gives later messages first; they are
 * held back until those that are owed have come.
 *
 * What there is no room to hold is given back, the latest first, and is owed from then on like the
 * others: nothing behind it has its turn before it has come again.
 */
export class OwedMessages<M extends OwedMessage> {
  /** Of all that is held. */
  bytes = 0;
  readonly #count: number;
  readonly #upTo: number;
  readonly #waitMs: number;
  readonly #bytesMax: number;
  /** Until when those that were given out to others are waited for. */
  readonly #until: number;
  readonly #came = new Set<number>();
  readonly #held = new Map<number, M>();
  /** Given back here, and not come again. */
  readonly #back = new Set<number>();
  #backUntil = Infinity;

  /**
   * @param count messages that were given out and not acknowledged
   * @param upTo the last sequence that was given out
   * @param waitMs how long they may be in coming; one that its stream has no more never does
   * @param bytesMax of what is held, but for a single message
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

  /** Whether nothing is owed any more. */
  get settled(): boolean {
    return this.#known && this.#first === Infinity;
  }

  /** Whether one is held that came before its turn. */
  get early(): boolean {
    return (
      this.#held.size > 0 &&
      (this.#back.size > 0 || [...this.#held.keys()].some((seq) => seq > this.#upTo))
    );
  }

  /** Tells the broker that what is held was not lost, so that it does not give it again. */
  keep(): void {
    for (const message of this.#held.values()) message.working();
  }

  /** What is held and has its turn, in order; it is held no longer. */
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

  /** Whether all that were given out to others have come once. */
  get #known(): boolean {
    return this.#came.size >= this.#count || performance.now() > this.#until;
  }

  /** The first of those that were given back; infinite for none. */
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
