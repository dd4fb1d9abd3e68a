/** Requests that are sent without waiting for the answers to those before them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startChildServer } from '../support/http-child-server.js';
import { ask, RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { LARGE_BYTES, startStubServer, STUB_KEY } from '../support/http-stub-server.js';

const KEY = { 'X-API-KEY': STUB_KEY };
const CONNECTIONS = 6;
/** What a slow client takes of an answer in a second. */
const PART_BYTES = 1_000_000;
/** What connections that take nothing may cost, all of them together. */
const GROWTH_BYTES_MAX = 48 * 1_048_576;
/** Over the HTTP server of Node.js: what is thrown away is collected later, with each release. */
const NODE_GROWTH_BYTES_MAX = 96 * 1_048_576;

/** A client that sends and never reads. */
async function deaf(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const DEAF: readonly (readonly [name: string, request: string, count: number])[] = [
  ['large answers', 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n', 1_500],
  ['unknown paths', 'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n', 60_000],
  ['methods that are not answered', 'PUT /echo HTTP/1.1\r\nHost: a\r\n\r\n', 60_000],
  ['heads alone', 'HEAD /nothing HTTP/1.1\r\nHost: a\r\n\r\n', 60_000],
  ['bodies', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na', 60_000],
];

for (const [name, request, count] of DEAF) {
  test(`clients that take nothing cost a bounded amount of memory: ${name}`, async (context) => {
    const server = await startChildServer(context);
    const isNative = (await ask(server.port, '/nothing')).headers.has('uwebsockets');
    const before = server.ownBytes();
    const sockets = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => deaf(server.port, request.repeat(count))),
    );
    context.after(() => sockets.forEach((socket) => socket.destroy()));
    let most = 0;
    for (let round = 0; round < 15; round += 1) {
      await delay(100);
      most = Math.max(most, server.ownBytes() - before);
    }
    assert.ok(most < (isNative ? GROWTH_BYTES_MAX : NODE_GROWTH_BYTES_MAX), `${most} bytes`);
    for (const socket of sockets) socket.destroy();
    const client = await RawClient.open(server.port);
    client.get('/nothing');
    assert.equal((await client.answer())?.status, 404);
    client.close();
  });
}

test('a hundred small answers come whole and in order', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  const paths = Array.from({ length: 100 }, (_, at) => `/nothing/${at}`);
  client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  for (const path of paths) {
    assert.match((await client.answer())?.body ?? '', new RegExp(`"instance":"${path}"`));
  }
  client.close();
});

test('an answer longer than the buffers of the system comes whole, and the next one after it', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  for (let round = 0; round < 20; round += 1) {
    client.get('/large');
    assert.equal((await client.answer())?.body.length, LARGE_BYTES);
  }
  assert.equal(server.router.traffic.open, 0);
  client.close();
});

test('a client that takes its answer late gets all of it', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  client.socket.pause();
  for (let round = 0; round < 8; round += 1) client.get('/large');
  await delay(200);
  client.socket.resume();
  let whole = 0;
  for (;;) {
    const answer = await client.answer();
    if (answer === null) break;
    assert.equal(answer.body.length, LARGE_BYTES);
    whole += 1;
    if (whole === 8) break;
  }
  assert.ok(whole > 0);
  client.close();
});

test('a client that takes nothing is cut, whatever it sends; one that takes a little is not', async (context) => {
  const { port, server, close } = await startStubServer();
  context.after(close);
  const huge = 'GET /huge HTTP/1.1\r\nHost: a\r\n\r\n';
  const [slow, mute, loud] = [
    await deaf(port, huge),
    await deaf(port, huge),
    await deaf(port, huge),
  ];
  const sending = setInterval(() => loud.write('\r\n'), 500);
  let taken = 0;
  slow.on('data', (bytes) => {
    taken += bytes.length;
    if (taken % PART_BYTES < bytes.length) slow.pause();
  });
  const taking = setInterval(() => slow.resume(), 1_000);
  context.after(() => {
    clearInterval(sending);
    clearInterval(taking);
    for (const socket of [slow, mute, loud]) socket.destroy();
  });
  await eventually(() => server.connections === 3);
  await eventually(() => server.connections < 3, 60_000);
  await eventually(() => server.connections === 1, 20_000);
  clearInterval(taking);
  slow.removeAllListeners('data').resume();
  const before = taken;
  slow.on('data', (bytes) => {
    taken += bytes.length;
  });
  await eventually(() => taken > before + PART_BYTES);
});

test('a request that comes while workers answer the one before waits for its turn', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  client.get('/request/v60?sleep', KEY);
  await delay(5);
  for (let at = 0; at < 3; at += 1) {
    client.get(`/nothing/${at}`);
    await delay(2);
  }
  assert.equal((await client.answer())?.status, 200);
  for (let at = 0; at < 3; at += 1) {
    assert.match((await client.answer())?.body ?? '', new RegExp(`/nothing/${at}`));
  }
  client.close();
});

test('HEAD tells the length of the answer it leaves out', async (context) => {
  const server = await startStubServer();
  context.after(server.close);
  const client = await RawClient.open(server.port);
  client.get('/large/not');
  const asked = await client.answer();
  for (let round = 0; round < 3; round += 1) {
    client.write('HEAD /large/not HTTP/1.1\r\nHost: a\r\n\r\n');
    const head = await client.answer(true);
    assert.equal(head?.status, 404);
    assert.equal(head?.headers.get('content-length'), asked?.headers.get('content-length'));
  }
  client.close();
});
