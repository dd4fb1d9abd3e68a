/** A front end of streams alone, with a clock that the test turns. Nothing is calculated. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type StreamAsk, StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import { decodeChunk, encodeResult } from '../../src/bulk/row/chunk-payload.js';
import { type ChunkPool, ChunkSchedule } from '../../src/bulk/run/schedule.js';
import { openStreams, type StreamParts } from '../../src/bulk/stream/open-streams.js';
import { Gate } from '../../src/http/gate.js';
import { createServer } from '../../src/http/open-transport.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { Router } from '../../src/http/router.js';
import { SILENT } from '../../src/log.js';
import type { PinnedRelease, PoolFailure, PoolRequest } from '../../src/pool/types.js';
import type { KeyRecord } from '../../src/store/format.js';
import { ALL_SCOPES } from '../../src/store/scope.js';
import { Meter } from '../../src/store/usage-meter.js';

export const STREAM_KEY = 'a-key-of-the-stream-tests';
export const OTHER_KEY = 'another-key-of-the-same-account';

/** A key of a plan with everything. */
export function recordOf(id: string): KeyRecord {
  return {
    v: 1,
    id,
    prefix: id,
    account: 'stream',
    plan: 'enterprise',
    rate: 100_000,
    grants: 15,
    scopes: ALL_SCOPES,
    coreLimit: 0,
    geoLimit: 0,
    merchantLimit: 0,
    active: true,
    createdAt: 0,
  };
}

/** Workers that answer when the test says so, each message with its number alone. */
class StalledPool implements ChunkPool {
  readonly requests: PoolRequest[] = [];
  /** Messages answered so far. */
  answered = 0;
  /** Bytes that each answer is filled up with. */
  fillBytes = 0;
  /** Answers at once. */
  prompt = false;

  submit(request: PoolRequest): void {
    this.requests.push(request);
    if (this.prompt) setImmediate(() => this.answer());
  }

  /** Answers everything, also what comes because of it. */
  answer(): void {
    for (let next = this.requests.shift(); next !== undefined; next = this.requests.shift()) {
      const {
        chunk: { line, ends },
      } = decodeChunk(Buffer.from(next.payload));
      const rows = ends.length;
      const fill = this.fillBytes === 0 ? '' : `,"fill":"${'x'.repeat(this.fillBytes)}"`;
      const lines = Array.from(ends, (_, index) => `{"seq":${line + index},"id":null${fill}}\n`);
      this.answered += rows;
      const tally = { rows, codes: { 100: rows }, core: rows, geo: 0, merchant: 0, refusals: [] };
      const body = Buffer.concat(encodeResult(tally, Buffer.from(lines.join(''))));
      next.answered({ status: 200, code: 100, precision: 0, flags: 0, body }, RELEASE);
    }
  }

  /** Loses everything. */
  fail(failure: PoolFailure): void {
    for (const request of this.requests.splice(0)) request.failed(failure);
  }
}

export interface StreamService {
  readonly port: number;
  readonly streams: StreamParts;
  readonly router: Router;
  readonly pool: StalledPool;
  readonly keys: Map<string, KeyRecord>;
  /** Whether a dataset is active. */
  loaded(active: boolean): void;
  /** Sets every clock of the streams to a later time, in milliseconds. */
  turn(milliseconds: number): void;
  open(ask?: Partial<StreamAsk>): Promise<StreamClient>;
}

/** Every row is admitted, and none is counted. */
const UNCOUNTED: Parameters<typeof openStreams>[0]['usage'] = {
  admitRows: ({ id, account, grants }, rows) => ({
    meter: new Meter(id, account),
    grants,
    rows,
    held: 0,
    scarce: false,
  }),
  settleRows: () => undefined,
};

const RELEASE: PinnedRelease = { id: '2026-11-21-000000000000', dir: '/nowhere' };

async function openClient(ask: StreamAsk): Promise<StreamClient> {
  const opened = await StreamClient.open(ask);
  if (wasRefused(opened)) throw new Error(`refused with ${opened.status}: ${opened.body}`);
  return opened;
}

/** Starts it for one test. */
export async function startStreams(
  context: TestContext,
  times: { readonly idleMs: number; readonly resumeMs: number },
  tickMs?: number,
): Promise<StreamService> {
  let now = 0;
  let active = true;
  const keys = new Map([
    [STREAM_KEY, recordOf('one')],
    [OTHER_KEY, recordOf('two')],
  ]);
  const pool = new StalledPool();
  const streams = openStreams({
    ...times,
    log: SILENT,
    clock: () => now,
    findMerchant: () => null,
    gate: new Gate({
      find: (text) => keys.get(text) ?? null,
      rates: createRateGate(),
      baseUrl: '',
    }),
    releases: { pin: () => (active ? RELEASE : null), unpin: () => undefined },
    schedule: new ChunkSchedule(pool, 4),
    usage: UNCOUNTED,
    ...(tickMs === undefined ? {} : { tickMs }),
  });
  const router = new Router(streams.routes, SILENT);
  const server = await createServer();
  streams.attach(server, router);
  router.attach(server);
  const port = await server.listen('127.0.0.1', 0);
  if (port === null) throw new Error('no port');
  context.after(() => {
    streams.close();
    server.close();
  });
  return {
    port,
    streams,
    router,
    pool,
    keys,
    loaded: (isActive) => {
      active = isActive;
    },
    turn: (milliseconds) => {
      now += milliseconds;
      streams.sessions.watch(now);
    },
    open: (ask = {}) => openClient({ port, key: STREAM_KEY, transport: 'socket', ...ask }),
  };
}

export const TIMES = { idleMs: 60_000, resumeMs: 30_000 };

/** A line of a stream. */
interface Line {
  readonly header?: { readonly resume: string; readonly received: number; readonly job: string };
  readonly trailer?: {
    readonly complete: boolean;
    readonly rows: number;
    readonly stopped: {
      readonly code: number;
      readonly message: string;
      readonly line: number;
    } | null;
  };
  readonly seq?: number;
}

/** The next line. */
export async function line(client: StreamClient): Promise<Line> {
  const text = await client.next();
  assert.ok(text !== null, 'the stream has ended');
  return JSON.parse(text) as Line;
}

/** The header, which comes first. */
export async function header(client: StreamClient): Promise<NonNullable<Line['header']>> {
  const { header: found } = await line(client);
  assert.ok(found !== undefined);
  return found;
}

/** Everything to the end: the trailer and how the connection closed. */
export async function ending(client: StreamClient): Promise<{
  readonly lines: readonly string[];
  readonly trailer: NonNullable<Line['trailer']>;
  readonly code: number;
}> {
  const lines = await client.rest();
  const { trailer } = JSON.parse(lines.at(-1) ?? '{}') as Line;
  assert.ok(trailer !== undefined, lines.join('\n'));
  return { lines, trailer, code: (await client.ended).code };
}

/** The status that a stream is refused with. */
export async function refused(
  service: StreamService,
  more: Partial<StreamAsk> = {},
): Promise<number> {
  const opened = await StreamClient.open({
    port: service.port,
    key: STREAM_KEY,
    transport: 'socket',
    ...more,
  });
  assert.ok(wasRefused(opened));
  const problem = JSON.parse(opened.body) as { readonly status: number };
  assert.equal(problem.status, opened.status);
  assert.ok(opened.headers['x-ratelimit-limit'] !== undefined);
  return opened.status;
}

/** A lookup. */
export function message(id: number): string {
  return JSON.stringify({ id, postalcode: '91020' });
}
