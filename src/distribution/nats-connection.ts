/** The connection to a broker, and what is asked of it alike whatever lies there. */
import { readFileSync } from 'node:fs';
import { JetStreamApiError } from '@nats-io/jetstream';
import { setSha256Backend } from '@nats-io/obj';
import {
  connect,
  credsAuthenticator,
  deferred,
  type NatsConnection,
} from '@nats-io/transport-node';
import { messageOf } from '../log.js';
import type { NatsAddress } from './address.js';

// Of Node.js itself: the one in JavaScript takes ten times as long for each byte of an object.
setSha256Backend('native');

const CONNECT_MS = 5_000;
const RECONNECT_MS = 500;
const NO_STREAM = 10_059;

/** Whether an error is the answer of JetStream with this code. */
export function isApi(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** Whether an error says that there is no such stream or bucket yet. */
export function isAbsent(error: unknown): boolean {
  return isApi(error, NO_STREAM) || /stream not found|bucket not found/i.test(messageOf(error));
}

/** Rejects what takes longer than so many milliseconds. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = deferred<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms / 1_000} s`)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Connects once; from then on the connection is made again by itself.
 * @param client what the broker calls it
 * @throws Error that names the broker and no secret.
 */
export async function connectBroker(
  { name, servers, secrets, tls, creds }: NatsAddress,
  client: string,
): Promise<NatsConnection> {
  try {
    return await connect({
      servers: [...servers],
      ...secrets,
      ...(tls ? { tls: {} } : {}),
      name: client,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      ...(creds === null ? {} : { authenticator: credsAuthenticator(readFileSync(creds)) }),
    });
  } catch (error) {
    throw new Error(`${name} cannot be reached: ${messageOf(error)}`);
  }
}
