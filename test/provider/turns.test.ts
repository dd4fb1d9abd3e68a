/** A long answer takes no turn of the event loop for itself: others are answered meanwhile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Agent } from 'undici';
import { guardedConnect } from '../../src/provider/connect.js';
import { selfSigned } from '../support/simulated-provider.js';
import { skipForWantOf } from '../support/wanting.js';

const LENGTH = 4 * 1_048_576;
/** What Node.js reads at a time. */
const PIECE = 65_536;
/** The longest record of TLS, of whose last one in a piece the rest is read too. */
const RECORD = 16_384;

/** A server that has sent all before it is read, in records of some length where it has TLS. */
const SERVER = `
  const { parentPort, workerData: { tls, length, record } } = require('node:worker_threads');
  const answer = (request, response) => {
    if (tls !== null) request.socket.setMaxSendFragment(record);
    response.end(Buffer.alloc(length, 'x'));
  };
  const server =
    tls === null
      ? require('node:http').createServer(answer)
      : require('node:https').createServer(tls, answer);
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

interface Secure {
  readonly key: string;
  readonly cert: string;
}

/** The most bytes of an answer that one turn of the event loop brought. */
async function mostInATurn(t: TestContext, tls: Secure | null, record = RECORD): Promise<number> {
  const workerData = { tls, length: LENGTH, record };
  const server = new Worker(SERVER, { eval: true, workerData });
  t.after(() => server.terminate());
  const port = Number((await once(server, 'message'))[0]);
  const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];
  const options = { allowPrivate: true, resolve, ...(tls === null ? {} : { ca: tls.cert }) };
  const agent = new Agent({ connect: guardedConnect(options) });
  t.after(() => agent.destroy());
  const origin = `${tls === null ? 'http' : 'https'}://provider.test:${port}`;
  let [most, inTurn, received, open] = [0, 0, 0, true];
  const next = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (open) setImmediate(next);
  };
  next();
  await new Promise<void>((done, reject) => {
    agent.dispatch(
      { origin, path: '/', method: 'GET' },
      {
        onConnect: () => undefined,
        onHeaders: () => true,
        onData: ({ length }) => {
          inTurn += length;
          received += length;
          return true;
        },
        onComplete: () => done(),
        onError: reject,
      },
    );
  }).finally(() => {
    open = false;
  });
  assert.equal(received, LENGTH);
  return most;
}

test('a turn reads one piece of an answer, whatever the system holds', async (t) => {
  const most = await mostInATurn(t, null);
  assert.ok(most <= PIECE, `${most} bytes`);
});

test('the same over TLS, however long its records are', async (t) => {
  const tls = selfSigned();
  if (tls === null) return skipForWantOf(t, 'openssl is not here');
  for (const record of [RECORD, 8_192, 1_400]) {
    const most = await mostInATurn(t, tls, record);
    assert.ok(most <= PIECE + RECORD, `${most} bytes, records of ${record}`);
  }
});
