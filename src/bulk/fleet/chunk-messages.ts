/**
 * Pulls messages of the work queue, several at a time, and sends results back. All messages arrive
 * at one subscription, which is closed last: messages that still arrive are handed over and can be
 * given back. Otherwise the broker would keep them for this node until their time is over.
 */
import {
  createInbox,
  deferred,
  type Deferred,
  type Msg,
  nanos,
  type NatsConnection,
  Nuid,
  type Subscription,
} from '@nats-io/transport-node';
import { answersOf, type ChunkResult, decodeResultHead, encodeResultHead } from './chunk-object.js';

/** How much later than requested the end of a pull may be announced before that counts as lost. */
const LATE_MS = 1_000;
/** Status of a message without content: the consumer does not exist, or nobody answers for it. */
const GONE = new Set([409, 503]);

/** A message that was given to this node. */
export interface QueuedMessage {
  readonly data: Uint8Array;
  /** How often the message was given out, including this time. */
  readonly tries: number;
  /** Its number in the broker's queue. */
  readonly seq: number;
  ack(): void;
  /** Gives the message back, to be given out again after a while. */
  giveBack(afterMs: number): void;
  /** Restarts the time in which the message has to be acknowledged. */
  working(): void;
}

/** `gone`: the consumer does not exist. */
type PullEnd = 'over' | 'gone';

interface Pull {
  readonly inbox: string;
  readonly over: Deferred<PullEnd>;
  left: number;
}

/**
 * Reads tries and number from the reply subject of a message, which may or may not have a domain.
 */
function placeIn(reply: string): readonly [tries: number, seq: number] {
  const words = reply.split('.');
  const at = words.length > 9 ? 6 : 4;
  return [Number(words[at]), Number(words[at + 1])];
}

function queuedMessage(message: Msg): QueuedMessage {
  const [tries, seq] = placeIn(message.reply ?? '');
  const say = (text: string): void => {
    message.respond(text);
  };
  return {
    data: message.data,
    tries,
    seq,
    ack: () => say('+ACK'),
    giveBack: (afterMs) =>
      say(afterMs === 0 ? '-NAK' : `-NAK ${JSON.stringify({ delay: nanos(afterMs) })}`),
    working: () => say('+WPI'),
  };
}

export class ChunkPull {
  readonly #connection: NatsConnection;
  readonly #stream: string;
  readonly #take: (message: QueuedMessage) => void;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  #pulls = 0;
  #pull: Pull | null = null;

  /** @param take called for each message, even after the pull that it came for has ended */
  constructor(connection: NatsConnection, stream: string, take: (message: QueuedMessage) => void) {
    this.#connection = connection;
    this.#stream = stream;
    this.#take = take;
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#came(message);
      },
    });
  }

  /**
   * Pulls messages of a consumer until `most` have come or the time is over. Call it for one pull
   * at a time.
   */
  async pull(consumer: string, most: number, expiresMs: number): Promise<PullEnd> {
    this.#pulls += 1;
    const inbox = `${this.#inbox}.${this.#pulls}`;
    const pull: Pull = { inbox, left: most, over: deferred<PullEnd>() };
    this.#pull = pull;
    const timer = setTimeout(() => pull.over.resolve('over'), expiresMs + LATE_MS);
    this.#connection.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${consumer}`,
      JSON.stringify({ batch: most, expires: nanos(expiresMs) }),
      { reply: inbox },
    );
    try {
      return await pull.over;
    } finally {
      clearTimeout(timer);
      this.#pull = null;
    }
  }

  /**
   * Ends the subscription. When it resolves, every message that was sent has been handed over. It
   * waits for the current pull, since the broker may be about to send messages for it and would not
   * notice that nobody receives them.
   */
  async close(): Promise<void> {
    await this.#pull?.over;
    if (!this.#subscription.isClosed()) await this.#subscription.drain();
  }

  #came(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === 0) {
      this.#take(queuedMessage(message));
      if (this.#pull === null) return;
      this.#pull.left -= 1;
      if (this.#pull.left === 0) this.#pull.over.resolve('over');
      return;
    }
    if (message.subject !== this.#pull?.inbox) return;
    this.#pull.over.resolve(GONE.has(code) ? 'gone' : 'over');
  }
}

/*
 * Results on their way from a node to the driver that waits for them. They pass through the broker,
 * which stores nothing of them. Each answer is sent as several messages, and a last message asks
 * whether all have come. A node that gets no confirmation stores the result instead, as it does
 * when the driver is away.
 */

/**
 * Larger results are stored. What the nodes may send a driver at once (a result for each of its
 * chunks) has to be less than the 64 MiB that a broker buffers for a client before it disconnects
 * it.
 */
const SENT_BYTES_MAX = 3_932_160;
/**
 * Bytes of an answer in one message. It is less than what is read at a time, since broker and
 * client copy a message again with each further read.
 */
const PIECE_BYTES = 24_576;
/** Room in a message beside the answer. */
const HEAD_BYTES = 1_024;
const TAKEN_MS = 5_000;
const TAKEN = 'taken';
const END = 'end';

const names = new Nuid();

/**
 * Sends a result to its driver.
 * @param subject the subject of this chunk
 * @returns true where the driver confirms that it has the result; false where nobody does
 */
export async function sendResult(
  connection: NatsConnection,
  subject: string,
  node: string,
  result: ChunkResult,
): Promise<boolean> {
  const answers = answersOf(result);
  const one = (connection.info?.max_payload ?? 0) - HEAD_BYTES;
  if (answers.reduce((sum, { length }) => sum + length, 0) > SENT_BYTES_MAX) return false;
  const head = encodeResultHead(node, result);
  if (head.length > one || PIECE_BYTES > one) return false;
  const sent = `${subject}.${names.next()}`;
  try {
    let index = 0;
    for (const answer of answers) {
      for (let at = 0; at < answer.length; at += PIECE_BYTES, index += 1) {
        connection.publish(`${sent}.${index}`, answer.subarray(at, at + PIECE_BYTES));
      }
    }
    const told = await connection.request(`${sent}.${END}`, head, { timeout: TAKEN_MS });
    return told.string() === TAKEN;
  } catch {
    // Nobody listens, or the broker cannot be reached.
    return false;
  }
}

/**
 * Receives the results of a run.
 * @param subject the subject of the run; names of chunks follow it
 * @param take called with each complete result
 */
export function takeResults(
  connection: NatsConnection,
  subject: string,
  take: (name: string, result: ChunkResult) => void,
): void {
  /** Answers received so far, by chunk and then by sending node. */
  const came = new Map<string, Map<string, Uint8Array[]>>();
  connection.subscribe(`${subject}.>`, {
    callback: (error, message) => {
      if (error !== null) return;
      const [name = '', sender = '', which = ''] = message.subject
        .slice(subject.length + 1)
        .split('.');
      const senders = came.get(name) ?? new Map<string, Uint8Array[]>();
      const answers = senders.get(sender) ?? [];
      if (which !== END) {
        answers.push(message.data);
        came.set(name, senders.set(sender, answers));
        return;
      }
      came.delete(name);
      const { fault, lengths } = decodeResultHead(message.data);
      const bytes = Buffer.concat(answers);
      if (fault === null && bytes.length !== lengths.reduce((sum, length) => sum + length, 0)) {
        // The connection was interrupted, so that some of them are missing.
        message.respond('');
        return;
      }
      let end = 0;
      take(
        name,
        fault !== null
          ? { kind: 'refused', fault }
          : {
              kind: 'answered',
              answers: lengths.map((length) => {
                end += length;
                return bytes.subarray(end - length, end);
              }),
            },
      );
      message.respond(TAKEN);
    },
  });
}
