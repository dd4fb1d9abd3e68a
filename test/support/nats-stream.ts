/** `situs stream` as a process, and what its streams hold. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { jetstream, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { CLI, LATER_OPTIMIZED } from './built-dataset.js';
import { sentCart } from './sent-carts.js';

const PLACE = { line1: '120 Main St', city: 'Elmton', state: 'QA', zip: '91010' };
const ACK_SECONDS = '1';
const PUBLISHED_TOGETHER = 500;

export interface Subjects {
  readonly from: string;
  readonly to: string;
  readonly failed: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly err: () => string;
  /** Ends it and returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Asked extends Subjects {
  readonly nats: string;
  readonly varDir: string;
  readonly more?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Its command line, after `situs`. */
export function streamWords({ from, to, failed, nats, more = [] }: Asked): readonly string[] {
  return [
    ...['stream', '--nats', nats, '--from', from, '--to', to, '--failed', failed],
    ...['--ack-wait', ACK_SECONDS, '--threads', '1', ...more],
  ];
}

/** Starts it; it is killed at the end of the test. */
export function startStream(context: TestContext, asked: Asked): Running {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, CLI, ...streamWords(asked)], {
    env: { PATH: process.env['PATH'], SITUS_VAR: asked.varDir, ...asked.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (piece: Buffer) => {
    err += piece.toString();
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const end = async (signal?: NodeJS.Signals): Promise<number | null> => {
    if (signal !== undefined) child.kill(signal);
    return (await ended)[0];
  };
  context.after(() => end('SIGKILL'));
  return { child, err: () => err, end };
}

/** All messages of a stream, in its order. */
export async function stored(
  manager: JetStreamManager,
  stream: string,
): Promise<readonly StoredMsg[]> {
  const {
    state: { messages },
  } = await manager.streams.info(stream);
  const found: StoredMsg[] = [];
  for (let seq = 1; seq <= messages; seq += 1) {
    const message = await manager.streams.getMessage(stream, { seq });
    assert.ok(message !== null);
    found.push(message);
  }
  return found;
}

/** The number of the message that an answer is to. */
export function seqOf({ data }: StoredMsg): number {
  return Number(/^\{"seq":(\d+)/.exec(Buffer.from(data).toString())![1]);
}

/** Has messages stored, each under the subject of its place. */
export async function publish(
  connection: NatsConnection,
  subject: (index: number) => string,
  rows: readonly string[],
): Promise<void> {
  const client = jetstream(connection);
  for (let at = 0; at < rows.length; at += PUBLISHED_TOGETHER) {
    await Promise.all(
      rows
        .slice(at, at + PUBLISHED_TOGETHER)
        .map((row, index) => client.publish(subject(at + index), row)),
    );
  }
}

/** A cart as a message. */
export function sentRow(index: number): string {
  return JSON.stringify({
    id: index,
    items: [sentCart({ cartId: `cart-${index}`, origin: PLACE, destination: PLACE })],
  });
}
