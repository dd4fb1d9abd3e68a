/** The assembled service with keys of several accounts and plans, asked over real HTTP. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { App } from '../../src/app.js';
import { createLog, type Log } from '../../src/log.js';
import type { AppOptions } from '../../src/opened.js';
import { createKey, type NewKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe } from './built-dataset.js';
import { startApp } from './own-app.js';

/** Two accounts with everything, one key of each plan in a third, and one quick to be refused. */
export const KEYS = {
  alpha: 'a-key-of-account-alpha',
  beta: 'a-key-of-account-beta',
  starter: 'a-key-of-plan-starter',
  growth: 'a-key-of-plan-growth',
  pro: 'a-key-of-plan-pro',
  enterprise: 'a-key-of-plan-enterprise',
  slow: 'a-key-with-one-request',
  metered: 'a-key-with-a-quota',
  counted: 'a-key-with-four-geocodings',
  disabled: 'a-key-that-is-disabled',
} as const;

const NEW_KEYS: readonly NewKey[] = [
  { text: KEYS.alpha, account: 'alpha', plan: 'enterprise', rate: 1_000_000 },
  { text: KEYS.beta, account: 'beta', plan: 'enterprise', rate: 1_000_000 },
  { text: KEYS.starter, account: 'plans', plan: 'starter', rate: 1_000 },
  { text: KEYS.growth, account: 'plans', plan: 'growth', rate: 1_000 },
  { text: KEYS.pro, account: 'plans', plan: 'pro', rate: 1_000 },
  { text: KEYS.enterprise, account: 'plans', plan: 'enterprise', rate: 1_000 },
  { text: KEYS.slow, account: 'slow', plan: 'enterprise', rate: 1 },
  { text: KEYS.metered, account: 'metered', plan: 'enterprise', merchantLimit: 1 },
  { text: KEYS.counted, account: 'counted', plan: 'enterprise', geoLimit: 4 },
];

/** A folder of variables with the keys; `datasets` is another folder's, or none. */
export async function newMerchantDir(datasets: string | null): Promise<string> {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-merchant-'));
  if (datasets !== null) symlinkSync(join(datasets, 'datasets'), join(varDir, 'datasets'));
  const store = await Store.open(varDir);
  for (const key of NEW_KEYS) await createKey(store, key);
  await store.close();
  return varDir;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; an empty object where there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AskOptions {
  readonly key?: string | null;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface RawAnswered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Buffer;
}

/** Sends one request as it is: `fetch` takes six times as much of the processor for it. */
export async function sendRaw(
  url: string,
  options: Omit<NonNullable<Parameters<typeof request>[1]>, 'dispatcher'>,
): Promise<RawAnswered> {
  const { statusCode, headers, body } = await request(url, options);
  const bytes = Buffer.from(await body.arrayBuffer());
  const all = new Headers();
  for (const [name, value = []] of Object.entries(headers)) {
    for (const each of [value].flat()) all.append(name, each);
  }
  return { status: statusCode, headers: all, text: bytes.toString(), bytes };
}

/** Sends one request. `body` is sent as it is when it is text or bytes. */
export async function ask(
  base: string,
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
  options: AskOptions = {},
): Promise<Answered> {
  const { key = KEYS.alpha, idempotencyKey, headers = {}, signal } = options;
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const response = await sendRaw(base + path, {
    method,
    ...(method === 'POST' ? { body: raw } : {}),
    ...(signal === undefined ? {} : { signal }),
    headers: {
      'Content-Type': 'application/json',
      ...(key === null ? {} : { 'X-API-KEY': key }),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...headers,
    },
  });
  const { status, headers: answered, text } = response;
  const parsed = (text === '' ? {} : JSON.parse(text)) as Answered['body'];
  return { status, headers: answered, text, body: parsed };
}

/** Longest time that a request is sent again; the pauses before it grow, for a loaded machine. */
const TAKEN_MS_MAX = 300_000;
const AGAIN_MS = 250;
const AGAIN_MS_MAX = 4_000;

/**
 * Sends a request as `ask` does, again for as long as the service is too busy for it: under load 503
 * is a right answer, and it says that nothing was done. A refusal may also cut the connection before
 * all of a long body was sent.
 */
export async function askUntilTaken(...request: Parameters<typeof ask>): Promise<Answered> {
  const until = performance.now() + TAKEN_MS_MAX;
  for (let pause = AGAIN_MS; ; pause = Math.min(2 * pause, AGAIN_MS_MAX)) {
    try {
      const answered = await ask(...request);
      if (answered.status !== 503 || performance.now() > until) return answered;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await delay(pause);
  }
}

export interface MerchantService {
  readonly varDir: string;
  readonly base: string;
  readonly app: App;
  /** Everything logged so far. */
  readonly logged: () => string;
  post(path: string, body: unknown, options?: AskOptions): Promise<Answered>;
  list(options?: AskOptions): Promise<Answered>;
  stop(): Promise<void>;
}

/** Starts the service on a free port; `environment` is added to its settings. */
export async function startMerchants(
  varDir: string,
  options: Partial<AppOptions> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<MerchantService> {
  const lines: string[] = [];
  const log: Log = createLog('debug', (line) => lines.push(line));
  const app = await startApp(
    varDir,
    { SITUS_BASE_URL: 'https://rates.example', ...environment },
    { log, ...options },
  );
  const base = `http://127.0.0.1:${await app.listen()}`;
  return {
    varDir,
    base,
    app,
    logged: () => lines.join(''),
    post: (path, body, more) => ask(base, 'POST', path, body, more),
    list: (more) => ask(base, 'GET', '/merchant/list', null, more),
    stop: () => app.stop(),
  };
}

/** Makes a merchant of a key, and tells its id. */
export async function newMerchant(
  service: MerchantService,
  merchantType: string,
  key: string,
): Promise<string> {
  const made = await service.post('/merchant/create', { merchantName: 'A', merchantType }, { key });
  assert.equal(made.status, 201, made.text);
  return String(made.body['merchantId']);
}

/** One service without a dataset for all tests of a file; `started` is told of it. */
export function withMerchants(started: (service: MerchantService) => void): void {
  let stop = async (): Promise<void> => undefined;
  before(async () => {
    const service = await startMerchants(await newMerchantDir(null));
    stop = async () => {
      await service.stop();
      removeDirs(service.varDir);
    };
    started(service);
  });
  after(() => stop());
}

let shared: ReturnType<typeof buildRecipe> | null = null;

/** The invented country, built once per test process. */
export function inventedCountry(): string {
  shared ??= buildRecipe('fixture');
  return shared.varDir;
}

/** Removes what tests made. */
export function removeDirs(...dirs: readonly string[]): void {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  shared?.remove();
  shared = null;
}

/** An id that nobody has. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** A door of the invented country. */
export const ELMTON = {
  line1: '120 Main St',
  city: 'Elmton',
  state: 'QA',
  zip: '91010',
} as const;

/** An address of which no dataset knows anything. */
export const NOWHERE = {
  line1: '1 Nowhere Rd',
  city: 'Nowhere',
  state: 'QA',
  zip: '00001',
} as const;
