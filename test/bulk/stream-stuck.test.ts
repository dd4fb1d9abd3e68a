/** Clients of streams that take nothing, whatever they send: they are not kept for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamClient } from '../../bench/load/stream-client.js';
import { CREDIT_MESSAGES, HEARTBEAT_MS } from '../../src/bulk/stream/session-options.js';
import { ask } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import {
  header,
  message,
  startStreams,
  type StreamService,
  TIMES,
} from '../support/stream-service.js';

/** Longer than what the system takes for a connection, all together. */
const ANSWER_BYTES = 64_000;

/** By then the service has read what other connections had sent before. */
async function serve({ port }: StreamService): Promise<void> {
  await ask(port, '/no-such-path');
}

/** A client that is owed answers and reads none. */
async function stuck(service: StreamService, transport: 'socket' | 'post'): Promise<StreamClient> {
  service.pool.prompt = true;
  service.pool.fillBytes = ANSWER_BYTES;
  const client = await service.open({ transport });
  await header(client);
  client.flow?.pause();
  for (let id = 0; id < CREDIT_MESSAGES; id += 1) client.send(message(id));
  await eventually(async () => {
    const before = service.pool.answered;
    for (let count = 0; count < 10; count += 1) await serve(service);
    return before > 0 && service.pool.answered === before;
  });
  assert.ok(service.pool.answered < CREDIT_MESSAGES);
  return client;
}

test('one that gives no sign of life is cut although its goodbye cannot be sent', async (context) => {
  const service = await startStreams(context, { ...TIMES, idleMs: 100 * HEARTBEAT_MS });
  const client = await stuck(service, 'socket');
  for (let beat = 0; beat < 4; beat += 1) service.turn(HEARTBEAT_MS);
  await eventually(() => service.router.traffic.open === 0);
  client.cut();
});

test('one whose stream was ended is cut after the idle time, though it goes on sending', async (context) => {
  const service = await startStreams(context, TIMES);
  const client = await stuck(service, 'socket');
  for (let id = 0; id < 2 * CREDIT_MESSAGES; id += 1) client.send(message(id));
  for (let step = 0; step <= 10; step += 1) {
    client.send(message(step));
    await serve(service);
    service.turn(TIMES.idleMs / 10);
  }
  await eventually(() => service.router.traffic.open === 0);
  client.cut();
});

for (const transport of ['socket', 'post'] as const) {
  test(`one that goes away while it is owed answers leaves its place (${transport})`, async (context) => {
    const service = await startStreams(context, TIMES);
    const client = await stuck(service, transport);
    if (transport === 'post')
      for (let id = 0; id < 4 * CREDIT_MESSAGES; id += 1) client.send(message(id));
    await serve(service);
    client.cut();
    await eventually(() => service.router.traffic.open === 0);
  });
}
