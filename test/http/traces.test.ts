/** Traces: what a collector is sent, of which requests, and that nothing rests on the collector. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { createLog } from '../../src/log.js';
import { startEcho } from '../support/echo-service.js';
import { eventually } from '../support/http-eventually.js';
import { releaseNumber } from '../support/http-var-dir.js';

const BATCH = 512;
const KEY = 'a-key-of-the-tests-of-traces';
const LOOKUP = '/request/v60?echo&address=200+Spectrum+Center+Dr';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

interface Span {
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

/** A collector that keeps what it is sent. */
async function collector(context: TestContext): Promise<{
  readonly url: string;
  readonly bodies: string[];
}> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      if (request.url === '/v1/traces') bodies.push(Buffer.concat(pieces).toString('utf8'));
      response.setHeader('Content-Type', 'application/json');
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

async function start(
  context: TestContext,
  url: string,
  every: number,
): Promise<{
  readonly app: App;
  readonly told: readonly string[];
  ask(path: string, traceparent?: string): Promise<number>;
}> {
  const told: string[] = [];
  const { app, port } = await startEcho(
    context,
    { SITUS_BOOTSTRAP_KEY: KEY, SITUS_OTLP: url, SITUS_OTLP_EVERY: String(every) },
    { log: createLog('warn', (line) => told.push(line)) },
  );
  const base = `http://127.0.0.1:${port}`;
  return {
    app,
    told,
    ask: async (path, traceparent) => {
      const headers = { 'X-API-KEY': KEY, ...(traceparent === undefined ? {} : { traceparent }) };
      return (await fetch(base + path, { headers })).status;
    },
  };
}

function spansOf(bodies: readonly string[]): readonly Span[] {
  interface Batch {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
    }[];
  }
  return bodies.flatMap((body) =>
    (JSON.parse(body) as Batch).resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans),
    ),
  );
}

test('a sampled request is a span of its trace, without address or key', async (context) => {
  const { url, bodies } = await collector(context);
  const { app, ask } = await start(context, url, 3);
  assert.equal(await ask(LOOKUP, `00-${TRACE}-${PARENT}-01`), 200);
  // What its caller does not sample has no span here either.
  assert.equal(await ask(LOOKUP, `00-${TRACE}-${PARENT}-00`), 200);
  for (let turn = 0; turn < 6; turn += 1) assert.equal(await ask(LOOKUP), 200);
  await app.stop();
  const spans = spansOf(bodies);
  assert.equal(spans.length, 3, 'one of a trace, and two of six without');
  const [first] = spans.filter(({ traceId }) => traceId === TRACE);
  assert.ok(first !== undefined);
  assert.deepEqual([first.name, first.kind, first.parentSpanId], ['GET /request/v60', 2, PARENT]);
  assert.ok(BigInt(first.endTimeUnixNano) >= BigInt(first.startTimeUnixNano));
  const attributes = Object.fromEntries(
    first.attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]),
  );
  const own = attributes['situs.key'];
  assert.ok(typeof own === 'string' && KEY.startsWith(own) && own.length < KEY.length);
  delete attributes['situs.key'];
  assert.deepEqual(attributes, {
    'http.request.method': 'GET',
    'http.route': '/request/v60',
    'http.response.status_code': 200,
    'situs.code': 100,
    'situs.precision': attributes['situs.precision'],
    'situs.dataset': releaseNumber(1),
    'situs.request_id': attributes['situs.request_id'],
  });
  for (const secret of [KEY, 'Spectrum']) assert.ok(!bodies.join('').includes(secret), secret);
  assert.match(bodies[0] ?? '', /"service\.name"/);
});

test('a context that cannot be read is none: of so many such requests one has a span', async (context) => {
  const { url, bodies } = await collector(context);
  const { app, ask } = await start(context, url, 3);
  for (const traceparent of [
    'nonsense',
    `00-${TRACE}-${PARENT}`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
  ]) {
    assert.equal(await ask(LOOKUP, traceparent), 200);
  }
  await app.stop();
  assert.equal(spansOf(bodies).length, 1);
});

test('a collector that is not there is told in the log, and nothing waits for it', async (context) => {
  const { app, told, ask } = await start(context, 'http://127.0.0.1:1', 1);
  assert.equal(await ask(LOOKUP), 200);
  // So many are a batch, which is sent before the service is stopped.
  for (let index = 0; index < BATCH; index += 1) await ask('/system/live');
  await eventually(() => told.some((line) => line.includes('traces not sent')));
  assert.match(told.join(''), /"traces not sent","message":"connect ECONNREFUSED [^"\\]+"/);
  await app.stop();
});

test('an address of a collector that is none is refused by its setting', () => {
  assert.throws(() => loadConfig({ SITUS_OTLP: '127.0.0.1:4318' }), /SITUS_OTLP must be/);
});
