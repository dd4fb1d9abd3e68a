/** Events over real connections. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { outboxCounts } from '../../src/store/outbox-count.js';
import { listOutbox } from '../../src/store/outbox.js';
import { eventually } from '../support/http-eventually.js';
import { openOutbox, OLD_SECRET, SECRET, secretsOf, toEndpoint } from '../support/event-outbox.js';
import { answering, type Got, startReceiver } from '../support/event-receivers.js';

function standardFields({ headers }: Got): Record<string, string> {
  return Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(headers[name]),
    ]),
  );
}

test('a receiver of Standard Webhooks verifies what it gets', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent('conn-1');
  await outbox.pass(0);
  const [got] = receiver.got;
  assert.ok(got && receiver.got.length === 1);
  assert.equal(`${got.method} ${got.path}`, 'POST /hooks?for=situs');
  assert.equal(got.headers['content-type'], 'application/json');
  const payload = new Webhook(SECRET).verify(got.body, standardFields(got));
  assert.deepEqual(payload, {
    event: 'merchant.credentials.set',
    timestamp: new Date(outbox.now).toISOString().replace('T', ' '),
    data: { merchantId: 'm-1', connectionId: 'conn-1' },
  });
  assert.equal(
    got.headers['x-signature'],
    createHmac('sha256', SECRET).update(got.body).digest('hex'),
  );
  assert.ok(Buffer.byteLength(got.body) < 20_000);
  assert.throws(() => new Webhook(OLD_SECRET).verify(got.body, standardFields(got)));
  assert.throws(() => new Webhook(SECRET).verify(`${got.body} `, standardFields(got)));
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('during a rotation receivers with either secret verify', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(
    context,
    toEndpoint(receiver.url, {
      secret: `${SECRET},${OLD_SECRET}`,
    }),
  );
  await outbox.addEvent();
  await outbox.pass(0);
  const got = receiver.got[0]!;
  for (const secret of [SECRET, OLD_SECRET]) {
    assert.ok(new Webhook(secret).verify(got.body, standardFields(got)));
  }
  assert.equal(
    got.headers['x-signature'],
    createHmac('sha256', OLD_SECRET).update(got.body).digest('hex'),
  );
});

test('each attempt has the same id and bytes, and the time it was made at', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = answering(500);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent();
  await outbox.pass(0);
  await outbox.pass(5_000);
  const [first, second] = receiver.got;
  assert.ok(first && second);
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  assert.equal(second.body, first.body);
  assert.equal(
    Number(second.headers['webhook-timestamp']),
    Number(first.headers['webhook-timestamp']) + 5,
  );
  assert.notEqual(second.headers['webhook-signature'], first.headers['webhook-signature']);
});

test('only 2xx is success, and redirects are not followed', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  for (const status of [200, 201, 202, 204, 299]) {
    receiver.answer = answering(status);
    await outbox.addEvent();
    await outbox.pass(0);
    assert.equal(outboxCounts(outbox.store).events.waiting, 0, `${status}`);
  }
  const before = receiver.got.length;
  const bad = [301, 302, 303, 307, 308, 400, 401, 404, 500, 503];
  for (const [index, status] of bad.entries()) {
    receiver.answer = answering(status, { location: `http://127.0.0.1:${receiver.port}/other` });
    await outbox.addEvent();
    await outbox.pass(0);
    assert.equal(receiver.got.length, before + index + 1, `${status} led to one request`);
    const waiting = listOutbox(outbox.store, 'waiting', 'event');
    assert.ok(
      waiting.some((record) => record.status === status),
      `${status} is kept`,
    );
  }
  assert.ok(receiver.got.every(({ path }) => path === '/hooks?for=situs'));
});

test('a receiver that is too slow has failed', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url, { attemptMs: 150 }));
  receiver.answer = () => undefined;
  await outbox.addEvent();
  await outbox.pass(0);
  const [record] = listOutbox(outbox.store, 'waiting', 'event');
  assert.equal(record?.error, 'no answer in 150 ms');
  assert.equal(record.status, null);
});

test('a receiver whose answer trickles on has taken the event', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  receiver.answer = (response) => {
    response.writeHead(200).write('still ');
  };
  await outbox.addEvent();
  await outbox.pass(0);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('a long answer is not read to its end', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  const closed = new Promise<void>((resolve) => {
    receiver.answer = (response) => {
      response.on('close', resolve).on('error', () => undefined);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    };
  });
  await outbox.addEvent();
  await outbox.pass(0);
  await closed;
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});

test('what is no HTTP, refuses or hangs up leaves a code behind', async (context) => {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .resume()
      .end('SSH-2.0-nothing\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outbox = await openOutbox(context, toEndpoint(`http://127.0.0.1:${port}/secret-path`));
  await outbox.addEvent();
  await outbox.pass(0);
  const error = (): string => listOutbox(outbox.store, 'waiting', 'event')[0]?.error ?? '';
  assert.match(error(), /^HPE_/);
  server.close();
  await once(server, 'close');
  await outbox.pass(5_000);
  assert.equal(error(), 'ECONNREFUSED');
  assert.ok(!outbox.lines.join('').includes('secret-path'), 'the URL is not logged');
});

test('a private address is refused unless it is allowed', async (context) => {
  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, {
    webhook: {
      url: `http://localhost:${receiver.port}/`,
      secrets: secretsOf(SECRET),
      guard: { allowPrivate: false },
    },
    mail: null,
  });
  await outbox.addEvent();
  await outbox.pass(0);
  const [record] = listOutbox(outbox.store, 'waiting', 'event');
  assert.equal(record?.error, 'SITUS_REFUSED_ADDRESS');
  assert.equal(receiver.got.length, 0);
});

test('a receiver that answers at length and closes ends nothing else', async (context) => {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        socket.end(
          Buffer.concat([
            Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'),
            Buffer.alloc(8_388_608, 'x'),
          ]),
        );
      });
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outbox = await openOutbox(context, toEndpoint(`http://127.0.0.1:${port}/`));
  for (let count = 0; count < 4; count += 1) await outbox.addEvent();
  await outbox.pass(0);
  await eventually(() => outboxCounts(outbox.store).events.waiting === 0);
  assert.deepEqual(outboxCounts(outbox.store).events, { waiting: 0, dead: 0 });
});
