/** The port over sockets: what is sent, what comes back, and every way it can go wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLS_MAX, RESPONSE_BYTES_MAX } from '../../src/provider/client.js';
import { eventually } from '../support/http-eventually.js';
import {
  clientOf,
  GET,
  KEY,
  kindOf,
  POST,
  startRawProvider,
  startSimulator,
} from '../support/simulated-provider.js';

function answerText(body: string, fields: readonly string[] = [], status = '200 OK'): string {
  return [
    `HTTP/1.1 ${status}`,
    ...fields,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

test('a call has the fields named and no other, below the path of the address', async (t) => {
  const raw = await startRawProvider(t, (socket) => socket.write(answerText('{}')));
  const client = clientOf(t, `${raw.url}/v3/`);
  assert.equal(kindOf(await client.send(POST)), 'answer 200');
  assert.equal(kindOf(await client.send(GET)), 'answer 200');
  const { host } = new URL(raw.url);
  const common = [
    `host: ${host}`,
    'connection: keep-alive',
    `x-api-key: ${KEY}`,
    'accept: application/json',
    'accept-encoding: identity',
  ];
  assert.equal(
    raw.requests[0],
    [
      'POST /v3/tax/connections/c/orders HTTP/1.1',
      ...common,
      'content-type: application/json',
      'content-length: 9',
      '',
      '{"a":1.0}',
    ].join('\r\n'),
  );
  assert.equal(
    raw.requests[1],
    ['GET /v3/tax/connections/c/orders/o HTTP/1.1', ...common, '', ''].join('\r\n'),
  );
});

test('of an answer nothing comes back but status, type, location and bytes', async (t) => {
  const body = '{ "b": 10.10,\n"a": 1e2 }';
  const raw = await startRawProvider(t, (socket) =>
    socket.write(
      answerText(
        body,
        [
          'Content-Type: application/json;charset=utf-8',
          'Set-Cookie: a=b',
          'X-Trace: 1',
          'Location: /orders/1',
          'Retry-After: 3',
        ],
        '201 Created',
      ),
    ),
  );
  assert.deepEqual(await clientOf(t, raw.url).send(POST), {
    kind: 'answer',
    status: 201,
    contentType: 'application/json;charset=utf-8',
    location: '/orders/1',
    body: Buffer.from(body),
    isUtf8: true,
  });
});

test('fields that are not plain text are left out', async (t) => {
  const raw = await startRawProvider(t, (socket) =>
    socket.write(
      answerText('{}', ['Content-Type: application/json\x80', `Location: /${'x'.repeat(3_000)}`]),
    ),
  );
  const outcome = await clientOf(t, raw.url).send(GET);
  assert.ok(outcome.kind === 'answer');
  assert.deepEqual([outcome.contentType, outcome.location], [null, null]);
});

test('connections are kept', async (t) => {
  const simulator = await startSimulator(t, { key: KEY });
  const client = clientOf(t, simulator.url);
  for (let turn = 0; turn < 20; turn += 1) await client.send(POST);
  // The next call may begin before the connection of the last one is free again.
  assert.ok(new Set(simulator.received.map(({ remotePort }) => remotePort)).size <= 2);
  assert.equal(simulator.received.length, 20);
});

/** Broken answers of HTTP, and what becomes of them. */
const BROKEN: readonly (readonly [what: string, bytes: string, kind: string])[] = [
  ['no HTTP', 'hello\r\n\r\n', 'garbage'],
  ['a bad status line', 'HTTP/1.1 abc\r\n\r\n', 'garbage'],
  ['a field broken by a control', answerText('{}', ['X: a\x00b']), 'garbage'],
  ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(40_000)}\r\n`, 'garbage'],
  ['a packed body', answerText('{}', ['Content-Encoding: gzip']), 'garbage'],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'unreachable',
  ],
  [
    'a redirect is an answer',
    answerText('', ['Location: http://127.0.0.1:1/'], '302 Found'),
    'answer 302',
  ],
];

test('broken answers are outcomes', async (t) => {
  for (const [what, bytes, kind] of BROKEN) {
    const raw = await startRawProvider(t, (socket) => socket.write(bytes, 'latin1'));
    assert.equal(kindOf(await clientOf(t, raw.url).send(POST)), kind, what);
    assert.equal(raw.requests.length, 1, `${what}: no redirect is followed, nothing repeated`);
  }
});

test('an answer that ends early is no answer', async (t) => {
  const raw = await startRawProvider(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":');
  });
  assert.equal(kindOf(await clientOf(t, raw.url).send(GET)), 'unreachable');
  assert.equal(raw.requests.length, 1, 'an answer had begun');
});

test('an answer over the limit is cut off', async (t) => {
  const chunk = Buffer.alloc(1_048_576, ' ');
  const raw = await startRawProvider(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const pump = (): void => {
      let more = !socket.destroyed;
      while (more) {
        socket.write(`${chunk.byteLength.toString(16)}\r\n`);
        socket.write(chunk);
        more = socket.write('\r\n') && !socket.destroyed;
      }
    };
    socket.on('drain', pump);
    pump();
  });
  assert.equal(kindOf(await clientOf(t, raw.url).send(GET)), 'too-large');
  await eventually(() => raw.sockets[0]?.destroyed === true);
  assert.ok((raw.sockets[0]?.bytesWritten ?? 0) < RESPONSE_BYTES_MAX * 3);
});

test('an answer as long as the limit arrives', async (t) => {
  const body = `"${'x'.repeat(RESPONSE_BYTES_MAX - 2)}"`;
  const raw = await startRawProvider(t, (socket) => socket.write(answerText(body)));
  assert.equal(kindOf(await clientOf(t, raw.url).send(GET)), 'answer 200');
});

test('a provider that closes while its answer is read ends nothing else', async (t) => {
  const body = JSON.stringify('x'.repeat(4_194_304));
  const raw = await startRawProvider(t, (socket) => {
    socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`);
  });
  const client = clientOf(t, raw.url);
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => client.send(GET)));
  assert.deepEqual(outcomes.map(kindOf), Array(6).fill('answer 200'));
  for (const outcome of outcomes) {
    assert.equal(outcome.kind === 'answer' && outcome.body.byteLength, body.length);
  }
});

test('silence ends at the time-out, before the head and within the body', async (t) => {
  for (const bytes of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{']) {
    const raw = await startRawProvider(t, (socket) => {
      if (bytes !== '') socket.write(bytes);
    });
    const outcome = await clientOf(t, raw.url, { timeoutMs: 1_000 }).send(GET);
    assert.equal(kindOf(outcome), 'timeout');
    await eventually(() => raw.sockets[0]?.destroyed === true);
    assert.equal(raw.requests.length, 1);
  }
});

test('a provider that trickles ends at the time-out too', async (t) => {
  const raw = await startRawProvider(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 10);
    socket.on('close', () => clearInterval(timer));
  });
  assert.equal(kindOf(await clientOf(t, raw.url, { timeoutMs: 1_000 }).send(GET)), 'timeout');
});

test('a cut connection: reading is tried once more, anything else never', async (t) => {
  for (const [call, attempts] of [
    [GET, 2],
    [POST, 1],
    [{ ...GET, method: 'DELETE' }, 1],
    [{ ...POST, method: 'PATCH' }, 1],
  ] as const) {
    const raw = await startRawProvider(t, (socket) => socket.destroy());
    assert.equal(kindOf(await clientOf(t, raw.url).send(call)), 'unreachable');
    assert.equal(raw.requests.length, attempts, call.method);
  }
  const raw = await startRawProvider(t, (socket, count) => {
    if (count === 1) socket.destroy();
    else socket.write(answerText('{}'));
  });
  assert.equal(kindOf(await clientOf(t, raw.url).send(GET)), 'answer 200');
});

test('who has gone is not waited for, and the provider is cut off', async (t) => {
  const raw = await startRawProvider(t, () => undefined);
  const client = clientOf(t, raw.url);
  const gone = new AbortController();
  const sent = client.send(POST, gone.signal);
  await eventually(() => raw.requests.length === 1);
  gone.abort();
  assert.equal(kindOf(await sent), 'gone');
  await eventually(() => raw.sockets[0]?.destroyed === true);
  assert.equal(kindOf(await client.send(POST, gone.signal)), 'gone');
  assert.equal(raw.requests.length, 1);
});

test('credentials that cannot be sent are not', async (t) => {
  const raw = await startRawProvider(t, (socket) => socket.write(answerText('{}')));
  const client = clientOf(t, raw.url);
  for (const apiKey of ['', ' a', 'a\r\nX-Evil: 1', 'a\nb', 'schlüssel', 'a\0']) {
    assert.equal(kindOf(await client.send({ ...GET, apiKey })), 'unusable-credentials', apiKey);
  }
  for (const path of [
    '/tax/connections/../x',
    '/tax/./x',
    '/tax//x',
    'x',
    '/a b',
    '/a?b=\r\n',
    '/a#b',
    '/..',
    '/a/..?x=1',
    '//evil.example/x',
  ]) {
    assert.equal(kindOf(await client.send({ ...GET, path })), 'unusable-credentials', path);
  }
  assert.deepEqual(raw.requests, []);
});

test('more calls than may be under way are refused at once', async (t) => {
  const raw = await startRawProvider(t, () => undefined);
  const client = clientOf(t, raw.url);
  const gone = new AbortController();
  const waiting = Array.from({ length: CALLS_MAX }, () => client.send(GET, gone.signal));
  assert.equal(kindOf(await client.send(GET)), 'busy');
  gone.abort();
  const kinds = new Set((await Promise.all(waiting)).map(kindOf));
  assert.deepEqual([...kinds], ['gone']);
  const again = client.send(GET, AbortSignal.timeout(20));
  assert.equal(kindOf(await again), 'gone', 'there is room again');
});

test('closing cuts what is under way', async (t) => {
  const raw = await startRawProvider(t, () => undefined);
  const client = clientOf(t, raw.url);
  const sent = client.send(POST);
  await eventually(() => raw.requests.length === 1);
  await client.close();
  assert.equal(kindOf(await sent), 'unreachable');
  assert.equal(kindOf(await client.send(POST)), 'unreachable');
});
