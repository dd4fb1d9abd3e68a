/** Both HTTP servers behind one port, and where they differ by nature. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { FIELDS_MAX } from '../../src/http/head-refusal.js';
import { createServer } from '../../src/http/open-transport.js';
import { headOf } from '../../src/http/reply.js';
import type { RawServer } from '../../src/http/transport.js';
import { Router } from '../../src/http/router.js';
import { createLog } from '../../src/log.js';
import { AHEAD_MAX } from '../../src/http/node-connection.js';
import { RawClient } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { answerTo, HOST, serve } from '../support/http-either.js';

const manyFields = Array.from({ length: FIELDS_MAX }, (_, at) => `h${at}: 1\r\n`).join('');

/** What the server of Node.js says to requests that no handler gets to see. */
const REFUSED: readonly (readonly [name: string, text: string, status: number])[] = [
  ['no request', 'nonsense\r\n\r\n', 400],
  ['a field with a space in its name', `GET /small HTTP/1.1\r\n${HOST}a b: c\r\n\r\n`, 400],
  ['a folded field', `GET /small HTTP/1.1\r\n${HOST}a: b\r\n c\r\n\r\n`, 400],
  ['lines that end in a line feed alone', 'GET /small HTTP/1.1\nHost: a\n\n', 400],
  ['HTTP/2.0', `GET /small HTTP/2.0\r\n${HOST}\r\n`, 505],
  ['HTTP/0.9', `GET /small HTTP/0.9\r\n${HOST}\r\n`, 505],
  ['a method that nobody knows', `FOO /small HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a path that is not ASCII', `GET /\xe4 HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['no host', 'GET /small HTTP/1.1\r\n\r\n', 400],
  ['two hosts', `GET /small HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400],
  ['a long head', `GET /small HTTP/1.1\r\n${HOST}a: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['many fields', `GET /small HTTP/1.1\r\n${HOST}${manyFields}\r\n`, 431],
  [
    'a chunk without a size',
    `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
    400,
  ],
  ['a head that does not end', 'GET /small HTTP/1.1\r\nHost:', 408],
];

for (const [name, text, status] of REFUSED) {
  test(`node: ${name} is answered ${status} with a problem document`, async (context) => {
    const served = await serve(context, 'node');
    const client = await served!.open();
    client.socket.write(text, 'latin1');
    const answer = await client.answer();
    assert.equal(answer?.status, status);
    assert.equal(answer.headers.get('content-type'), 'application/problem+json');
    assert.equal(answer.headers.get('connection'), 'close');
    const problem = JSON.parse(answer.body) as Record<string, unknown>;
    assert.equal(problem['status'], status);
    assert.ok(typeof problem['title'] === 'string' && typeof problem['detail'] === 'string');
    await client.closed;
    await eventually(() => served!.router.traffic.open === 0);
  });
}

test('node: how long a connection rests is told, and that it ends', async (context) => {
  const served = await serve(context, 'node');
  const client = await served!.open();
  client.get('/small');
  const first = await client.answer();
  assert.equal(first?.headers.get('connection'), 'keep-alive');
  assert.equal(first.headers.get('keep-alive'), 'timeout=10');
  client.get('/small', { Connection: 'close' });
  const last = await client.answer();
  assert.equal(last?.headers.get('connection'), 'close');
  assert.equal(last.headers.get('keep-alive'), undefined);
  await client.closed;
});

test('HTTP/1.0, and a first line in parts, are answered by the server of Node.js, and 505 by the native one', async (context) => {
  const [text, part] = ['GET /small HTTP/1.0\r\n\r\n', 'GET /sma'];
  const node = await serve(context, 'node');
  assert.deepEqual(await answerTo(node!, text), [200, 'small']);
  const client = await node!.open();
  client.write(part);
  client.write(`ll HTTP/1.1\r\n${HOST}\r\n`);
  assert.equal((await client.answer())?.body, 'small');
  const native = await serve(context, 'native');
  if (native === null) return;
  assert.equal((await answerTo(native, text))[0], 505);
  // Before the rest could come; the docs tell it: should a later version read on, they are mended.
  assert.equal((await answerTo(native, part))[0], 505);
});

for (const transport of ['native', 'node'] as const) {
  test(`${transport}: who asks for another protocol is answered in this one`, async (context) => {
    const served = await serve(context, transport);
    if (served === null) return;
    const asks = `${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n`;
    const client = await served.open();
    for (let round = 0; round < 3; round += 1) {
      client.write(`GET /small HTTP/1.1\r\n${asks}\r\n`);
      assert.equal((await client.answer())?.body, 'small');
      client.write(`POST /echo HTTP/1.1\r\n${asks}Content-Length: 5\r\n\r\nab`);
      client.write('cde');
      assert.equal((await client.answer())?.body, 'abcde');
    }
  });

  test(`${transport}: connections that are open go on when no new ones are taken`, async (context) => {
    const served = await serve(context, transport);
    if (served === null) return;
    const client = await served.open();
    client.get('/small');
    assert.equal((await client.answer())?.body, 'small');
    served.server.stopListening();
    await eventually(async () => {
      try {
        (await RawClient.open(served.port)).close();
        return false;
      } catch {
        return true;
      }
    });
    client.get('/small');
    assert.equal((await client.answer())?.body, 'small');
  });

  test(`${transport}: a port that is taken is not had`, async (context) => {
    const served = await serve(context, transport);
    if (served === null) return;
    const second = await createServer({ transport });
    context.after(() => second.close());
    assert.equal(await second.listen('127.0.0.1', served.port), null);
  });

  test(`${transport}: a closed server has cut everybody, and told of it`, async (context) => {
    const served = await serve(context, transport);
    if (served === null) return;
    const client = await served.open();
    client.get('/never');
    await eventually(() => served.router.traffic.open === 1);
    served.server.close();
    assert.equal(served.router.traffic.open, 0);
    await client.closed;
  });

  test(`${transport}: what a handler throws outside the router ends its connection alone`, async (context) => {
    const faults: unknown[] = [];
    const server = await createServer({ transport, fault: (error) => faults.push(error) }).catch(
      () => null,
    );
    if (server === null) return context.skip('it does not load here');
    server.any('/*', () => {
      throw new Error('a bug');
    });
    const port = await server.listen('127.0.0.1', 0);
    context.after(() => server.close());
    for (let round = 0; round < 2; round += 1) {
      const client = await RawClient.open(port!);
      client.get('/small');
      assert.equal(await client.answer(), null);
    }
    assert.equal(faults.length, 2);
  });

  test(`${transport}: what fails at the end of a turn ends its connection alone`, async (context) => {
    const server = await createServer({ transport }).catch(() => null);
    if (server === null) return context.skip('it does not load here');
    const told: string[] = [];
    const fails = (): never => {
      throw new Error('a bug');
    };
    const route = { method: 'GET', bodyBytesMax: 0, deadlineMs: 0, isAtOnce: () => false } as const;
    const router = new Router(
      [
        // Not even the answer that tells of a bug can be made.
        { ...route, path: '/fails', handle: fails, fault: fails },
        {
          ...route,
          path: '/late',
          handle: (_request, answer) =>
            answer.send({ status: 200, head: headOf('text/plain'), body: 'x' }),
        },
      ],
      createLog('error', (line) => told.push(line)),
    );
    router.attach(server);
    const port = await server.listen('127.0.0.1', 0);
    context.after(() => server.close());
    for (let round = 0; round < 2; round += 1) {
      const [failing, fine] = [await RawClient.open(port!), await RawClient.open(port!)];
      context.after(() => fine.close());
      failing.get('/fails');
      fine.get('/late');
      assert.equal(await failing.answer(), null);
      assert.equal((await fine.answer())?.status, 200);
    }
    assert.equal(router.traffic.open, 0);
    assert.ok(told.length >= 2 && told.every((line) => line.includes('handler failed')), `${told}`);
  });
}

test('node: who sends too many requests ahead is cut, whoever sends fewer is answered', async (context) => {
  const served = await serve(context, 'node');
  const text = `GET /small HTTP/1.1\r\n${HOST}\r\n`;
  const patient = await served!.open();
  patient.write(text.repeat(AHEAD_MAX));
  for (let at = 0; at < AHEAD_MAX; at += 1) assert.equal((await patient.answer())?.status, 200);
  const greedy = await served!.open();
  greedy.write(`GET /never HTTP/1.1\r\n${HOST}\r\n${text.repeat(AHEAD_MAX + 2)}`);
  assert.equal(await greedy.answer(), null);
  await eventually(() => served!.router.traffic.open === 0);
});

const PRELOAD = fileURLToPath(new URL('../support/node-transport.js', import.meta.url));
const OPEN = fileURLToPath(new URL('../../src/http/open-transport.js', import.meta.url));

/** What a process in which the native server cannot load prints for a choice. */
function chosen(transport: string): { readonly stdout: string; readonly stderr: string } {
  const script = `
    const { createServer } = await import(${JSON.stringify(OPEN)});
    const log = { warn: (text, fields) => console.log(text, JSON.stringify(fields)) };
    const { transport } = await createServer({ transport: ${JSON.stringify(transport)}, log });
    console.log('chosen', transport);`;
  return spawnSync(process.execPath, ['--import', PRELOAD, '--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
}

test('without the native server the one of Node.js answers, told once, unless that is demanded', () => {
  const [line = '', last, ...more] = chosen('auto').stdout.split('\n');
  assert.match(line, /^the native HTTP server cannot load: the HTTP server of Node\.js answers/);
  assert.match(line, /more processor time.*"reason":"its binary needs Node\.js 20 with glibc/);
  assert.deepEqual([last, ...more], ['chosen node', '']);
  assert.equal(chosen('node').stdout, 'chosen node\n');
  const { stdout, stderr } = chosen('native');
  assert.equal(stdout, '');
  assert.match(stderr, /SITUS_TRANSPORT is native, and that server cannot load: its binary needs/);
});

test('a choice that loads is told to nobody', async () => {
  const told: string[] = [];
  const server = await createServer({
    transport: 'node',
    log: createLog('debug', (line) => told.push(line)),
  });
  server.close();
  assert.deepEqual(told, []);
});

for (const transport of ['native', 'node'] as const) {
  test(`${transport}: a WebSocket that is taken later stays open, whatever is put into memory then`, async (context) => {
    let server: RawServer;
    try {
      server = await createServer({ transport });
    } catch (error) {
      context.skip(String(error));
      return;
    }
    const kept: Buffer[] = [];
    let closed = 0;
    server.sockets(
      '/later',
      { messageBytesMax: 1_024, bufferedBytesMax: 65_536 },
      (raw, _request, accept) => {
        raw.onAborted(() => undefined);
        setImmediate(() =>
          accept({
            open: (socket) => {
              socket.send(Buffer.from('opened'));
              // What the end of an HTTP connection has freed is taken, with the bit of one to be closed.
              for (let bytes = 16; bytes < 400; bytes += 8)
                kept.push(Buffer.allocUnsafeSlow(bytes).fill(0x10));
            },
            message: () => undefined,
            drained: () => undefined,
            alive: () => undefined,
            closed: () => {
              closed += 1;
            },
          }),
        );
      },
    );
    const port = await server.listen('127.0.0.1', 0);
    context.after(() => server.close());
    const sockets: WebSocket[] = [];
    for (let index = 0; index < 40; index += 1) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/later`);
      sockets.push(socket);
      await Promise.race([once(socket, 'message'), once(socket, 'close')]);
    }
    assert.equal(closed, 0);
    assert.ok(sockets.every(({ readyState }) => readyState === WebSocket.OPEN));
    for (const socket of sockets) socket.terminate();
    await eventually(() => closed === sockets.length);
  });
}
