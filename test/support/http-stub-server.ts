/** A front end over the worker without a dataset. Also runs as a process, for measurements. */
import { pathToFileURL } from 'node:url';
import { GRANT_ALL } from '../../src/pool/types.js';
import { lookupRoutes, type LookupKey, type UsageGate } from '../../src/api/lookup/handler.js';
import type { RenderFailure } from '../../src/api/lookup/head.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { headOf } from '../../src/http/reply.js';
import { Router, type Route } from '../../src/http/router.js';
import { createServer } from '../../src/http/open-transport.js';
import type { RawServer } from '../../src/http/transport.js';
import { SILENT } from '../../src/log.js';
import type { PoolOptions } from '../../src/pool/threads.js';
import { EnginePool, type PinnedRelease } from '../../src/pool.js';
import { ALL_SCOPES } from '../../src/store/scope.js';
import { Admission, Meter } from '../../src/store/usage-meter.js';

export const STUB_KEY = 'situs_0123456789abcdef';
export const ECHO_WORKER = new URL('./http-echo-worker.js', import.meta.url);

const RELEASE: PinnedRelease = { id: '2026-11-21-000000000000', dir: '/nowhere' };
const CODES: Readonly<Record<string, number>> = { 'invalid-key': 101, 'rate-limited': 108 };

/** The envelope, near enough for tests that are about the way there. */
export const stubFailure: RenderFailure = (version, { failure }, format) => {
  const code = CODES[failure] ?? 106;
  return Buffer.from(
    format === 'xml'
      ? `<response><code>${code}</code></response>`
      : JSON.stringify({ metadata: { version: `v${version}`, response: { code, name: failure } } }),
  );
};

/** More than the system's buffers of a connection take at once. */
export const LARGE_BYTES = 300_000;
/** More than the system takes of one answer at all, however much it lets its buffers grow. */
const HUGE_BYTES = 24_000_000;

/** Answers of `/slow` and `/slow/write` come so late. */
const SLOW_MS = 40;

/** A route with a body that is answered a while after it has come. */
function slowRoute(path: string, repeats: 'always' | 'keyed' | undefined): Route {
  return {
    method: 'POST',
    path,
    bodyBytesMax: 1_048_576,
    deadlineMs: 30_000,
    ...(repeats === undefined ? {} : { repeats }),
    handle: (_request, answer) => {
      setTimeout(
        () => answer.send({ status: 200, head: headOf('text/plain'), body: path }),
        SLOW_MS,
      );
    },
  };
}

const OTHER_ROUTES: readonly Route[] = [
  slowRoute('/slow', 'always'),
  slowRoute('/slow/write', 'keyed'),
  slowRoute('/slow/once', undefined),
  {
    method: 'GET',
    path: '/large',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) =>
      answer.send({ status: 200, head: headOf('text/plain'), body: 'x'.repeat(LARGE_BYTES) }),
  },
  {
    method: 'GET',
    path: '/huge',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) =>
      answer.send({ status: 200, head: headOf('text/plain'), body: Buffer.alloc(HUGE_BYTES, 'x') }),
  },
  {
    method: 'POST',
    path: '/echo',
    bodyBytesMax: 1_048_576,
    deadlineMs: 30_000,
    handle: ({ body }, answer) => answer.send({ status: 200, head: headOf('text/plain'), body }),
  },
  {
    method: 'POST',
    path: '/impatient',
    bodyBytesMax: 100,
    deadlineMs: 50,
    handle: () => undefined,
  },
  {
    method: 'GET',
    path: '/broken',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: () => {
      throw new Error('a secret');
    },
  },
];

/** Lets everything through and counts nothing. */
export const STUB_USAGE: UsageGate = {
  admit: ({ id, account, grants }) => new Admission(new Meter(id, account), grants, 0),
  settle: () => undefined,
};

/** A key that is neither metered nor limited in what it may ask. */
export function stubKey(id: string, rate: number, grants = GRANT_ALL): LookupKey {
  return {
    id,
    account: 'stub',
    rate,
    grants,
    scopes: ALL_SCOPES,
    coreLimit: 0,
    geoLimit: 0,
    merchantLimit: 0,
  };
}

export interface StubServer {
  readonly port: number;
  readonly pool: EnginePool;
  readonly router: Router;
  readonly server: RawServer;
  close(): Promise<void>;
}

interface StubOptions extends Partial<PoolOptions> {
  readonly rate?: number;
}

/** Starts a front end on a free port. */
export async function startStubServer(options: StubOptions = {}): Promise<StubServer> {
  const { rate = 100_000, ...poolOptions } = options;
  const pool = new EnginePool({
    releases: { pin: () => RELEASE, unpin: () => undefined },
    log: SILENT,
    threads: 1,
    worker: ECHO_WORKER,
    ...poolOptions,
  });
  const record = stubKey('stub', rate);
  const gate = new Gate<LookupKey>({
    find: (text) => (text === STUB_KEY ? record : null),
    rates: createRateGate(),
    baseUrl: '',
  });
  const lookups = lookupRoutes({
    gate,
    usage: STUB_USAGE,
    pool,
    renderFailure: stubFailure,
    baseUrl: '',
  });
  const router = new Router([...lookups, ...OTHER_ROUTES], SILENT, gate.fieldsOf);
  const server = await createServer();
  router.attach(server);
  const port = await server.listen('127.0.0.1', 0);
  if (port === null) throw new Error('no port');
  const close = async (): Promise<void> => {
    server.close();
    await pool.close();
  };
  return { port, pool, router, server, close };
}

async function serve(): Promise<void> {
  const given = JSON.parse(process.argv[2] ?? '{}') as StubOptions;
  const { port } = await startStubServer({ rate: 100_000_000, ...given });
  process.stdout.write(`${port}\n`);
}

// Not waited for, as in command-process.ts.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void serve();
