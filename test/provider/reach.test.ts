/** Whom calls reach, and what becomes of those that reach nobody. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  clientOf,
  GET,
  KEY,
  kindOf,
  POST,
  selfSigned,
  startSimulator,
} from '../support/simulated-provider.js';
import { skipForWantOf } from '../support/wanting.js';

test('where nothing was sent, a POST is tried once more', async (t) => {
  let dialled = 0;
  const client = clientOf(t, 'http://127.0.0.1:9', {
    dial: (_target, callback) => {
      dialled += 1;
      callback(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), null);
    },
  });
  assert.deepEqual(await client.send(POST), {
    kind: 'unreachable',
    reason: 'ECONNREFUSED',
    sent: false,
  });
  assert.equal(dialled, 2);
});

test('nobody listens', async (t) => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const outcome = await clientOf(t, `http://127.0.0.1:${port}`).send(POST);
  assert.deepEqual(outcome, { kind: 'unreachable', reason: 'ECONNREFUSED', sent: false });
});

test('an address the guard refuses is not tried again', async (t) => {
  let asked = 0;
  const client = clientOf(t, 'https://provider.test', {
    allowPrivate: false,
    resolve: async () => {
      asked += 1;
      return ['127.0.0.1'];
    },
  });
  assert.deepEqual(await client.send(GET), {
    kind: 'unreachable',
    reason: 'SITUS_REFUSED_ADDRESS',
    sent: false,
  });
  assert.equal(asked, 1);
});

test('a name that is never resolved ends at the time to connect', async (t) => {
  const client = clientOf(t, 'https://provider.test', {
    connectMs: 20,
    resolve: () => new Promise(() => undefined),
  });
  assert.deepEqual(await client.send(POST), { kind: 'timeout', reason: 'ETIMEDOUT', sent: false });
});

test('a name that does not exist is not reached', async (t) => {
  const client = clientOf(t, 'https://provider.invalid', {
    resolve: () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })),
  });
  assert.deepEqual(await client.send(POST), {
    kind: 'unreachable',
    reason: 'ENOTFOUND',
    sent: false,
  });
});

test('TLS is verified: the name and who signed', async (t) => {
  const tls = selfSigned();
  if (tls === null) {
    skipForWantOf(t, 'openssl is not here');
    return;
  }
  const simulator = await startSimulator(t, { tls, key: KEY });
  const { port } = new URL(simulator.url);
  const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];
  const unsigned = clientOf(t, `https://provider.test:${port}`, { resolve });
  assert.deepEqual(await unsigned.send(GET), {
    kind: 'unreachable',
    reason: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    sent: false,
  });
  const other = clientOf(t, `https://other.test:${port}`, { resolve, ca: tls.cert });
  assert.deepEqual(await other.send(GET), {
    kind: 'unreachable',
    reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
    sent: false,
  });
  assert.equal(simulator.received.length, 0);
  const trusted = clientOf(t, `https://provider.test:${port}`, { resolve, ca: tls.cert });
  assert.equal(kindOf(await trusted.send(GET)), 'answer 404');
  assert.equal(simulator.received[0]?.headers.host, `provider.test:${port}`);
});
