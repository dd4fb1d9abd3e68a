/** Over real sockets: what a client may do to a connection at any moment. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, RawClient, requestText } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { startStubServer, STUB_KEY, type StubServer } from '../support/http-stub-server.js';

const KEY = { 'X-API-KEY': STUB_KEY };
const LOOKUP = '/request/v60?echo=';

let server: StubServer;

before(async () => {
  server = await startStubServer();
});

after(() => server.close());

/** The server answers, and no exchange was forgotten. */
async function assertSound(): Promise<void> {
  assert.equal((await ask(server.port, `${LOOKUP}sound`, KEY)).body, 'echo=sound');
  await eventually(() => server.router.traffic.open === 0 && server.pool.load === 0);
}

test('a lookup answers with every field of its head', async () => {
  const { status, headers, body } = await ask(server.port, '/request/v60?xml', KEY);
  assert.equal(status, 200);
  assert.equal(body, '<a/>');
  assert.equal(headers.get('content-type'), 'application/xml; charset=utf-8');
  assert.equal(headers.get('x-ratelimit-limit'), '100000');
  assert.match(headers.get('x-ratelimit-remaining') ?? '', /^\d+$/);
  assert.equal(headers.get('x-situs-precision'), 'point;estimated');
  assert.match(headers.get('x-situs-dataset') ?? '', /;stale$/);
});

test('a connection is kept for the next request', async () => {
  const client = await RawClient.open(server.port);
  for (const name of ['one', 'two', 'three']) {
    client.get(`${LOOKUP}${name}`, KEY);
    assert.equal((await client.answer())?.body, `echo=${name}`);
  }
  client.close();
});

test('requests in one packet are never answered out of turn', async () => {
  // The native server ends a connection that sends before the answer; what it must not do is mix.
  const client = await RawClient.open(server.port);
  client.write(requestText('GET', `${LOOKUP}1`, KEY) + requestText('GET', `${LOOKUP}2`, KEY));
  const first = await client.answer();
  assert.ok(first === null || first.body === 'echo=1');
  client.close();
  await assertSound();
});

test('clients that leave at any stage harm nobody', async () => {
  const request = requestText('GET', `${LOOKUP}gone`, KEY);
  const stages: ((client: RawClient) => Promise<void> | void)[] = [
    () => undefined,
    (client) => client.write(request.slice(0, 20)),
    (client) => client.write(request),
    async (client) => {
      client.write(requestText('GET', '/request/v60?spin', KEY));
      await new Promise((resolve) => setImmediate(resolve));
    },
    async (client) => {
      client.write(request);
      await client.answer();
      client.write(request);
    },
    (client) => client.write(`${requestText('POST', '/echo', { 'Content-Length': '9' })}half`),
  ];
  for (let round = 0; round < 5; round += 1) {
    for (const stage of stages) {
      const client = await RawClient.open(server.port);
      await stage(client);
      client.socket.resetAndDestroy();
    }
  }
  await assertSound();
});

test('a half-closed connection ends quietly', async () => {
  const client = await RawClient.open(server.port);
  client.get(`${LOOKUP}half`, KEY);
  client.socket.end();
  await client.closed();
  await assertSound();
});

test('HEAD gets the head of a 405 and no body, and the connection goes on', async () => {
  const client = await RawClient.open(server.port);
  client.write(requestText('HEAD', '/echo', KEY));
  const head = await client.answer(true);
  assert.equal(head?.status, 405);
  assert.equal(head?.headers.get('allow'), 'POST');
  client.get(`${LOOKUP}next`, KEY);
  assert.equal((await client.answer())?.body, 'echo=next');
  client.close();
});

test('a body is echoed, and one too large is read to its end before the 413', async () => {
  const small = await RawClient.open(server.port);
  small.write(`${requestText('POST', '/echo/', { 'Content-Length': '5' })}ab`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  small.write('cde');
  assert.equal((await small.answer())?.body, 'abcde');
  const bytes = 3_000_000;
  small.write(requestText('POST', '/echo', { 'Content-Length': String(bytes) }));
  for (let sent = 0; sent < bytes; sent += 100_000) small.write('x'.repeat(100_000));
  const refused = await small.answer();
  assert.equal(refused?.status, 413);
  assert.equal(refused?.headers.get('content-type'), 'application/problem+json');
  small.get(`${LOOKUP}after`, KEY);
  assert.equal((await small.answer())?.body, 'echo=after');
  small.close();
});

test('an upload that never ends is answered at its deadline', async () => {
  const client = await RawClient.open(server.port);
  client.write(`${requestText('POST', '/impatient', { 'Content-Length': '9' })}half`);
  assert.equal((await client.answer())?.status, 504);
  client.close();
  await assertSound();
});

test('a handler that throws is a 500', async () => {
  const { status, body } = await ask(server.port, '/broken');
  assert.equal(status, 500);
  assert.ok(!body.includes('secret'), 'what was thrown is not told');
});
