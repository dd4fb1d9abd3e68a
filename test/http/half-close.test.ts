/** Clients that end their half of the connection behind the request, as `nc -N` does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../support/http-eventually.js';
import { RawClient } from '../support/http-client.js';
import {
  LARGE_BYTES,
  startStubServer,
  STUB_KEY,
  type StubServer,
} from '../support/http-stub-server.js';

const HEAD = `HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${STUB_KEY}\r\n`;

const ASKED: readonly (readonly [name: string, request: string, status: number])[] = [
  ['an unknown path', `GET /nothing ${HEAD}\r\n`, 404],
  ['a lookup', `GET /request/v60?echo ${HEAD}\r\n`, 200],
  ['a slow lookup', `GET /request/v60?sleep ${HEAD}\r\n`, 200],
  ['a body', `POST /echo ${HEAD}Content-Length: 3\r\n\r\nabc`, 200],
  [
    'a body in chunks',
    `POST /echo ${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    200,
  ],
  [
    'a body in chunks that takes a while',
    `POST /slow ${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    200,
  ],
];

let server: StubServer;

before(async () => {
  server = await startStubServer();
});

after(() => server.close());

for (const [name, request, status] of ASKED) {
  test(`${name} is answered after the client has ended its half`, async () => {
    const client = await RawClient.open(server.port);
    client.socket.end(request);
    assert.equal((await client.answer())?.status, status);
    await client.closed();
    assert.equal(server.router.traffic.open, 0);
  });
}

test('so are those of more clients at once than one look at the sockets tells of', async () => {
  const clients: RawClient[] = [];
  for (let count = 0; count < 1_300; count += 1) clients.push(await RawClient.open(server.port));
  for (const { socket } of clients) socket.end(`GET /request/v60?echo ${HEAD}\r\n`);
  const answers = await Promise.all(clients.map((client) => client.answer()));
  assert.equal(answers.filter((answer) => answer?.status === 200).length, clients.length);
  await Promise.all(clients.map((client) => client.closed()));
});

test('a large answer comes whole after the client has ended its half', async () => {
  const client = await RawClient.open(server.port);
  client.socket.end(`GET /large ${HEAD}\r\n`);
  assert.equal((await client.answer())?.body.length, LARGE_BYTES);
  client.close();
});

test('of bodies that end before their length nothing is kept', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const bytes = 1_000_000;
  const held = process.memoryUsage().arrayBuffers;
  const request = `POST /echo ${HEAD}Content-Length: ${bytes + 1}\r\n\r\n${'x'.repeat(bytes)}`;
  for (let sent = 0; sent < 40; sent += 1) {
    const client = await RawClient.open(server.port);
    client.socket.end(request);
    await client.closed();
    client.close();
  }
  await eventually(() => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers - held < 10 * bytes;
  }, 5_000);
});
