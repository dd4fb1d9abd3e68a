/** Clients that ask and reset their connection at once; some answers meet a socket that is gone. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startChildServer } from '../support/http-child-server.js';
import { ask, RawClient } from '../support/http-client.js';

/** The native server ended with one reset of many, which met an answer at its last bytes. */
const TRIES = 1_500;
/** That of Node.js would end for an error that nobody takes, which each reset of a kind brings. */
const TRIES_OVER_NODE = 100;
const AT_ONCE = 4;

async function resetAfter(port: number, text: string, wait: boolean): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  if (wait) await new Promise(setImmediate);
  socket.resetAndDestroy();
}

const ASKED: readonly string[] = [
  'GET /large HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3),
  'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(200),
  'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
];

test('resets do not end the process', async (context) => {
  const { port, process: child } = await startChildServer(context);
  const isNative = (await ask(port, '/nothing')).headers.has('uwebsockets');
  const tries = isNative ? TRIES : TRIES_OVER_NODE;
  for (const text of ASKED) {
    await context.test(JSON.stringify(text.slice(0, 60)), async () => {
      for (let at = 0; at < tries && child.exitCode === null; at += AT_ONCE) {
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, of) =>
            resetAfter(port, text, of % 2 === 0).catch(() => undefined),
          ),
        );
      }
      assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
      const client = await RawClient.open(port);
      client.get('/nothing');
      assert.equal((await client.answer())?.status, 404);
      client.close();
    });
  }
});
