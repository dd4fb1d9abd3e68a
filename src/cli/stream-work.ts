/**
 * The work of `situs stream`: a message is acknowledged after its answer is stored by the broker
 * under an id made of stream and sequence, so one that comes again makes no second answer.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { MessageAnswerer } from '../bulk/stream/answerer.js';
import { messageOf } from '../log.js';
import { type Broker, isConsumerGone, isTooLong } from './stream-broker.js';
import { bytesOf, headersOf, keyOf, OwedMessages, targetOf, tooLong } from './stream-message.js';

/** Messages that one process has in hand. */
const IN_HAND_MAX = 1_024;
/** Their bytes; what is alone may be of any length. */
export const IN_HAND_BYTES_MAX = 50_331_648;
/** Messages asked for at a time, and the first time, when their length is not known. */
const FETCH_MESSAGES = 256;
const FIRST_MESSAGES = 16;
const FETCH_MS = 5_000;
const AGAIN_MS = 1_000;
const OWED_MS = 10_000;
const INFO_MS = 1_000;
/** After a stop, long enough for one that was under way in a cut and for its repetition. */
const LAST_MS = 8_000;
/** Room for the id of a message and what else the client sets. */
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
  /** Messages that no process has in hand. */
  lag = 0;
  readonly #broker: Broker;
  readonly #answerer: MessageAnswerer;
  readonly #options: WorkOptions;
  /** Of messages in hand, each with whether its answer is stored at last. */
  readonly #inHand = new Set<Promise<boolean>>();
  #inHandBytes = 0;
  /** Bytes of the longest message of the last ones that were taken together; 0 before any. */
  #longest = 0;
  readonly #last = new Map<string, Promise<boolean>>();
  /** What has to come before anything else is answered; null for nothing. */
  #owed: OwedMessages<JsMsg> | null = null;
  readonly #timer: NodeJS.Timeout;
  #messages: ConsumerMessages | null = null;
  #stopping = false;
  /** Until when answers are sent again that the broker did not confirm. */
  #until = Infinity;
  #online = true;
  /** Woken by a connection, by a stop and by a message that is done. */
  #wake: () => void = () => undefined;
  #changed: Promise<void> = Promise.resolve();
  /** Some that were sent may not have come. */
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

  /** Takes no more messages. */
  stop(): void {
    this.#stopping = true;
    this.#until = performance.now() + LAST_MS;
    this.#messages?.stop();
    this.#turn();
  }

  /**
   * Answers until it is stopped, then what is in hand.
   * @throws Error where the consumer is gone, or what is in hand could not be stored at the end.
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

  /** Tells of the connection. */
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
    // The client gives up where a password is refused twice; it does not come back from that.
    const why = await this.#broker.connection.closed();
    if (this.#over) return;
    this.#online = false;
    const reason = why instanceof Error ? why.message : 'the connection was closed';
    this.#fault = new Error(`NATS takes this client no more: ${reason}`);
    this.stop();
  }

  /** Asks how much is left to do, and whether the consumer is still there. */
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
   * Waits until the broker gives messages again that it gave to a process or a connection which is
   * gone; later ones are held back until these have come.
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

  /** Messages that may be asked for now. */
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

  /** Answers what has its turn; while others have not, little more is asked for. */
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

  /** Returns whether its answer is stored and it was acknowledged. */
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
    // Without its bytes, which lie in the stream that it came from.
    if (stored === 'too-long' && refused !== null) {
      stored = await this.#store(message, failed, NOTHING, headersOf(message, refused), true);
    }
    if (stored === 'not') return false;
    message.ack();
    // One that came again was counted when its answer was stored.
    if (stored === 'before') return true;
    if (refused === null) this.answered += 1;
    else this.refused += 1;
    return true;
  }

  /**
   * Stores an answer, however long it takes: 'not' where it was stopped before, 'before' where the
   * broker had it already and not from here, 'too-long' where it never takes it. `last` goes on
   * trying then too.
   */
  async #store(
    message: JsMsg,
    to: string,
    data: Buffer,
    more?: MsgHdrs,
    last = false,
  ): Promise<Stored> {
    const { client, stream, connection } = this.#broker;
    const room = (connection.info?.max_payload ?? Infinity) - HEADER_ROOM_BYTES - bytesOf(more);
    if (!last && data.length > room) return 'too-long';
    const options = {
      msgID: `${stream}:${message.seq}`,
      ...(more === undefined ? {} : { headers: more }),
    };
    for (let attempt = 1; ; attempt += 1) {
      // What is published without a connection would be kept in memory, once for each attempt.
      while (!this.#online && !this.#stopping) await this.#changed;
      if (!this.#online) return 'not';
      try {
        const { duplicate } = await client.publish(targetOf(to, message.subject), data, options);
        // An attempt that was not confirmed may be the one that was stored.
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
