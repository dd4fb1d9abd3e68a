/** A server that has opened all the files it may. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ConnectionLimit,
  connectionsFor,
  DESCRIPTORS_RESERVED,
} from '../../src/http/descriptors.js';
import { startChildServer } from '../support/http-child-server.js';
import { RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';

const DESCRIPTORS = 200;
const WATCH_MS = 2_000;
/** Of one processor. */
const BUSY_MAX = 0.15;

test('some descriptors are kept free', () => {
  assert.equal(connectionsFor(1_048_576, 60), 1_048_576 - 60 - DESCRIPTORS_RESERVED);
  assert.equal(connectionsFor(200, 50), 100);
  assert.equal(connectionsFor(100, 100), 1);
});

test('connections that are open count once, however often the limit is set', () => {
  const limit = new ConnectionLimit();
  let accept = (): boolean => false;
  limit.watch({
    filter: (changed) => {
      accept = () => {
        let isClosed = false;
        changed({ close: () => (isClosed = true) }, 1);
        return !isClosed;
      };
    },
  });
  for (let at = 0; at < 5; at += 1) assert.ok(accept());
  // Three more may come beside those that are open.
  limit.begin(() => 3);
  assert.deepEqual([accept(), accept(), accept(), accept()], [true, true, true, false]);
});

test('a server without descriptors rests, and serves again when some are free', async (context) => {
  const server = await startChildServer(context, DESCRIPTORS);
  const sockets: Socket[] = [];
  context.after(() => sockets.forEach((socket) => socket.destroy()));
  let closed = 0;
  for (let at = 0; at < 2 * DESCRIPTORS; at += 1) {
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    socket
      .on('error', () => undefined)
      .on('close', () => {
        closed += 1;
      })
      .resume();
    sockets.push(socket);
  }
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), delay(500)])));
  await eventually(() => closed > 0);
  // One that spins is never at rest; one that has much to take up comes to rest after it.
  await eventually(async () => {
    const before = server.processorMs();
    await delay(WATCH_MS);
    return (server.processorMs() - before) / WATCH_MS < BUSY_MAX;
  });
  assert.ok(closed < 2 * DESCRIPTORS, `${closed} closed`);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => {
    const client = await RawClient.open(server.port);
    client.get('/nothing');
    const answer = await client.answer();
    client.close();
    return answer?.status === 404;
  });
});
