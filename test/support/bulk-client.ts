/** A client of bulk files, and a service with keys of every plan for it. */
import { request, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import { after, before } from 'node:test';
import type { App } from '../../src/app.js';
import { createKey, type NewKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe, type Built } from './built-dataset.js';
import { startApp } from './own-app.js';

export const KEYS = {
  bulk: 'a-key-for-bulk-tests',
  other: 'a-key-of-another-account',
  starter: 'a-key-without-bulk',
  slow: 'a-key-of-one-a-minute',
  quota: 'a-key-of-five-lookups',
  geo: 'a-key-of-three-doors',
} as const;
export type KeyName = keyof typeof KEYS;

const SETTINGS: Readonly<Record<KeyName, NewKey>> = {
  bulk: { plan: 'enterprise', rate: 100_000 },
  other: { plan: 'pro', account: 'other' },
  starter: { plan: 'starter' },
  slow: { plan: 'pro', rate: 1, account: 'slow' },
  quota: { plan: 'pro', coreLimit: 5, account: 'quota' },
  geo: { plan: 'pro', geoLimit: 3, account: 'geo' },
};

/** Starts a service over a folder with a dataset. */
export async function startBulkApp(
  varDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly app: App; readonly port: number }> {
  const store = await Store.open(varDir);
  for (const [name, settings] of Object.entries(SETTINGS)) {
    await createKey(store, { ...settings, text: KEYS[name as KeyName] });
  }
  await store.close();
  const app = await startApp(varDir, settings);
  return { app, port: await app.listen() };
}

/** What tests of files share. */
interface BulkService {
  readonly built: Built;
  readonly app: App;
  readonly port: number;
}

/** Starts one over the invented country before the tests of a file, and stops it after them. */
export function withBulkApp(
  started: (service: BulkService) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  let stop = async (): Promise<void> => undefined;
  before(async () => {
    const built = buildRecipe('fixture');
    const { app, port } = await startBulkApp(built.varDir, settings);
    stop = async () => {
      await app.stop();
      built.remove();
    };
    started({ built, app, port });
  });
  after(() => stop());
}

export interface BulkAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the answer ended as it should. */
  readonly complete: boolean;
}

export interface BulkAsk {
  readonly port: number;
  readonly path?: string;
  readonly method?: string;
  readonly key?: KeyName | null;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a request whose body is still to be sent. */
export function openBulk(ask: BulkAsk): { request: ClientRequest; answer: Promise<BulkAnswer> } {
  const { port, path = '/bulk/lookup', method = 'POST', key = 'bulk', type, headers = {} } = ask;
  const sent = request({
    port,
    path,
    method,
    host: '127.0.0.1',
    agent: false,
    headers: {
      ...(key === null ? {} : { 'X-API-KEY': KEYS[key] }),
      ...(type === undefined ? {} : { 'Content-Type': type }),
      ...headers,
    },
  });
  const answer = new Promise<BulkAnswer>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', () => undefined);
      response.on('close', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
          complete: response.complete,
        }),
      );
    });
  });
  return { request: sent, answer };
}

/** Sends a whole body. */
export async function sendBulk(ask: BulkAsk, body: string | Buffer = ''): Promise<BulkAnswer> {
  const { request: sent, answer } = openBulk(ask);
  sent.end(body);
  return answer;
}

/** Sends NDJSON to the server of a port. */
export function sendNdjson(
  port: number,
  body: string,
  more: Partial<BulkAsk> = {},
): Promise<BulkAnswer> {
  return sendBulk({ port, type: NDJSON, ...more }, body);
}

export const CSV = 'text/csv';
export const NDJSON = 'application/x-ndjson';

export interface Trailer {
  readonly job: string;
  readonly complete: boolean;
  readonly rows: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly sha256: string;
  readonly stopped: {
    readonly code: number;
    readonly message: string;
    readonly line: number;
  } | null;
}

/** Header, rows and trailer of NDJSON output, and the bytes before the trailer. */
export function readLines(body: Buffer): {
  readonly header: Readonly<Record<string, unknown>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly trailer: Trailer;
  readonly before: Buffer;
} {
  const lines = body.toString('utf8').split('\n');
  if (lines.pop() !== '') throw new Error('the output does not end with a line end');
  const last = lines.pop() ?? '';
  const [first = '{}', ...rows] = lines;
  const { header } = JSON.parse(first) as { header: Readonly<Record<string, unknown>> };
  const { trailer } = JSON.parse(last) as { trailer: Trailer };
  return {
    header,
    trailer,
    rows: rows.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    before: body.subarray(0, body.length - Buffer.byteLength(last) - 1),
  };
}
