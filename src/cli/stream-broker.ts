/**
 * The broker of `situs stream`: its connection, NATS's streams of subjects, and the durable
 * consumer.
 */
import { readFileSync } from 'node:fs';
import {
  AckPolicy,
  type Consumer,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  JetStreamApiError,
  type JetStreamClient,
  jetstreamManager,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { connect, credsAuthenticator, nanos, type NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../log.js';
import { UsageError } from './command-line.js';

/** The options of `situs stream`. */
export interface StreamAsked {
  readonly nats: string;
  readonly from: string;
  readonly to: string;
  readonly failed: string;
  readonly durable: string;
  readonly ordered?: boolean;
  readonly create?: boolean;
  readonly ackWait: number;
  readonly maxPending: number;
  readonly creds?: string;
  readonly dataset?: string;
  readonly at?: string;
  readonly threads?: number;
  readonly quiet?: boolean;
}

const SUBJECT = /^[^\s.*>]+(?:\.[^\s.*>]+)*$/;
const FROM = /^(?:(?:[^\s.*>]+|\*)\.)*(?:[^\s.*>]+|\*|>)$/;
const KEYED = /\.\*$/;
const DURABLE = /^[\w-]{1,64}$/;
const RECONNECT_MS = 1_000;
/** How long a NATS stream made by `--create` recognizes repeated ids of messages. */
const WINDOW_MS = 600_000;
const NO_CONSUMER = 10_014;
const NO_STREAM = 10_059;
const TOO_LONG = 10_054;
const MS_PER_NANO = 1e-6;

/** Whether a subject, or some that a pattern stands for, matches another pattern. */
function overlaps(one: string, other: string): boolean {
  const [left, right] = [one.split('.'), other.split('.')];
  for (const [index, token] of left.entries()) {
    const against = right[index];
    if (token === '>' || against === '>') return against !== undefined;
    if (against === undefined) return false;
    if (token !== against && token !== '*' && against !== '*') return false;
  }
  return left.length === right.length;
}

/** @throws UsageError for subjects and names that the broker refuses, or that would form a loop. */
export function checkSubjects({ from, to, failed, durable }: StreamAsked): void {
  if (!FROM.test(from)) throw new UsageError('--from is a subject, such as orders.carts');
  for (const [option, subject] of [
    ['--to', to],
    ['--failed', failed],
  ] as const) {
    if (!SUBJECT.test(subject.replace(KEYED, ''))) {
      throw new UsageError(`${option} is a subject, such as orders.taxed or orders.taxed.*`);
    }
    if (overlaps(from, subject)) {
      throw new UsageError(`${option} ${subject} is within --from: answers would be asked again`);
    }
  }
  if (!DURABLE.test(durable)) throw new UsageError('--durable is of letters, digits, _ and -');
}

interface Addresses {
  readonly servers: string[];
  readonly secrets: { readonly user?: string; readonly pass?: string; readonly token?: string };
  readonly tls: boolean;
}

/** A part of an address without its percent signs. @throws UsageError where it has wrong ones. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new UsageError('--nats: a percent sign in the name or password is written %25');
  }
}

function addressesOf(text: string): Addresses {
  const urls = text.split(',').map((each) => {
    const url = URL.canParse(each) ? new URL(each) : null;
    if (url === null || (url.protocol !== 'nats:' && url.protocol !== 'tls:')) {
      throw new UsageError('--nats is nats://HOST:PORT or tls://HOST:PORT');
    }
    return url;
  });
  const { username = '', password = '', protocol = '' } = urls[0] ?? {};
  const [user, pass] = [decoded(username), decoded(password)];
  const secrets = pass === '' ? { token: user } : { user, pass };
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '4222' : port}`),
    secrets: user === '' ? {} : secrets,
    tls: protocol === 'tls:',
  };
}

/**
 * Connects, and reconnects by itself from then on.
 * @throws Error that names the servers and no password.
 */
export async function connectNats({ nats, creds }: StreamAsked): Promise<NatsConnection> {
  const { servers, secrets, tls } = addressesOf(nats);
  const authenticator = creds === undefined ? null : credsAuthenticator(readFileSync(creds));
  try {
    return await connect({
      servers,
      ...secrets,
      ...(tls ? { tls: {} } : {}),
      name: 'situs stream',
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      ...(authenticator === null ? {} : { authenticator }),
    });
  } catch (error) {
    throw new Error(`NATS at ${servers.join(', ')} cannot be reached: ${messageOf(error)}`);
  }
}

/** The NATS stream of a subject; `--create` makes it where it is missing. */
async function streamOf(
  manager: JetStreamManager,
  subject: string,
  asked: StreamAsked,
): Promise<StreamInfo> {
  let name: string;
  try {
    name = await manager.streams.find(subject);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === NO_STREAM)) throw error;
    if (asked.create !== true) {
      throw new Error(`no stream of NATS holds the subject ${subject}; make one, or give --create`);
    }
    // A message of carts is removed when it is acknowledged. Answers stay until the operator sets a
    // limit.
    return manager.streams.add({
      name: subject.replaceAll('.*', '').replaceAll(/[^\w-]+/g, '_'),
      subjects: [subject],
      retention: subject === asked.from ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      duplicate_window: nanos(WINDOW_MS),
    });
  }
  return manager.streams.info(name);
}

/**
 * The consumer of that name; null where there is none.
 * @throws Error where it is of another subject.
 */
async function existingConsumer(
  manager: JetStreamManager,
  stream: string,
  { durable, from }: StreamAsked,
): Promise<ConsumerInfo | null> {
  const found = await manager.consumers.info(stream, durable).catch((error: unknown) => {
    if (isConsumerGone(error)) return null;
    throw error;
  });
  if (found === null || found.config.filter_subject === from) return found;
  throw new Error(
    `the consumer ${durable} of the stream ${stream} is of the subject ` +
      `${found.config.filter_subject ?? '>'}; give another --durable`,
  );
}

function makeConsumer(
  manager: JetStreamManager,
  stream: string,
  { durable, from, ackWait, maxPending }: StreamAsked,
): Promise<ConsumerInfo> {
  return manager.consumers.add(stream, {
    durable_name: durable,
    filter_subject: from,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWait * 1_000),
    max_ack_pending: maxPending,
  });
}

/** Whether an error says that the consumer or its NATS stream does not exist. */
export function isConsumerGone(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError && (error.code === NO_CONSUMER || error.code === NO_STREAM)
  );
}

/** Whether an error says that the NATS stream does not accept so long a message. */
export function isTooLong(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === TOO_LONG;
}

/** What `StreamWork` needs of the broker. */
export interface Broker {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly consumer: Consumer;
  /**
   * The NATS stream that messages come from, when it was made, and the consumer; ids of answers
   * begin with this. A stream that is made again counts messages from 1 again. Each consumer has
   * answers of its own, which one NATS stream may hold under different subjects.
   */
  readonly source: string;
  readonly ackWaitMs: number;
  info(): Promise<ConsumerInfo>;
}

/**
 * Finds or makes the NATS streams and the consumer.
 * @throws Error with a sentence where one is missing, or an answer might be stored twice.
 */
export async function openBroker(connection: NatsConnection, asked: StreamAsked): Promise<Broker> {
  const manager = await jetstreamManager(connection).catch((error: unknown) => {
    throw new Error(`NATS answers, but not its JetStream: ${messageOf(error)}`);
  });
  const {
    config: { name },
    created,
  } = await streamOf(manager, asked.from, asked);
  const existing = await existingConsumer(manager, name, asked);
  const ackWaitMs = Math.round(
    (existing === null ? nanos(asked.ackWait * 1_000) : (existing.config.ack_wait ?? 0)) *
      MS_PER_NANO,
  );
  const wait = existing === null ? '--ack-wait' : `the wait of the consumer ${asked.durable}`;
  for (const subject of new Set([asked.to, asked.failed])) {
    const target = await streamOf(manager, subject, asked);
    const windowMs = Math.round(target.config.duplicate_window * MS_PER_NANO);
    if (windowMs < 2 * ackWaitMs) {
      throw new Error(
        `the stream ${target.config.name} knows ids of messages for ${windowMs / 1_000} s; ` +
          `twice ${wait}, ${ackWaitMs / 500} s, are needed so that no answer is stored twice`,
      );
    }
  }
  // It keeps its options, so it is made only when nothing is left that could require others.
  if (existing === null) await makeConsumer(manager, name, asked);
  const client = jetstream(connection);
  const consumer = await client.consumers.get(name, asked.durable);
  const info = (): Promise<ConsumerInfo> => manager.consumers.info(name, asked.durable);
  if (asked.ordered === true && (await info()).num_waiting > 0) {
    throw new Error(
      `another process takes messages of the consumer ${asked.durable}; --ordered ` +
        'needs one alone: divide the subjects, each part with a --durable of its own',
    );
  }
  return {
    connection,
    client,
    consumer,
    source: `${name}:${Date.parse(created)}:${asked.durable}`,
    ackWaitMs,
    info,
  };
}
