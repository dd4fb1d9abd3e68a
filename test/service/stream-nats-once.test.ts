/** `situs stream` where ids of messages come again, and where an answer is never taken. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { StorageType, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { buildRecipe } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { ownBroker } from '../support/nats-broker.js';
import { publish, sentRow, startStream, stored, type Running } from '../support/nats-stream.js';
import { rateOf, writeRates, ZIP } from '../support/tiny-release.js';

const SUBJECTS = { from: 'orders.carts', to: 'orders.taxed', failed: 'orders.refused' };

interface World {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly varDir: string;
  start(...more: readonly string[]): Running;
  count(stream: string): Promise<number>;
  add(name: string, sizeMax?: number): Promise<unknown>;
}

async function world(context: TestContext): Promise<World | null> {
  const own = await ownBroker(context);
  if (own === null) return null;
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  own.start();
  const [connection, manager] = await own.connected();
  return {
    connection,
    manager,
    varDir: built.varDir,
    start: (...more) =>
      startStream(context, {
        ...SUBJECTS,
        nats: `nats://127.0.0.1:${own.port}`,
        varDir: built.varDir,
        more,
      }),
    count: async (stream) => (await manager.streams.info(stream)).state.messages,
    add: (name, sizeMax = -1) =>
      manager.streams.add({
        name,
        subjects: [`orders.${name}`],
        storage: StorageType.Memory,
        max_msg_size: sizeMax,
      }),
  };
}

test('carts of a stream that was deleted and made again are answered too', async (context) => {
  const all = await world(context);
  if (all === null) return;
  const { connection, manager, start, count, add } = all;
  for (const name of ['carts', 'taxed', 'refused']) await add(name);
  await publish(connection, () => SUBJECTS.from, [sentRow(1), sentRow(2)]);
  const first = start();
  await eventually(async () => (await count('taxed')) === 2);
  await manager.streams.delete('carts');
  assert.equal(await first.end(), 1);
  assert.match(first.err(), /was deleted while messages were taken of it/);
  await add('carts');
  await publish(connection, () => SUBJECTS.from, [sentRow(3), sentRow(4), sentRow(5)]);
  const second = start();
  await eventually(
    async () =>
      (await manager.consumers.info('carts', 'situs').catch(() => null))?.ack_floor.stream_seq ===
      3,
  );
  assert.equal(await second.end('SIGTERM'), 0, second.err());
  assert.equal(await count('taxed'), 5);
});

test('an answer that its stream never takes is refused, and holds nothing up', async (context) => {
  const all = await world(context);
  if (all === null) return;
  const { connection, manager, start, count, add } = all;
  await add('carts');
  await add('taxed', 600);
  await add('refused', 700);
  const [short, long, huge] = ['{"id":1,"postalcode":"91020"}', sentRow(1), 'x'.repeat(5_000)];
  assert.ok(long.length < 500);
  await publish(connection, () => SUBJECTS.from, [short, long, huge, short]);
  const running = start();
  await eventually(async () => (await count('refused')) + (await count('taxed')) === 4);
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  const refused = await stored(manager, 'refused');
  const told = refused.map(({ data, header }) => [
    data.length,
    header.get('Situs-Code'),
    header.get('Situs-Sequence'),
  ]);
  assert.ok(
    told.every(([length, code]) => length === 0 || code !== ''),
    JSON.stringify(told),
  );
  assert.match(
    refused.find(({ data }) => data.length > 0)?.header.get('Situs-Message') ?? '',
    /more than its stream takes/,
  );
});

test('a kept dataset answers where it is named', async (context) => {
  const all = await world(context);
  if (all === null) return;
  const { connection, manager, start, count, add, varDir } = all;
  for (const name of ['carts', 'taxed', 'refused']) await add(name);
  const [[rate, name] = []] = await writeRates(varDir, [41]);
  const unknown = start('--dataset', '2020-01-01-000000000000');
  assert.equal(await unknown.end(), 2);
  assert.match(unknown.err(), /is not kept here/);
  const misused = start('--at', '2026-02-05T12:00:00Z');
  assert.equal(await misused.end(), 2);
  await publish(connection, () => SUBJECTS.from, [`{"postalcode":"${ZIP}"}`]);
  const running = start('--dataset', name ?? '', '--at', '2026-02-05T12:00:00Z');
  await eventually(async () => (await count('taxed')) === 1);
  assert.match(running.err(), new RegExp(`dataset ${name}`));
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  const [answer] = await stored(manager, 'taxed');
  assert.equal(rateOf(Buffer.from(answer!.data).toString()), rate);
});

test('messages in hand are bounded by their bytes too', async (context) => {
  const all = await world(context);
  if (all === null) return;
  const { connection, manager, start, count, add } = all;
  for (const name of ['carts', 'taxed', 'refused']) await add(name);
  const long = JSON.stringify({ postalcode: ZIP, city: 'x'.repeat(900_000) });
  const sent = 150;
  for (let number = 0; number < sent; number += 1) {
    await publish(connection, () => SUBJECTS.from, [long]);
  }
  const running = start();
  let most = 0;
  await eventually(async () => {
    const consumer = await manager.consumers.info('carts', 'situs').catch(() => null);
    most = Math.max(most, consumer?.num_ack_pending ?? 0);
    return (await count('refused')) === sent;
  });
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  // As the broker counts, which counts what is acknowledged until it has read that.
  assert.ok(most > 0 && most * long.length <= 64 * 1_048_576, `${most} of ${long.length} bytes`);
});

test('what is owed after a kill is answered in order, though it is more than is held', async (context) => {
  const own = await ownBroker(context);
  if (own === null) return;
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  own.start();
  const [connection, manager] = await own.connected();
  for (const name of ['carts', 'taxed', 'refused']) {
    await manager.streams.add({
      name,
      subjects: [`orders.${name}.*`],
      storage: StorageType.Memory,
    });
  }
  const start = (): Running =>
    startStream(context, {
      from: 'orders.carts.*',
      to: 'orders.taxed.*',
      failed: 'orders.refused.*',
      nats: `nats://127.0.0.1:${own.port}`,
      varDir: built.varDir,
      more: ['--ordered'],
    });
  const sent = 70;
  const long = JSON.stringify({ postalcode: ZIP, city: 'x'.repeat(900_000) });
  for (let number = 0; number < sent; number += 1) {
    await publish(connection, () => `orders.carts.shop-${number % 3}`, [long]);
  }
  const doomed = start();
  await eventually(async () => {
    const consumer = await manager.consumers.info('carts', 'situs').catch(() => null);
    return (consumer?.num_ack_pending ?? 0) > 30;
  });
  await doomed.end('SIGKILL');
  const next = start();
  await eventually(async () => (await manager.streams.info('refused')).state.messages === sent);
  assert.match(next.err(), /waiting 1 s for messages that were given out/);
  assert.equal(await next.end('SIGTERM'), 0, next.err());
  const keys = new Map<string, number[]>();
  for (const { subject, header } of await stored(manager, 'refused')) {
    keys.set(subject, [...(keys.get(subject) ?? []), Number(header.get('Situs-Sequence'))]);
  }
  assert.equal(keys.size, 3);
  for (const [key, seqs] of keys) {
    assert.deepEqual(
      seqs,
      [...seqs].sort((one, two) => one - two),
      key,
    );
  }
});
