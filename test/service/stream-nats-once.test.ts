/** `situs stream` where ids of messages come again, and where an answer is never taken. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  DiscardPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { buildRecipe } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { ownBroker } from '../support/nats-broker.js';
import { publish, sentRow, startStream, stored, type Running } from '../support/nats-stream.js';
import { rateOf, writeRates, ZIP } from '../support/tiny-release.js';

/** Of 900 kB more than is held of what is owed, 24 MiB. */
const OWED = 30;
const FIRST_ANSWERS = 3;
/** Refusals are stored without the bytes of their messages, which nothing here looks at. */
const HEADERS_BYTES = 1_000;

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

test('each consumer has answers of its own, in one stream too', async (context) => {
  const all = await world(context);
  if (all === null) return;
  const { connection, manager, start, count, add } = all;
  await add('carts');
  await manager.streams.add({
    name: 'answers',
    subjects: ['orders.taxed', 'orders.again', 'orders.refused'],
    storage: StorageType.Memory,
  });
  await publish(connection, () => SUBJECTS.from, [sentRow(1), sentRow(2)]);
  const first = start();
  await eventually(async () => (await count('answers')) === 2);
  assert.equal(await first.end('SIGTERM'), 0, first.err());
  const second = start('--durable', 'again', '--to', 'orders.again');
  await eventually(
    async () =>
      (await manager.consumers.info('carts', 'again').catch(() => null))?.ack_floor.stream_seq ===
      2,
  );
  assert.equal(await second.end('SIGTERM'), 0, second.err());
  assert.equal(await count('answers'), 4);
});

test('a consumer is made when nothing more is to be set otherwise', async (context) => {
  const all = await world(context);
  if (all === null) return;
  const { manager, start, add } = all;
  for (const name of ['carts', 'taxed', 'refused']) await add(name);
  const refused = start('--ack-wait', '90');
  assert.equal(await refused.end(), 1);
  assert.match(refused.err(), /twice --ack-wait, 180 s, are needed/);
  const running = start('--ack-wait', '60');
  await eventually(() => / to orders\.taxed at /.test(running.err()));
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  const { config } = await manager.consumers.info('carts', 'situs');
  assert.equal(config.ack_wait, 60e9);
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

test('what is owed after a kill is answered in order, though it is more than is held', async (context) => {
  const own = await ownBroker(context);
  if (own === null) return;
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  own.start();
  const [connection, manager] = await own.connected();
  const config = (name: string): Pick<StreamConfig, 'name' | 'subjects' | 'storage'> => ({
    name,
    subjects: [`orders.${name}.*`],
    storage: StorageType.Memory,
  });
  for (const name of ['carts', 'taxed']) await manager.streams.add(config(name));
  // All but the first of them wait in the first process for what takes no more, until it is killed.
  const full = { max_msgs: FIRST_ANSWERS, discard: DiscardPolicy.New };
  await manager.streams.add({ ...config('refused'), ...full, max_msg_size: HEADERS_BYTES });
  const start = (): Running =>
    startStream(context, {
      from: 'orders.carts.*',
      to: 'orders.taxed.*',
      failed: 'orders.refused.*',
      nats: `nats://127.0.0.1:${own.port}`,
      varDir: built.varDir,
      more: ['--ordered'],
    });
  const long = JSON.stringify({ postalcode: ZIP, city: 'x'.repeat(900_000) });
  let sent = 0;
  const send = async (count: number): Promise<void> => {
    for (const until = sent + count; sent < until; sent += 1) {
      await publish(connection, () => `orders.carts.shop-${sent % 3}`, [long]);
    }
  };
  await send(40);
  const doomed = start();
  await eventually(async () => {
    const consumer = await manager.consumers.info('carts', 'situs').catch(() => null);
    return (consumer?.num_ack_pending ?? 0) > OWED;
  });
  await doomed.end('SIGKILL');
  await manager.streams.update('refused', { max_msgs: -1 });
  // Nobody was given these, which are behind all that is owed.
  await send(8);
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
