/** Clients of streams that send all they may and never read: what the service takes for them. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import { DRAIN_BYTES_MAX } from '../../src/http/body.js';
import {
  BATCH_MESSAGES_MAX,
  CREDIT_BYTES,
  CREDIT_MESSAGES,
  MESSAGE_BYTES_MAX,
  STREAM_MEMORY_BYTES_MAX,
} from '../../src/bulk/stream/session-options.js';
import { type ChildService, startChild } from '../support/server-process.js';
import { CSV, KEYS, sendBulk } from '../support/bulk-client.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { ending, header } from '../support/stream-service.js';

const HERE = '120 Main St, Elmton, QA 91010';
/** Streams of each transport at a time. */
const STREAMS = 2;
/** Messages whose answers are long: more than a stream may have waiting. */
const EXPLAINED = 24;
/** What the process takes for lookups and bulk files meanwhile, and for the collector's patience. */
const OTHERS_BYTES_MAX = 96 * 1_048_576;
/** Messages beyond the credits; of their answers, over 100 MB, the system takes a few. */
const BEYOND = CREDIT_MESSAGES + 100;
const PADDED_BYTES = MESSAGE_BYTES_MAX - 64;
const PADDED = 140;

let built: Built;
let child: ChildService;

before(async () => {
  built = buildRecipe('fixture');
  child = await startChild(built.varDir, { SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1' });
});

after(async () => {
  await child.stop();
  built.remove();
});

const EXPLAINED_CART = JSON.stringify({
  explain: true,
  items: [
    {
      customerId: 'c',
      currency: { currencyCode: 'USD' },
      origin: { address: HERE },
      destination: { address: HERE },
      lineItems: Array.from({ length: 200 }, () => ({ itemId: 'a', price: 10.75, quantity: 2 })),
    },
  ],
});

/** All that a stream may have unanswered: long answers first, then long messages. */
function allCredits(): readonly string[] {
  const others = CREDIT_MESSAGES - EXPLAINED;
  const bytes = Math.floor((CREDIT_BYTES - EXPLAINED * EXPLAINED_CART.length) / others);
  const lookup = JSON.stringify({ postalcode: '91020' });
  return [...Array(EXPLAINED).fill(EXPLAINED_CART), ...Array(others).fill(lookup.padEnd(bytes))];
}

async function silent(transport: 'socket' | 'post'): Promise<StreamClient> {
  const client = await StreamClient.open({
    port: child.port,
    key: KEYS.bulk,
    transport,
    unmasked: true,
  });
  assert.ok(!wasRefused(client));
  await header(client);
  client.flow?.pause();
  return client;
}

/** Lookups and a file of another client, while streams are stuck. */
async function serveOthers(watch: () => void): Promise<void> {
  const { port } = child;
  for (let count = 0; count < 20; count += 1) {
    const { status } = await sendBulk({
      port,
      path: '/request/v60?postalcode=91020',
      method: 'GET',
    });
    assert.equal(status, 200);
    watch();
  }
  const table = await sendBulk({ port, type: CSV }, `zip\n${'91020\n'.repeat(1_000)}`);
  assert.equal(table.body.toString().split('\n').length, 1_002);
  watch();
}

interface Watched {
  readonly watch: () => void;
  /** Bytes above what the process had before. */
  readonly above: () => number;
}

async function watched(): Promise<Watched> {
  await serveOthers(() => undefined);
  const before = child.ownBytes() ?? 0;
  let peak = before;
  const watch = (): void => {
    peak = Math.max(peak, child.ownBytes() ?? 0);
  };
  return { watch, above: () => peak - before };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`;
}

test('streams that are not read stay below their ceiling, and others are served', async (context) => {
  const { watch, above } = await watched();
  const messages = allCredits();
  const clients: StreamClient[] = [];
  for (let count = 0; count < STREAMS; count += 1) {
    for (const transport of ['socket', 'post'] as const) {
      const client = await silent(transport);
      for (const message of messages) client.send(message);
      // An upload may have more, since it waits.
      if (transport === 'post')
        for (const message of messages.slice(EXPLAINED)) client.send(message);
      clients.push(client);
      watch();
    }
  }
  await serveOthers(watch);
  const limit = clients.length * STREAM_MEMORY_BYTES_MAX + OTHERS_BYTES_MAX;
  context.diagnostic(
    `${megabytes(above())} for ${clients.length} streams, ${megabytes(limit)} allowed`,
  );
  assert.ok(above() < limit, megabytes(above()));
  for (const [index, client] of clients.entries()) {
    const sent = messages.length + (index % 2) * (messages.length - EXPLAINED);
    client.flow?.resume();
    for (let count = 0; count < sent; count += 1)
      assert.match((await client.next()) ?? '', /^\{"seq":/);
    client.finish();
    const { trailer } = await ending(client);
    assert.deepEqual([trailer.rows, trailer.complete], [sent, true]);
  }
});

test('a client that is not reading and goes beyond its credits is ended with 4429', async () => {
  const client = await silent('socket');
  for (const message of allCredits()) client.send(message);
  // Their answers are more than the system takes for a client that does not read.
  for (let count = 0; count < BEYOND; count += 1) client.send(EXPLAINED_CART);
  client.flow?.resume();
  const { trailer, code } = await ending(client);
  assert.equal(code, 4429);
  assert.equal(trailer.complete, false);
  assert.equal(trailer.stopped?.line, trailer.rows + 1);
});

test('blanks around a batch take up no memory', async (context) => {
  const { watch, above } = await watched();
  for (const transport of ['socket', 'post'] as const) {
    const client = await silent(transport);
    for (let count = 0; count < EXPLAINED; count += 1) client.send(EXPLAINED_CART);
    const padded = '[{"postalcode":"91020"}]'.padEnd(PADDED_BYTES / 2).padStart(PADDED_BYTES);
    for (let count = 0; count < PADDED; count += 1) {
      client.send(padded);
      watch();
      if (count % 16 === 0) await serveOne();
    }
    await serveOthers(watch);
    client.cut();
  }
  context.diagnostic(`${megabytes(above())} for two streams`);
  assert.ok(above() < 2 * STREAM_MEMORY_BYTES_MAX + OTHERS_BYTES_MAX, megabytes(above()));
});

test('an upload that goes on after the end of its stream takes up no memory, and is cut', async (context) => {
  const { watch, above } = await watched();
  const client = await silent('post');
  for (let count = 0; count < EXPLAINED; count += 1) client.send(EXPLAINED_CART);
  client.send(
    `[${Array(BATCH_MESSAGES_MAX + 1)
      .fill('{}')
      .join(',')}]`,
  );
  let cut = false;
  void client.ended.then(() => {
    cut = true;
  });
  const line = JSON.stringify({ postalcode: '91020' }).padEnd(MESSAGE_BYTES_MAX / 2);
  for (let bytes = 0; bytes < 4 * DRAIN_BYTES_MAX && !cut; bytes += line.length) {
    client.send(line);
    if (bytes % (8 * line.length) === 0) await serveOne();
    watch();
  }
  // On a slow machine all of it was sent before the cut, which only who reads learns of then.
  client.flow?.resume();
  await client.ended;
  await serveOthers(watch);
  context.diagnostic(`${megabytes(above())} for one stream`);
  assert.ok(above() < STREAM_MEMORY_BYTES_MAX + OTHERS_BYTES_MAX, megabytes(above()));
});

/** One lookup: by then the server has read some of what other connections sent. */
async function serveOne(): Promise<void> {
  await sendBulk({ port: child.port, path: '/request/v60?postalcode=91020', method: 'GET' });
}

test('a client that sends pings and takes no pongs is cut', async (context) => {
  const { watch, above } = await watched();
  const socket = connect({ port: child.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(
    `GET /stream HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEYS.bulk}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
  );
  await once(socket, 'readable');
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  // A ping of 125 bytes, masked with zeros.
  const ping = Buffer.concat([Buffer.of(0x89, 0xfd, 0, 0, 0, 0), Buffer.alloc(125)]);
  const pings = Buffer.alloc(ping.length * 8_000, ping);
  for (let count = 0; count < 200 && !socket.destroyed; count += 1) {
    if (socket.write(pings)) continue;
    await Promise.race([closed, new Promise<void>((resolve) => socket.once('drain', resolve))]);
    watch();
  }
  await serveOthers(watch);
  context.diagnostic(`${megabytes(above())} for one stream`);
  assert.ok(socket.destroyed, 'it is still open');
  assert.ok(above() < STREAM_MEMORY_BYTES_MAX + OTHERS_BYTES_MAX, megabytes(above()));
});

test('a client that reads may ping as it likes', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${child.port}/stream`, {
    headers: { 'X-API-KEY': KEYS.bulk },
  });
  await once(socket, 'open');
  let pongs = 0;
  const all = new Promise<void>((resolve) =>
    socket.on('pong', () => {
      pongs += 1;
      if (pongs === 20_000) resolve();
    }),
  );
  for (let count = 0; count < 20_000; count += 1) socket.ping('x'.repeat(120));
  await all;
  socket.close();
});
