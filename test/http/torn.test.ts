/**
 * Requests that are sent together to be answered together, by a client that reads late. Past 16 KiB
 * the native server hands over what it has; where the system takes none of it any more, the piece
 * that came next is dropped, be it one of a head.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from '../../src/http/open-transport.js';
import { headOf } from '../../src/http/reply.js';
import { Router, type Route } from '../../src/http/router.js';
import { SILENT } from '../../src/log.js';
import { RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';

const REQUEST = 'GET /fill HTTP/1.1\r\nHost: a\r\n\r\n';
const TOGETHER = 5;
/** Bytes that the native server holds back. */
const HELD_BYTES = 16_384;
/** More than the buffers of a connection take. */
const BATCHES_MAX = 4_000;
/** A connection that brings nothing for so long brings nothing more. */
const QUIET_MS = 2_000;
/** So many looks in a row must find that: after one that came late, what has arrived is not read yet. */
const QUIET_LOOKS = 5;
/** So many bytes are left for the head of the last answer of a batch, in turn. */
const GAPS = [3, 12, 30, 60, 100, 140];

interface Filling {
  readonly port: number;
  readonly router: Router;
  /** Sets how long a body is. */
  fill(bytes: number): void;
  close(): void;
}

async function startFilling(): Promise<Filling | null> {
  let body = '';
  const route: Route = {
    method: 'GET',
    path: '/fill',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => answer.send({ status: 200, head: headOf('text/plain'), body }),
  };
  const server = await createServer({ transport: 'native' }).catch(() => null);
  if (server === null) return null;
  const router = new Router([route], SILENT);
  router.attach(server);
  const port = await server.listen('127.0.0.1', 0);
  assert.ok(port !== null);
  return {
    port,
    router,
    fill: (bytes) => {
      body = 'a'.repeat(bytes);
    },
    close: () => server.close(),
  };
}

/** Bytes of the head of an answer with a body of four digits. */
async function headBytes({ port, fill }: Filling): Promise<number> {
  fill(4_000);
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(REQUEST);
  let length = 0;
  let text = '';
  socket.on('data', (piece) => {
    length += piece.length;
    text += String(piece);
  });
  await eventually(() => text.endsWith('a'.repeat(4_000)));
  socket.destroy();
  return length - 4_000;
}

/** Fails where a text is not one whole answer after another, of which the last may be cut. */
function assertWhole(text: string, bodyBytes: number): void {
  const answer = new RegExp(
    String.raw`HTTP/1\.1 200 OK\r\nContent-Type: text/plain\r\nDate: [^\r]+\r\nuWebSockets: 20\r\n` +
      String.raw`Content-Length: ${bodyBytes}\r\n\r\na{${bodyBytes}}`,
    'y',
  );
  let count = 0;
  for (; answer.test(text); count += 1);
  const rest = text.slice(count === 0 ? 0 : count * (text.indexOf('\r\n\r\n') + 4 + bodyBytes));
  const first = text.slice(0, rest.length).replace(/Date: [^\r]+/, '');
  assert.equal(rest.replace(/Date: [^\r]+/, ''), first, 'what follows begins as an answer does');
}

test('what a client reads late are whole answers, or its connection ends', async (context) => {
  const filling = await startFilling();
  if (filling === null) return context.skip('the native server cannot be loaded here');
  context.after(filling.close);
  const head = await headBytes(filling);
  for (const gap of GAPS) {
    const bytes = Math.floor((HELD_BYTES - gap) / (TOGETHER - 1)) - head;
    filling.fill(bytes);
    const { socket } = await RawClient.open(filling.port);
    context.after(() => socket.destroy());
    let [text, isClosed, lastAt, quiet] = ['', false, performance.now(), 0];
    socket.removeAllListeners('data').pause();
    socket.on('close', () => {
      isClosed = true;
    });
    const before = filling.router.traffic.open;
    for (let batch = 0; batch < BATCHES_MAX && !isClosed; batch += 1) {
      socket.write(REQUEST.repeat(TOGETHER));
      await delay(1);
      if (filling.router.traffic.open > before) break;
    }
    socket.on('data', (piece) => {
      text += String(piece);
      lastAt = performance.now();
    });
    lastAt = performance.now();
    socket.resume();
    await eventually(() => {
      quiet = performance.now() - lastAt > QUIET_MS ? quiet + 1 : 0;
      return isClosed || quiet === QUIET_LOOKS;
    });
    assertWhole(text, bytes);
    assert.ok(isClosed, `${gap} bytes left`);
  }
});
