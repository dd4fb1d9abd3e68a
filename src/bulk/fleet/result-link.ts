/**
 * Results on their way from the node to the driver that waits for them: through the broker, which
 * keeps nothing of it. Each answer is a message, and the last one asks whether all have come. Who
 * gets no yes stores the result instead, as for a driver that is away.
 */
import { Nuid, type NatsConnection } from '@nats-io/transport-node';
import { decodeResultHead, encodeResultHead, type ChunkResult } from './chunk-object.js';

/**
 * Larger results are stored: what the nodes send a driver at once (a result for each of its chunks)
 * is to be less than a broker holds back for a client before it hangs up, 64 MiB.
 */
const SENT_BYTES_MAX = 3_932_160;
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
  connection: NatsConnection, subject: string, node: string, result: ChunkResult,
): Promise<boolean> {
  const answers = 'answers' in result ? result.answers : [];
  const one = (connection.info?.max_payload ?? 0) - HEAD_BYTES;
  if (answers.some(({ length }) => length > one)) return false;
  if (answers.reduce((sum, { length }) => sum + length, 0) > SENT_BYTES_MAX) return false;
  const head = encodeResultHead(node, result);
  if (head.length > one) return false;
  const sent = `${subject}.${names.next()}`;
  try {
    for (const [index, answer] of answers.entries()) {
      connection.publish(`${sent}.${index}`, answer);
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
  connection: NatsConnection, subject: string, take: (name: string, result: ChunkResult) => void,
): void {
  /** What came so far, by chunk and then by who sends it. */
  const came = new Map<string, Map<string, Uint8Array[]>>();
  connection.subscribe(`${subject}.>`, {
    callback: (error, message) => {
      if (error !== null) return;
      const [name = '', sender = '', which = ''] =
        message.subject.slice(subject.length + 1).split('.');
      const senders = came.get(name) ?? new Map<string, Uint8Array[]>();
      const answers = senders.get(sender) ?? [];
      if (which !== END) {
        answers.push(message.data);
        came.set(name, senders.set(sender, answers));
        return;
      }
      came.delete(name);
      const { fault, lengths } = decodeResultHead(message.data);
      if (fault === null && (lengths.length !== answers.length
        || lengths.some((length, index) => length !== answers[index]?.length))) {
        // The connection was lost in the midst of them.
        message.respond('');
        return;
      }
      take(name, fault === null ? { answers } : { fault });
      message.respond(TAKEN);
    },
  });
}
