/** Requests that are handled together at the end of a turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TURN_END } from '../../src/base/turn-end.js';
import { KEY_HEADER } from '../../src/http/api-key.js';
import { Exchange } from '../../src/http/exchange.js';
import { Front } from '../../src/http/front.js';
import { LateRequests } from '../../src/http/handling.js';
import { LiveRequest } from '../../src/http/native-request.js';
import { createServer } from '../../src/http/open-transport.js';
import { TrustedProxies } from '../../src/http/proxies.js';
import { headOf } from '../../src/http/reply.js';
import type { Route } from '../../src/http/route-table.js';
import { Router } from '../../src/http/router.js';
import { createLog } from '../../src/log.js';
import { RawClient } from '../support/http-client.js';
import { HOST } from '../support/http-either.js';
import { FakeResponse } from '../support/http-fake-response.js';

const ROUTE: Route = {
  method: 'GET',
  path: '/late',
  bodyBytesMax: 0,
  deadlineMs: 0,
  handle: () => undefined,
};

/** What the native server lets nobody ask any more once its handler has returned. */
function nativeRequest(fields: Readonly<Record<string, string>>): {
  readonly raw: ConstructorParameters<typeof LiveRequest>[0];
  end(): void;
} {
  let isOver = false;
  const asked = <T>(value: T): T => {
    assert.ok(!isOver, 'the native request is asked after its handler');
    return value;
  };
  return {
    raw: {
      getHeader: (name) =>
        asked(fields[typeof name === 'string' ? name : Buffer.from(name).toString()] ?? ''),
      getQuery: () => asked('lat=1&lng=2'),
      getUrl: () => asked('/late'),
      getCaseSensitiveMethod: () => asked('GET'),
      forEach: (each) => {
        for (const [name, value] of asked(Object.entries(fields))) each(name, value);
      },
    },
    end: () => {
      isOver = true;
    },
  };
}

function late(fields: Readonly<Record<string, string>> = {}): {
  readonly response: FakeResponse;
  readonly request: LiveRequest;
} {
  const response = new FakeResponse();
  const front = new Front({ proxies: TrustedProxies.of('127.0.0.0/8') });
  const exchange = new Exchange(response, { open: 0, closing: false, front });
  const native = nativeRequest(fields);
  const request = new LiveRequest(native.raw, exchange, 'GET', '/late').keep();
  native.end();
  return { response, request };
}

/** Where no handler may fail. */
function noFault(_request: LiveRequest, error: unknown): never {
  throw error;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('they are handled when the turn ends, in order, with key and query', async () => {
  const handled: string[] = [];
  const requests = new LateRequests((route, request) => {
    handled.push(`${route.path} ${request.header(KEY_HEADER)} ${request.query}`);
  }, noFault);
  for (const key of ['one', 'two']) requests.add(ROUTE, late({ [KEY_HEADER]: key }).request);
  assert.deepEqual(handled, []);
  await turn();
  assert.deepEqual(handled, ['/late one lat=1&lng=2', '/late two lat=1&lng=2']);
  await turn();
  assert.equal(handled.length, 2);
});

test('many of one turn are not kept until it ends', async () => {
  let handled = 0;
  const requests = new LateRequests(() => {
    handled += 1;
  }, noFault);
  for (let count = 0; count < 40; count += 1) requests.add(ROUTE, late().request);
  assert.equal(handled, 32);
  await turn();
  assert.equal(handled, 40);
});

test('a request whose client has gone is not handled', async () => {
  const handled: LiveRequest[] = [];
  const requests = new LateRequests<LiveRequest>(
    (_route, request) => handled.push(request),
    noFault,
  );
  const [gone, there] = [late(), late()];
  requests.add(ROUTE, gone.request);
  requests.add(ROUTE, there.request);
  gone.response.abort();
  await turn();
  assert.deepEqual(handled, [there.request]);
});

test('what fails with one request is told of it, and the others are handled once', async () => {
  const handled: LiveRequest[] = [];
  const failed: (readonly [LiveRequest, string])[] = [];
  const all = [late(), late(), late()].map(({ request }) => request);
  const requests = new LateRequests<LiveRequest>(
    (_route, request) => {
      if (request === all[1]) throw new Error('a bug');
      handled.push(request);
    },
    (request, error) => failed.push([request, String(error)]),
  );
  for (const request of all) requests.add(ROUTE, request);
  await turn();
  await turn();
  assert.deepEqual(handled, [all[0], all[2]]);
  assert.deepEqual(failed, [[all[1], 'Error: a bug']]);
});

test('the address of the client is told as the proxy told it', () => {
  const { request } = late({ 'x-forwarded-for': '192.0.2.7' });
  assert.equal(request.client(), '192.0.2.7');
});

test('bodies of clients that stay are handled when the turn ends, of others at once', async (context) => {
  const server = await createServer({ transport: 'native' }).catch(() => null);
  if (server === null) return context.skip('it does not load here');
  const turns: boolean[] = [];
  let isOver = false;
  const router = new Router(
    [
      {
        method: 'POST',
        path: '/late',
        bodyBytesMax: 100,
        deadlineMs: 0,
        repeats: 'always',
        isAtOnce: () => false,
        // Asked for the head, within the native handler that the body follows.
        admit: () => {
          isOver = false;
          TURN_END.first(() => {
            isOver = true;
          });
          return ({ body }, answer) => {
            turns.push(isOver);
            answer.send({ status: 200, head: headOf('text/plain'), body: Buffer.from(body) });
          };
        },
        handle: () => assert.fail('the head is admitted first'),
      },
    ],
    createLog('error', () => undefined),
  );
  router.attach(server);
  const port = await server.listen('127.0.0.1', 0);
  context.after(() => server.close());
  for (const connection of ['keep-alive', 'close']) {
    const client = await RawClient.open(port!);
    context.after(() => client.close());
    client.write(
      `POST /late HTTP/1.1\r\n${HOST}Connection: ${connection}\r\nContent-Length: 4\r\n\r\nbody`,
    );
    assert.equal((await client.answer())?.body, 'body');
  }
  assert.deepEqual(turns, [true, false]);
  assert.equal(router.traffic.open, 0);
});
