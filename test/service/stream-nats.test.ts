/** `situs stream` as processes over a real broker: the answers of a stream, each stored once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import { jetstreamManager, StorageType, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { KEYS, startBulkApp } from '../support/bulk-client.js';
import { CommandProcess } from '../support/command-process.js';
import { freePort } from '../support/free-port.js';
import { eventually } from '../support/http-eventually.js';
import {
  publish,
  sentRow,
  seqOf,
  startStream,
  stored,
  streamWords,
  type Asked,
  type Running,
  type Subjects,
} from '../support/nats-stream.js';
import type { Ran } from '../support/run-command.js';
import { sentCart } from '../support/sent-carts.js';
import { ending, header } from '../support/stream-service.js';
import { skipForWantOf } from '../support/wanting.js';

const NATS = 'nats://127.0.0.1:4222';

const commands = new CommandProcess();
let connection: NatsConnection | null = null;
let manager: JetStreamManager;
let built: Built;

before(async () => {
  try {
    connection = await connect({ servers: NATS, timeout: 2_000 });
    manager = await jetstreamManager(connection);
  } catch {
    connection = null;
    return;
  }
  built = buildRecipe('fixture');
});

after(async () => {
  await commands.end();
  if (connection === null) return;
  built.remove();
  await connection.close();
});

/** With the name of all three streams without their ends. */
interface Named extends Subjects {
  readonly name: string;
}

/** Streams in memory for one test; null where it is skipped. */
async function streams(context: TestContext, tail = ''): Promise<Named | null> {
  if (connection === null) {
    skipForWantOf(context, `no NATS with JetStream answers at ${NATS}`);
    return null;
  }
  const name = `test-${randomUUID().slice(0, 13)}`;
  const made = ['carts', 'taxed', 'refused'];
  for (const end of made) {
    await manager.streams.add({
      name: `${name}-${end}`,
      subjects: [`${name}.${end}${end === 'refused' ? '' : tail}`],
      storage: StorageType.Memory,
    });
  }
  context.after(() => Promise.all(made.map((end) => manager.streams.delete(`${name}-${end}`))));
  const [from, to] = [`${name}.carts${tail}`, `${name}.taxed${tail}`];
  return { from, to, failed: `${name}.refused`, name };
}

function start(context: TestContext, subjects: Subjects, more: Partial<Asked> = {}): Running {
  return startStream(context, { nats: NATS, varDir: built.varDir, ...subjects, ...more });
}

/** Runs one that is to end by itself. */
function run(subjects: Subjects, more: Partial<Asked>): Promise<Ran> {
  const asked = { nats: NATS, varDir: built.varDir, ...subjects, ...more };
  return commands.run(streamWords(asked), { SITUS_VAR: built.varDir });
}

async function count(stream: string): Promise<number> {
  return (await manager.streams.info(stream)).state.messages;
}

const POISON = [
  'no JSON',
  '{"id":"none","postalcode":"00000"}',
  '{"id":7,"items":[{}]}',
  '[]',
  '{"ack":3}',
];

/** What POST /stream answers to the same messages. */
async function streamed(
  context: TestContext,
  rows: readonly string[],
): Promise<{ readonly lines: readonly string[]; readonly base: string }> {
  const { app, port } = await startBulkApp(built.varDir);
  context.after(() => app.stop());
  const client = await StreamClient.open({ port, key: KEYS.bulk, transport: 'post' });
  assert.ok(!wasRefused(client));
  await header(client);
  // Lists and words about the stream itself are no messages there.
  for (const row of rows) client.send(row === '[]' || row === '{"ack":3}' ? '{"ack":true}' : row);
  client.finish();
  const { lines } = await ending(client);
  return { lines: lines.slice(0, -1), base: `http://127.0.0.1:${port}` };
}

test('each message is answered as over POST /stream, refused ones with code and field', async (context) => {
  const subjects = await streams(context);
  if (subjects === null) return;
  const { name, from } = subjects;
  const rows = Array.from({ length: 200 }, (_, index) =>
    index % 10 === 3
      ? POISON[Math.floor(index / 10) % POISON.length]!
      : index % 2 === 0
        ? sentRow(index)
        : JSON.stringify({ id: index, postalcode: '91020' }),
  );
  const { lines, base } = await streamed(context, rows);
  assert.equal(lines.length, rows.length);
  rows.push(JSON.stringify({ merchantId: randomUUID(), items: [sentCart()] }));
  await publish(connection!, () => from, rows);
  const port = await freePort();
  const running = start(context, subjects, {
    env: { SITUS_BASE_URL: base, SITUS_METRICS: `127.0.0.1:${port}` },
  });
  await eventually(
    async () => (await count(`${name}-taxed`)) + (await count(`${name}-refused`)) === rows.length,
  );
  await eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return (
      /^situs_nats_answered 180$/m.test(text) &&
      /^situs_nats_refused 21$/m.test(text) &&
      /^situs_nats_lag 0$/m.test(text)
    );
  });
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  assert.match(running.err(), /180 answered, 21 refused\n$/);
  for (const message of await stored(manager, `${name}-taxed`)) {
    assert.equal(Buffer.from(message.data).toString(), lines[seqOf(message) - 1]);
  }
  for (const { data, header: fields } of await stored(manager, `${name}-refused`)) {
    const seq = Number(fields.get('Situs-Sequence'));
    assert.equal(Buffer.from(data).toString(), rows[seq - 1]);
    assert.equal(fields.get('Situs-Subject'), from);
    const told = [Number(fields.get('Situs-Code')), fields.get('Situs-Field')];
    if (seq === rows.length) assert.deepEqual(told, [105, 'merchantId']);
    else if (!/^\[\]$|ack/.test(rows[seq - 1]!)) {
      const { error } = JSON.parse(lines[seq - 1]!) as {
        readonly error: { readonly code: number; readonly field: string | null };
      };
      assert.deepEqual(told, [error.code, error.field ?? '']);
    }
  }
  const { num_pending: left, num_ack_pending: open } = await manager.consumers.info(
    `${name}-carts`,
    'situs',
  );
  assert.deepEqual([left, open], [0, 0], 'all are acknowledged');
});

test('two processes share the work, one is killed: each cart has one answer', async (context) => {
  const subjects = await streams(context);
  if (subjects === null) return;
  const { name, from } = subjects;
  const rows = Array.from({ length: 1_500 }, (_, index) => sentRow(index));
  const [doomed, other] = [start(context, subjects), start(context, subjects)];
  await eventually(() => /dataset/.test(doomed.err()) && /dataset/.test(other.err()));
  const publishing = publish(connection!, () => from, rows);
  await eventually(async () => (await count(`${name}-taxed`)) > 300);
  await doomed.end('SIGKILL');
  await publishing;
  await eventually(async () => {
    const { num_pending: left, num_ack_pending: open } = await manager.consumers.info(
      `${name}-carts`,
      'situs',
    );
    return left === 0 && open === 0;
  });
  assert.equal(await other.end('SIGINT'), 0, other.err());
  const found = (await stored(manager, `${name}-taxed`)).map(seqOf).sort((one, two) => one - two);
  assert.deepEqual(
    found,
    rows.map((_, index) => index + 1),
  );
  assert.equal(await count(`${name}-refused`), 0);
});

test('--ordered keeps the order of each key, also after a kill', async (context) => {
  const subjects = await streams(context, '.*');
  if (subjects === null) return;
  const { name } = subjects;
  const rows = Array.from({ length: 800 }, (_, index) => sentRow(index));
  const doomed = start(context, subjects, { more: ['--ordered'] });
  const publishing = publish(connection!, (index) => `${name}.carts.shop-${index % 7}`, rows);
  await eventually(async () => (await count(`${name}-taxed`)) > 100);
  await doomed.end('SIGKILL');
  await publishing;
  const next = start(context, subjects, { more: ['--ordered'] });
  await eventually(
    async () => (await count(`${name}-taxed`)) >= rows.length && /dataset/.test(next.err()),
  );
  await eventually(
    async () => (await manager.consumers.info(`${name}-carts`, 'situs')).num_waiting > 0,
  );
  const second = await run(subjects, { more: ['--ordered'] });
  assert.equal(second.code, 1);
  assert.match(second.err, /another process takes messages of the consumer situs/);
  assert.equal(await next.end('SIGTERM'), 0, next.err());
  const keys = new Map<string, number[]>();
  for (const message of await stored(manager, `${name}-taxed`)) {
    keys.set(message.subject, [...(keys.get(message.subject) ?? []), seqOf(message)]);
  }
  assert.equal(keys.size, 7);
  assert.equal([...keys.values()].flat().length, rows.length);
  for (const [key, seqs] of keys) {
    assert.deepEqual(
      seqs,
      [...seqs].sort((one, two) => one - two),
      key,
    );
  }
});

test('what keeps it from beginning is told', async (context) => {
  const subjects = await streams(context);
  if (subjects === null) return;
  const fails = async (changed: Partial<Asked>, why: RegExp, code = 1): Promise<void> => {
    const ran = await run(subjects, changed);
    assert.equal(ran.code, code, ran.err);
    assert.match(ran.err, why);
  };
  const { from } = subjects;
  await fails(
    { from: `${from}.none` },
    /no stream of NATS holds the subject \S+\.none; make one, or give --create/,
  );
  await fails(
    { nats: 'nats://user:secret@127.0.0.1:1' },
    /^situs: NATS at 127\.0\.0\.1:1 cannot be reached: (?!.*secret)/,
  );
  await fails({ to: from }, /is within --from: answers would be asked again/, 2);
  await fails({ nats: 'nats://u%zz@127.0.0.1' }, /--nats: a percent sign .* is written %25/, 2);
  await fails({ nats: 'http://127.0.0.1' }, /--nats is nats:\/\/HOST:PORT/, 2);
});

test('--create makes the streams, and too short a memory of ids is refused', async (context) => {
  const subjects = await streams(context);
  if (subjects === null) return;
  const { name } = subjects;
  const made = { ...subjects, from: `${name}.new.carts`, to: `${name}.new.taxed` };
  const names = ['carts', 'taxed'].map((end) => `${name}_new_${end}`);
  context.after(() => Promise.all(names.map((each) => manager.streams.delete(each))));
  const running = start(context, made, { more: ['--create'] });
  await eventually(() => /dataset/.test(running.err()) || running.child.exitCode !== null);
  await publish(connection!, () => made.from, [sentRow(1)]);
  await eventually(async () => (await count(names[1]!)) === 1 && (await count(names[0]!)) === 0);
  assert.equal(await running.end('SIGTERM'), 0, running.err());
  const patient = await run(subjects, { more: ['--ack-wait', '3600'] });
  assert.equal(patient.code, 1);
  assert.match(patient.err, /knows ids of messages for 120 s; twice --ack-wait, 7200 s/);
});
