/** `situs stream` while its broker goes away and comes back. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { buildRecipe } from '../support/built-dataset.js';
import { freePort } from '../support/free-port.js';
import { eventually } from '../support/http-eventually.js';
import { publish, sentRow, seqOf, startStream, stored } from '../support/nats-stream.js';
import { skipForWantOf } from '../support/wanting.js';

const SUBJECTS = { from: 'orders.carts', to: 'orders.taxed', failed: 'orders.refused' };

/** A broker of this test alone, over files that outlive it. */
function startBroker(context: TestContext, dir: string, port: number): ChildProcess {
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dir], {
    stdio: 'ignore',
  });
  context.after(() => child.kill('SIGKILL'));
  return child;
}

async function connected(port: number): Promise<readonly [NatsConnection, JetStreamManager]> {
  let connection: NatsConnection | null = null;
  await eventually(async () => {
    connection = await connect({
      servers: `127.0.0.1:${port}`, maxReconnectAttempts: -1, reconnectTimeWait: 100,
    }).catch(() => null);
    return connection !== null;
  });
  return [connection!, await jetstreamManager(connection!)];
}

test('a broker that was away finds every cart answered once', async (context) => {
  if (spawnSync('nats-server', ['--version']).error !== undefined) {
    skipForWantOf(context, 'there is no program nats-server (NATS)');
    return;
  }
  const built = buildRecipe('fixture');
  const dir = mkdtempSync(join(tmpdir(), 'situs-nats-'));
  context.after(() => {
    built.remove();
    rmSync(dir, { recursive: true, force: true });
  });
  const port = await freePort();
  const broker = startBroker(context, dir, port);
  const [connection, manager] = await connected(port);
  context.after(() => connection.close());
  const running = startStream(context, {
    ...SUBJECTS, nats: `nats://127.0.0.1:${port}`, varDir: built.varDir, more: ['--create'],
  });
  await eventually(() => /dataset/.test(running.err()) || running.child.exitCode !== null);
  const rows = Array.from({ length: 3_000 }, (_, index) => sentRow(index));
  await publish(connection, () => SUBJECTS.from, rows);
  const count = async (): Promise<number> =>
    (await manager.streams.info('orders_taxed')).state.messages;
  await eventually(async () => await count() > 200);
  broker.kill('SIGTERM');
  await once(broker, 'exit');
  await eventually(() => /NATS is away; waiting for it/.test(running.err()));
  startBroker(context, dir, port);
  await eventually(() => /NATS is back/.test(running.err()));
  await eventually(async () => await count().catch(() => 0) >= rows.length);
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  const found = (await stored(manager, 'orders_taxed')).map(seqOf).sort((one, two) => one - two);
  assert.deepEqual(found, rows.map((_, index) => index + 1));
});
