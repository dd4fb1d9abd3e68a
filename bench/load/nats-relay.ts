/**
 * The limit to compare `situs stream --nats` with: a process that takes the messages of a stream,
 * stores as many bytes for each under an id of its own, acknowledges it afterwards, and does
 * nothing else.
 */
import { pathToFileURL } from 'node:url';
import { jetstream, type JetStreamClient, type JsMsg } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

export interface RelayOrder {
  readonly server: string;
  readonly stream: string;
  readonly durable: string;
  readonly to: string;
  /** How many bytes each answer has. */
  readonly bytes: number;
}

/** The numbers that `situs stream` fetches at a time and processes at once. */
const FETCH_MESSAGES = 256;
const IN_HAND_MAX = 1_024;
const FETCH_MS = 5_000;

async function relay({ server, stream, durable, to, bytes }: RelayOrder): Promise<void> {
  const connection = await connect({ servers: server });
  const client: JetStreamClient = jetstream(connection);
  const consumer = await client.consumers.get(stream, durable);
  const answer = Buffer.alloc(bytes, 'x');
  const inHand = new Set<Promise<void>>();
  const one = async (message: JsMsg): Promise<void> => {
    await client.publish(to, answer, { msgID: `${stream}:${message.seq}` });
    message.ack();
  };
  for (;;) {
    while (inHand.size > IN_HAND_MAX - FETCH_MESSAGES) await Promise.race(inHand);
    const options = { max_messages: FETCH_MESSAGES, expires: FETCH_MS };
    for await (const message of await consumer.fetch(options)) {
      const done = one(message).finally(() => inHand.delete(done));
      inHand.add(done);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await relay(JSON.parse(process.argv[2]!) as RelayOrder);
}
