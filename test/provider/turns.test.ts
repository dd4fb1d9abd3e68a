/** A long answer takes no turn of the event loop for itself: others are answered meanwhile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Agent } from 'undici';
import { guardedConnect } from '../../src/provider/connect.js';
import type { GuardOptions } from '../../src/provider/guard.js';
import { selfSigned } from '../support/simulated-provider.js';
import { skipForWantOf } from '../support/wanting.js';

const LENGTH = 4 * 1_048_576;
/** What Node.js reads at a time. */
const PIECE = 65_536;

/** The most bytes of an answer that one turn of the event loop brought. */
async function mostInATurn(
  t: TestContext,
  options: GuardOptions,
  makeServer: (listener: RequestListener) => Server,
): Promise<number> {
  const server = makeServer((_request, response) => response.end(Buffer.alloc(LENGTH, 'x')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const agent = new Agent({ connect: guardedConnect(options) });
  t.after(() => agent.destroy());
  const { port } = server.address() as AddressInfo;
  const scheme = options.ca === undefined ? 'http' : 'https';
  let [most, inTurn, received, open] = [0, 0, 0, true];
  const next = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (open) setImmediate(next);
  };
  next();
  await new Promise<void>((resolve, reject) => {
    agent.dispatch(
      { origin: `${scheme}://provider.test:${port}`, path: '/', method: 'GET' },
      {
        onConnect: () => undefined,
        onHeaders: () => true,
        onData: ({ length }) => {
          inTurn += length;
          received += length;
          return true;
        },
        onComplete: () => resolve(),
        onError: reject,
      },
    );
  }).finally(() => {
    open = false;
  });
  assert.equal(received, LENGTH);
  return most;
}

const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];

test('a turn reads one piece of an answer, whatever the system holds', async (t) => {
  const most = await mostInATurn(t, { allowPrivate: true, resolve }, createServer);
  assert.ok(most <= PIECE, `${most} bytes`);
});

test('the same over TLS', async (t) => {
  const tls = selfSigned();
  if (tls === null) return skipForWantOf(t, 'openssl is not here');
  const options = { allowPrivate: true, resolve, ca: tls.cert };
  const most = await mostInATurn(t, options, (listener) => createSecureServer(tls, listener));
  // What was read is decrypted in records of 16 KiB at most.
  assert.ok(most <= 2 * PIECE, `${most} bytes`);
});
