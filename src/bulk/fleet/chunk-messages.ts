/**
 * Messages of the work queue, pulled some at a time. All come to one subscription, which is closed
 * last: what the broker sent is handed over until then, to be given back, and does not stay with a
 * client that is gone until its time is over. Behind it: results on their way back.
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

/** How much later than asked for the end of a pull may be told, before it counts as lost. */
const LATE_MS = 1_000;
/** Status of a message that is none: the consumer is gone, or nobody answers for it. */
const GONE = new Set([409, 503]);

/** A message in hand. */
export interface QueuedMessage {
  readonly data: Uint8Array;
  /** How often it was given out, this time included. */
  readonly tries: number;
  /** Its number in the stream. */
  readonly seq: number;
  ack(): void;
  /** To be given out again after a while. */
  giveBack(afterMs: number): void;
  /** Begins its time anew. */
  working(): void;
}

/** `gone`: there is no such consumer. */
type PullEnd = 'over' | 'gone';

interface Pull {
  readonly inbox: string;
  readonly over: Deferred<PullEnd>;
  left: number;
}

/** Tries and number, out of where a message is to be acknowledged: with a domain or without. */
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

  /** @param take called for each message, also after the end of what it came for */
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

  /** Takes messages of a consumer until there were so many or the time is over; one at a time. */
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
   * Ends it all: nothing was sent that was not handed over when this resolves. A pull is awaited,
   * since the broker may be about to send what it has given out for it, and would not learn that
   * nobody is there any more.
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
 * Results on their way from the node to the driver that waits for them: through the broker, which
 * keeps nothing of it. Each answer is some messages, and the last one asks whether all have come.
 * Who gets no yes stores the result instead, as for a driver that is away.
 */

/**
 * Larger results are stored: what the nodes send a driver at once (a result for each of its chunks)
 * is to be less than a broker holds back for a client before it hangs up, 64 MiB.
 */
const SENT_BYTES_MAX = 3_932_160;
/**
 * Bytes of an answer in one message: less than what is read at a time, since a message in several
 * reads is copied again and again by the broker and by the client.
 */
const PIECE_BYTES = 24_576;
/** What a message has beside the answer. */
const HEAD_BYTES = 1_024;
const TAKEN_MS = 5_000;
const TAKEN = 'taken';
const END = 'end';

const names = new Nuid();

/**
 * Sends a result to its driver.
 * @param subject of this chunk
 * @returns whether the driver has it, or has it already; false where nobody says so
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
    // Nobody listens, or the broker is away.
    return false;
  }
}

/**
 * Takes the results of a job.
 * @param subject of the job; the name of a chunk follows it
 * @param take handed each whole result
 */
export function takeResults(
  connection: NatsConnection,
  subject: string,
  take: (name: string, result: ChunkResult) => void,
): void {
  /** What came so far, by chunk and then by who sends it. */
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
        // The connection was lost in the midst of them.
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
