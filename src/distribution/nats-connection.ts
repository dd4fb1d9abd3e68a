/** Connects to a broker, and holds what all uses of one have in common. */
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

// The hash of Node.js. The library's own in JavaScript takes ten times as long per byte.
setSha256Backend('native');

const CONNECT_MS = 5_000;
const RECONNECT_MS = 500;
const NO_STREAM = 10_059;

/** Whether an error is an answer of JetStream with this code. */
export function isApi(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** Whether an error says that a bucket, or NATS's own stream that holds it, does not exist. */
export function isAbsent(error: unknown): boolean {
  return isApi(error, NO_STREAM) || /stream not found|bucket not found/i.test(messageOf(error));
}

/** Rejects when the work takes longer than `ms` milliseconds. */
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
 * Connects, and reconnects by itself from then on.
 * @param client the name of this client at the broker
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
