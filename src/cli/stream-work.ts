/**
 * The work of `situs stream`. A message is acknowledged when the broker has stored its answer. The
 * answer's id names NATS stream, consumer and sequence: a repeated message makes no second answer.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { MessageAnswerer } from '../bulk/stream/answerer.js';
import { messageOf } from '../log.js';
import { type Broker, isConsumerGone, isTooLong } from './stream-broker.js';
import { bytesOf, headersOf, keyOf, OwedMessages, targetOf, tooLong } from './stream-message.js';

/** Most messages that one process answers at the same time. */
const IN_HAND_MAX = 1_024;
/** Most bytes of these messages; a single message may be longer. */
export const IN_HAND_BYTES_MAX = 50_331_648;
/** How many messages are requested at a time, and at first, when their length is not known. */
const FETCH_MESSAGES = 256;
const FIRST_MESSAGES = 16;
const FETCH_MS = 5_000;
const AGAIN_MS = 1_000;
const OWED_MS = 10_000;
const INFO_MS = 1_000;
/** Time after a stop in which an answer whose sending was interrupted can be repeated. */
const LAST_MS = 8_000;
/** Room for the id of a message, and for fields that the client adds. */
const HEADER_ROOM_BYTES = 1_024;

const NOTHING = Buffer.alloc(0);

type Stored = 'now' | 'before' | 'not' | 'too-long';

interface WorkOptions {
  readonly to: string;
  readonly failed: string;
  readonly ordered: boolean;
  readonly tell: (text: string) => void;
}

export class StreamWork {
  answered = 0;
  refused = 0;
  /** Messages that were not delivered to any process yet. */
  lag = 0;
  readonly #broker: Broker;
  readonly #answerer: MessageAnswerer;
  readonly #options: WorkOptions;
  /** For each message being answered: whether its answer was stored in the end. */
  readonly #inHand = new Set<Promise<boolean>>();
  #inHandBytes = 0;
  /** Bytes of the longest of the messages received together last; 0 before any. */
  #longest = 0;
  readonly #last = new Map<string, Promise<boolean>>();
  /** Messages that have to arrive before any others are answered; null for none. */
  #owed: OwedMessages<JsMsg> | null = null;
  readonly #timer: NodeJS.Timeout;
  #messages: ConsumerMessages | null = null;
  #stopping = false;
  /** Until when an answer is sent again if the broker does not confirm it. */
  #until = Infinity;
  #online = true;
  /**
   * Ends the waiting for `#changed`: after a change of the connection, a stop, or a finished
   * message.
   */
  #wake: () => void = () => undefined;
  #changed: Promise<void> = Promise.resolve();
  /** Whether messages may have been delivered to a process or connection that is gone. */
  #disturbed = true;
  #fault: Error | null = null;
  #over = false;

  constructor(broker: Broker, answerer: MessageAnswerer, options: WorkOptions) {
    this.#broker = broker;
    this.#answerer = answerer;
    this.#options = options;
    this.#turn();
    this.#timer = setInterval(() => void this.#look(), INFO_MS).unref();
    void this.#follow();
  }

  /** Stops taking messages. */
  stop(): void {
    this.#stopping = true;
    this.#until = performance.now() + LAST_MS;
    this.#messages?.stop();
    this.#turn();
  }

  /**
   * Answers messages until `stop`, and finishes those that it has.
   * @throws Error where the consumer is gone, or an answer could not be stored in the end.
   */
  async run(): Promise<void> {
    try {
      while (!this.#stopping) {
        if (!this.#online || (this.#room === 0 && this.#owed === null)) await this.#changed;
        else if (this.#options.ordered && this.#disturbed) await this.#settle();
        else {
          if (this.#room > 0) await this.#fetch();
          await this.#release();
        }
      }
      const left = (await Promise.all(this.#inHand)).filter((stored) => !stored).length;
      if (this.#fault !== null) throw this.#fault;
      if (left > 0) throw new Error(`${left} messages were not answered; they will come again`);
      await this.#broker.connection.flush();
    } finally {
      this.#over = true;
      clearInterval(this.#timer);
    }
  }

  #turn(): void {
    this.#wake();
    this.#changed = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Follows the state of the connection. */
  async #follow(): Promise<void> {
    for await (const { type } of this.#broker.connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      this.#online = type === 'reconnect';
      if (!this.#stopping) {
        this.#options.tell(this.#online ? 'NATS is back' : 'NATS is away; waiting for it');
      }
      this.#disturbed = true;
      this.#messages?.stop();
      this.#turn();
    }
    // The client gives up for good where its password is refused twice.
    const why = await this.#broker.connection.closed();
    if (this.#over) return;
    this.#online = false;
    const reason = why instanceof Error ? why.message : 'the connection was closed';
    this.#fault = new Error(`NATS takes this client no more: ${reason}`);
    this.stop();
  }

  /** Asks the broker for the number of waiting messages, and whether the consumer still exists. */
  async #look(): Promise<void> {
    if (!this.#online || this.#stopping) return;
    try {
      this.lag = (await this.#broker.info()).num_pending;
    } catch (error) {
      if (!isConsumerGone(error)) return;
      this.#fault = new Error(
        'the stream or its consumer was deleted while messages were taken of it',
      );
      this.stop();
    }
  }

  /**
   * Waits until the broker repeats messages that it had delivered to a process or connection that
   * is gone. Later messages are held until these have arrived.
   */
  async #settle(): Promise<void> {
    this.#disturbed = false;
    this.#owed = null;
    const { ackWaitMs } = this.#broker;
    await Promise.all(this.#inHand);
    try {
      await this.#broker.connection.flush();
      const { num_ack_pending: open, delivered } = await this.#broker.info();
      if (open === 0) return;
      this.#owed = new OwedMessages(open, delivered.stream_seq, ackWaitMs * 2 + OWED_MS);
    } catch {
      this.#disturbed = true;
    }
    this.#options.tell(`waiting ${ackWaitMs / 1_000} s for messages that were given out`);
    const until = performance.now() + ackWaitMs + AGAIN_MS;
    while (performance.now() < until && !this.#stopping) await delay(AGAIN_MS);
  }

  /** How many messages may be requested now. */
  get #room(): number {
    if (this.#inHand.size === 0 && this.#longest > 0) return this.#fitting(FETCH_MESSAGES) || 1;
    if (this.#inHand.size > IN_HAND_MAX - FETCH_MESSAGES) return 0;
    return this.#fitting(this.#longest === 0 ? FIRST_MESSAGES : FETCH_MESSAGES);
  }

  #fitting(most: number): number {
    const left = Math.max(0, IN_HAND_BYTES_MAX - this.#inHandBytes - (this.#owed?.bytes ?? 0));
    return Math.min(most, Math.floor(left / Math.max(1, this.#longest)));
  }

  async #fetch(): Promise<void> {
    try {
      const options = { max_messages: this.#room, expires: FETCH_MS };
      this.#messages = await this.#broker.consumer.fetch(options);
      let longest = 0;
      for await (const message of this.#messages) {
        longest = Math.max(longest, message.data.length);
        if (this.#owed === null) this.#take(message);
        else this.#owed.hold(message);
      }
      if (longest > 0) this.#longest = longest;
    } catch (error) {
      this.#options.tell(`NATS gives no messages: ${messageOf(error)}`);
      await Promise.race([delay(AGAIN_MS), this.#changed]);
    } finally {
      this.#messages = null;
    }
  }

  /**
   * Answers held messages whose turn it is. While others are held, it waits before the next
   * request.
   */
  async #release(): Promise<void> {
    const owed = this.#owed;
    if (owed === null) return;
    if (owed.settled) this.#owed = null;
    for (const message of owed.release()) this.#take(message);
    if (owed.early || this.#room === 0) {
      owed.keep();
      await Promise.race([delay(AGAIN_MS / 2), this.#changed]);
    }
  }

  #take(message: JsMsg): void {
    const key = keyOf(message.subject);
    const before = this.#options.ordered ? this.#last.get(key) : undefined;
    const done = this.#handle(message, before);
    this.#inHand.add(done);
    this.#inHandBytes += message.data.length;
    if (this.#options.ordered) this.#last.set(key, done);
    void done.then(() => {
      this.#inHand.delete(done);
      this.#inHandBytes -= message.data.length;
      if (this.#last.get(key) === done) this.#last.delete(key);
      this.#turn();
    });
  }

  /** Answers a message; returns whether the answer was stored and the message acknowledged. */
  async #handle(message: JsMsg, before: Promise<boolean> | undefined): Promise<boolean> {
    const { data, seq } = message;
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    let { line, refused } = await this.#answerer.answer(bytes, seq);
    if (before !== undefined && !(await before)) return false;
    const { to, failed } = this.#options;
    let stored = refused === null ? await this.#store(message, to, line) : 'too-long';
    if (stored === 'too-long') {
      refused ??= tooLong(seq, line.length);
      stored = await this.#store(message, failed, bytes, headersOf(message, refused));
    }
    // Only the refusal is sent, without the bytes of the message, which remain in its NATS stream.
    if (stored === 'too-long' && refused !== null) {
      stored = await this.#store(message, failed, NOTHING, headersOf(message, refused), true);
    }
    if (stored === 'not') return false;
    message.ack();
    // A repeated message was counted when its answer was stored.
    if (stored === 'before') return true;
    if (refused === null) this.answered += 1;
    else this.refused += 1;
    return true;
  }

  /**
   * Stores an answer, however long that takes. 'not': it was stopped before; 'before': the broker
   * had the answer already, and not from this call; 'too-long': the broker never accepts it. With
   * `last`, it keeps trying in that case too.
   */
  async #store(
    message: JsMsg,
    to: string,
    data: Buffer,
    more?: MsgHdrs,
    last = false,
  ): Promise<Stored> {
    const { client, source, connection } = this.#broker;
    const room = (connection.info?.max_payload ?? Infinity) - HEADER_ROOM_BYTES - bytesOf(more);
    if (!last && data.length > room) return 'too-long';
    const options = {
      msgID: `${source}:${message.seq}`,
      ...(more === undefined ? {} : { headers: more }),
    };
    for (let attempt = 1; ; attempt += 1) {
      // Without a connection the client would keep each attempt in memory, so the next one waits.
      while (!this.#online && !this.#stopping) await this.#changed;
      if (!this.#online) return 'not';
      try {
        const { duplicate } = await client.publish(targetOf(to, message.subject), data, options);
        // A repeated id may be that of an earlier attempt here, which was stored and not confirmed.
        return duplicate && attempt === 1 ? 'before' : 'now';
      } catch (error) {
        if (!last && isTooLong(error)) return 'too-long';
        if (performance.now() > this.#until) return 'not';
        if (this.#online) this.#options.tell(`NATS did not store an answer: ${messageOf(error)}`);
        await Promise.race([delay(AGAIN_MS), this.#changed]);
      }
    }
  }
}
