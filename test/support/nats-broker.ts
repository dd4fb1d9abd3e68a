/** A NATS server of one test alone, over files that outlive it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Ending } from './fleet-nodes.js';
import { freePort } from './free-port.js';
import { eventually } from './http-eventually.js';
import { skipForWantOf, type Skipped } from './wanting.js';

export interface OwnBroker {
  readonly port: number;
  /** Starts a server on the port, with more arguments. */
  start(more?: readonly string[]): ChildProcess;
  /** Ends the server that was started last, and waits for its end. */
  stop(): Promise<void>;
  /** A connection to it, closed at the end of the test. */
  connected(secrets?: Secrets): Promise<readonly [NatsConnection, JetStreamManager]>;
}

interface Secrets {
  readonly user?: string;
  readonly pass?: string;
}

/** Null where there is none and the test is skipped. */
export async function ownBroker(context: Ending & Skipped): Promise<OwnBroker | null> {
  if (spawnSync('nats-server', ['--version']).error !== undefined) {
    skipForWantOf(context, 'there is no program nats-server (NATS)');
    return null;
  }
  const dir = mkdtempSync(join(tmpdir(), 'situs-nats-'));
  const port = await freePort();
  const servers: ChildProcess[] = [];
  // A server that still writes would bring back what is removed, and what throws here keeps all that
  // is registered later from being ended.
  context.after(async () => {
    for (const child of servers) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    port,
    start: (more = []) => {
      const child = spawn(
        'nats-server',
        ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dir, ...more],
        { stdio: 'ignore' },
      );
      servers.push(child);
      return child;
    },
    stop: async () => {
      const child = servers.at(-1);
      if (child === undefined || child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
    connected: async (secrets = {}) => {
      let connection: NatsConnection | null = null;
      await eventually(async () => {
        connection = await connect({
          servers: `127.0.0.1:${port}`,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 100,
          ...secrets,
        }).catch(() => null);
        return connection !== null;
      });
      context.after(() => connection?.close());
      return [connection!, await jetstreamManager(connection!)];
    },
  };
}
