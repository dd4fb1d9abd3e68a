/** Requests whose body something in front of the service may read in another way. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FIELDS_MAX } from '../../src/http/head-refusal.js';
import { RawClient } from '../support/http-client.js';
import { startStubServer, type StubServer } from '../support/http-stub-server.js';

const HEAD = 'HTTP/1.1\r\nHost: a\r\n';
/** What an attacker hides behind or within a body. */
const HIDDEN = `GET /hidden ${HEAD}\r\n`;

let server: StubServer;

before(async () => {
  server = await startStubServer();
});

after(() => server.close());

/** A connection of its own: what is hidden in one could be served on no other. */
async function open(context: TestContext): Promise<RawClient> {
  const client = await RawClient.open(server.port);
  context.after(() => client.close());
  return client;
}

/** Everything that is answered until the connection is closed. */
async function answers(client: RawClient): Promise<readonly string[]> {
  const all: string[] = [];
  for (;;) {
    const answer = await client.answer();
    if (answer === null) return all;
    all.push(`${answer.status} ${answer.headers.get('connection') ?? ''} ${answer.body}`);
  }
}

const REFUSED: readonly (readonly [name: string, request: string])[] = [
  [
    'two lengths',
    `POST /echo ${HEAD}Content-Length: 3\r\nContent-Length: ${HIDDEN.length + 3}\r\n\r\nabc`,
  ],
  [
    'two lengths, the first empty',
    `POST /echo ${HEAD}Content-Length: \r\nContent-Length: ${HIDDEN.length}\r\n\r\n`,
  ],
  [
    'two lengths of a GET',
    `GET /large ${HEAD}Content-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n`,
  ],
  ['another encoding', `POST /echo ${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['two encodings', `POST /echo ${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  [
    'two fields of encodings',
    `POST /echo ${HEAD}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'an encoding without a word',
    `POST /echo ${HEAD}Transfer-Encoding: \r\nContent-Length: 5\r\n\r\nabcde`,
  ],
  ['a length with a sign', `POST /echo ${HEAD}Content-Length: +3\r\n\r\nabc`],
  ['a list of lengths', `POST /echo ${HEAD}Content-Length: 3, 3\r\n\r\nabc`],
];

for (const [name, request] of REFUSED) {
  test(`refused, and nothing behind it is served: ${name}`, async (context) => {
    const alone = await open(context);
    alone.write(request);
    const [only = '', ...more] = await answers(alone);
    assert.match(only, /^400 close/);
    assert.deepEqual(more, []);
    const followed = await open(context);
    followed.write(request + HIDDEN);
    for (const answer of await answers(followed)) assert.match(answer, /^400 close/);
  });
}

test('both a length and an encoding are refused', async (context) => {
  const client = await open(context);
  client.write(
    `POST /echo ${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  );
  for (const answer of await answers(client)) assert.match(answer, /^400 close/);
});

test('one length that is said twice is taken by the native server, and by Node.js refused', async (context) => {
  const client = await open(context);
  client.write(`POST /echo ${HEAD}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`);
  const answer = await client.answer();
  if (server.server.transport === 'native') assert.equal(answer?.body, 'abc');
  else assert.equal(answer?.status, 400);
});

const REFUSED_HEADS: readonly string[] = [
  'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'Content-Length: 1\r\nContent-Length: 2\r\n\r\nab',
];

for (const [at, rest] of REFUSED_HEADS.entries()) {
  test(`a refused HEAD is told the length of a body and gets none: ${at}`, async (context) => {
    const client = await open(context);
    let received = '';
    client.socket.on('data', (text) => {
      received += String(text);
    });
    client.write(`HEAD /large ${HEAD}${rest}`);
    await client.closed();
    assert.match(received, /^HTTP\/1\.1 400 Bad Request\r\n.*Content-Length: [1-9].*\r\n\r\n$/s);
    assert.equal(received.split('\r\n\r\n').length, 2);
  });
}

const CHUNKED = `POST /echo ${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

test('a body in chunks is answered on a connection that closes', async (context) => {
  const client = await open(context);
  client.write(`${CHUNKED}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`);
  assert.deepEqual(await answers(client), ['200 close abcde']);
});

test('a long answer to a body in chunks comes whole', async (context) => {
  const client = await open(context);
  const body = 'x'.repeat(900_000);
  client.write(`${CHUNKED}${body.length.toString(16)}\r\n`);
  client.write(`${body}\r\n0\r\n\r\n`);
  client.socket.pause();
  await delay(100);
  client.socket.resume();
  assert.deepEqual(await answers(client), [`200 close ${body}`]);
});

test('a body in chunks that is refused closes too', async (context) => {
  const client = await open(context);
  client.write(`POST /nothing ${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`);
  const [only = '', ...more] = await answers(client);
  assert.match(only, /^404 close/);
  assert.deepEqual(more, []);
});

const BEHIND: readonly (readonly [name: string, body: string])[] = [
  ['behind the last chunk', `1\r\na\r\n0\r\n\r\n${HIDDEN}`],
  ['as trailer fields', `1\r\na\r\n0\r\n${HIDDEN}`],
  ['behind a chunk extension', `1;a=b\r\na\r\n0\r\n\r\n${HIDDEN}`],
  ['in place of the end of a chunk', `1\r\naXX0\r\n\r\n${HIDDEN}`],
];

for (const [name, body] of BEHIND) {
  test(`nothing is served that is hidden ${name}`, async (context) => {
    for (const wait of [0, 1, 60]) {
      const client = await open(context);
      client.write(CHUNKED);
      if (wait > 0) await delay(wait);
      client.write(body.slice(0, -HIDDEN.length));
      if (wait > 0) await delay(wait);
      client.write(HIDDEN);
      // A connection that waits for the rest of a chunk would be cut after ten seconds.
      setTimeout(() => client.close(), 300).unref();
      const all = await answers(client);
      assert.ok(
        all.every((answer) => !answer.includes('/hidden')),
        all.join(),
      );
    }
  });
}

test('a head has as many fields as are told', async (context) => {
  const client = await open(context);
  client.write(`GET /large ${HEAD}${'X-A: b\r\n'.repeat(FIELDS_MAX - 1)}\r\n`);
  setTimeout(() => client.close(), 5_000).unref();
  assert.equal((await client.answer())?.status, 200);
});

test('a body with a length leaves its connection open', async (context) => {
  const client = await open(context);
  for (let round = 0; round < 3; round += 1) {
    client.write(`POST /echo ${HEAD}Content-Length: 3\r\n\r\nabc`);
    assert.equal((await client.answer())?.body, 'abc');
  }
});
