/** The server as a process of its own, with keys changed by the command beside it. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { buildRecipe, type Built, LATER_OPTIMIZED } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { ask, type RawAnswer } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import { MAIN } from '../support/program.js';

const FIRST_KEY = 'a-key-for-the-account-test';
const MESSAGE = 'Ask at the counter.';
const ADDRESS = '/request/v60?address=120+Main+St,+Elmton,+QA+91010';
const POSTAL = '/request/v40?postalcode=91020';

const commands = new CommandProcess();
let built: Built;
let server: ChildProcess;
let port = 0;

async function startServer(): Promise<void> {
  server = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'pipe', 2],
    env: {
      ...process.env,
      SITUS_VAR: built.varDir,
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: FIRST_KEY,
      SITUS_ACCOUNT_MESSAGE: MESSAGE,
    },
  });
  for await (const line of createInterface({ input: server.stdout! })) {
    const found = /:(\d+)$/.exec(line);
    if (found !== null) {
      port = Number(found[1]);
      return;
    }
  }
  throw new Error('the server did not start');
}

async function end(signal: NodeJS.Signals): Promise<void> {
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

before(async () => {
  built = buildRecipe('fixture');
  await startServer();
});

after(async () => {
  await end('SIGTERM');
  await commands.end();
  built.remove();
});

/** Runs `situs key ARGS --json` beside the server. @throws Error with what it says of a refusal. */
async function key(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, out, err } = await commands.run(['key', ...args, '--json'], {
    SITUS_VAR: built.varDir,
  });
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Readonly<Record<string, unknown>>;
}

async function newKey(...args: readonly string[]): Promise<string> {
  const made = await key('create', ...args);
  assert.equal(typeof made['key'], 'string');
  const text = String(made['key']);
  const isKnown = async (): Promise<boolean> =>
    (await get('/account/v60/metrics', text)).body.includes('true');
  // A hundred requests with keys that are none yet, and all that follow are refused for a minute.
  await eventually(isKnown, undefined, 50);
  return text;
}

function get(path: string, text: string, method = 'GET'): Promise<RawAnswer> {
  return ask(port, path, text === '' ? {} : { 'X-API-KEY': text }, method);
}

function statusIs(path: string, text: string, status: number): () => Promise<boolean> {
  return async () => (await get(path, text)).status === status;
}

async function metrics(text: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse((await get('/account/metrics', text)).body) as Record<string, unknown>;
}

test('a new key answers soon, and a real 429 comes over the socket', async () => {
  const text = await newKey('--plan', 'growth', '--rate', '3');
  const seen: (readonly [number, string | undefined, string | undefined])[] = [];
  for (const version of [10, 60, 30, 60]) {
    const { status, headers, body } = await get(`/request/v${version}?postalcode=91020`, text);
    seen.push([status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]);
    assert.ok(!headers.has('retry-after'));
    if (status === 429) assert.match(body, /"code":108,"name":"RESPONSE_CODE_REQUEST_LIMIT_MET"/);
  }
  assert.deepEqual(seen, [
    [200, '3', '2'],
    [200, '3', '1'],
    [200, '3', '0'],
    [429, '3', '0'],
  ]);
  assert.equal((await metrics(text))['request_count'], 3, 'a 429 is not counted');
  await key('update', text, '--rate', '5');
  await eventually(statusIs(POSTAL, text, 200));
});

test('entitlements are taken and given against the plan in a running server', async () => {
  const text = await newKey('--plan', 'starter', '--rate', '100000', '--grant', 'historical');
  assert.equal((await get(ADDRESS, text)).status, 200);
  await key('update', text, '--deny', 'geo_enabled');
  await eventually(async () => {
    const { status, body } = await get(ADDRESS, text);
    return status === 405 && body.includes('"code":107');
  });
  assert.equal((await get(POSTAL, text)).status, 200);
  assert.equal((await metrics(text))['geo_enabled'], false);
  const shown = await key('update', text, '--grant', 'geo_enabled', '--grant', 'rate_loc_can');
  assert.deepEqual(shown['entitlements'], ['geo_enabled', 'rate_loc_can', 'historical']);
  await eventually(statusIs(ADDRESS, text, 200));
});

test('quotas are set, used up and raised in a running server', async () => {
  const text = await newKey(
    '--plan',
    'pro',
    '--core-limit',
    '4',
    '--geo-limit',
    '2',
    '--account',
    'shop',
  );
  const statuses: number[] = [];
  for (const path of [
    ADDRESS,
    '/request/v60?address=1+Nowhere',
    ADDRESS,
    ADDRESS,
    POSTAL,
    POSTAL,
    POSTAL,
  ]) {
    statuses.push((await get(path, text)).status);
  }
  assert.deepEqual(statuses, [200, 422, 200, 405, 200, 200, 405]);
  assert.deepEqual(await metrics(text), {
    request_count: 4,
    request_limit: 4,
    usage_percent: 100,
    core_request_count: 4,
    core_request_limit: 4,
    core_usage_percent: 100,
    geo_request_count: 2,
    geo_request_limit: 2,
    geo_usage_percent: 100,
    geo_enabled: true,
    merchant_request_count: 0,
    merchant_request_limit: 0,
    merchant_usage_percent: 0,
    is_active: true,
    message: MESSAGE,
  });
  await key('update', text, '--core-limit', '0', '--geo-limit', '3');
  await eventually(statusIs(ADDRESS, text, 200));
  assert.equal((await get(ADDRESS, text)).status, 405);
  assert.equal((await get(POSTAL, text)).status, 200);
});

test('a disabled key is refused, keeps its counters, and may be enabled', async () => {
  const text = await newKey('--plan', 'pro');
  assert.equal((await get(POSTAL, text)).status, 200);
  await key('disable', text);
  await eventually(statusIs(POSTAL, text, 401));
  const { request_count: count, is_active: active } = await metrics(text);
  assert.equal(active, false);
  assert.ok(Number(count) >= 1);
  await key('enable', text);
  await eventually(statusIs(POSTAL, text, 200));
});

test('every answer of an operation with keys tells the rate', async () => {
  const text = await newKey('--plan', 'pro');
  const paths: readonly (readonly [string, string, number])[] = [
    ['GET', '/request/v70', 404],
    ['POST', '/request/v60', 405],
    ['HEAD', '/search/tic', 405],
    ['DELETE', '/account/metrics', 405],
    ['GET', '/account/v60/metrics?format=a', 422],
    ['GET', '/merchant/nothing', 404],
    ['GET', '/request/v60', 422],
  ];
  for (const [method, path, status] of paths) {
    const answer = await get(path, text, method);
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers.get('x-ratelimit-limit'), '500', path);
    assert.match(answer.headers.get('x-ratelimit-remaining') ?? '', /^(?:500|499)$/, path);
    const bare = await get(path, '', method);
    assert.equal(bare.headers.get('x-ratelimit-limit'), '0', path);
    assert.equal(bare.headers.get('x-ratelimit-remaining'), '0', path);
  }
});

/** What the command shows of an account's only key. */
async function storedCore(account: string): Promise<number | undefined> {
  const { out } = await commands.run(['key', 'list', '--json'], { SITUS_VAR: built.varDir });
  const records = JSON.parse(out) as readonly {
    readonly account: string;
    readonly usage: { readonly core: number };
  }[];
  return records.find((each) => each.account === account)?.usage.core;
}

test('a killed server has stored what it counted before', async () => {
  const text = await newKey('--plan', 'enterprise', '--account', 'killed');
  for (let index = 0; index < 25; index += 1) await get(index < 10 ? ADDRESS : POSTAL, text);
  await eventually(async () => (await storedCore('killed')) === 25);
  for (let index = 0; index < 5; index += 1) await get(POSTAL, text);
  await end('SIGKILL');
  await startServer();
  const { core_request_count: core, geo_request_count: geo } = await metrics(text);
  assert.equal(geo, 10);
  assert.ok(Number(core) >= 25 && Number(core) <= 30, String(core));
});

test('a server that is stopped loses none, and the command shows them', async () => {
  const text = await newKey('--plan', 'enterprise', '--account', 'counted');
  for (let index = 0; index < 7; index += 1) await get(POSTAL, text);
  await end('SIGTERM');
  assert.equal(await storedCore('counted'), 7);
  await startServer();
  assert.equal((await metrics(text))['request_count'], 7);
});

test('settings of keys that make no sense are refused in a sentence', async () => {
  const bad: readonly (readonly [RegExp, ...string[]])[] = [
    [/'geo' is invalid\. There are: geo_enabled, /, '--grant', 'geo'],
    [/granted and denied/, '--grant', 'historical', '--deny', 'historical'],
    [/--core-limit <N>' argument '-1'/, '--core-limit=-1'],
    [/--geo-limit <N>' argument '1e3'/, '--geo-limit', '1e3'],
    [/whole number from 1 to /, '--rate', '0'],
    [/from 0 to 9{12}\./, '--merchant-limit', '1'.repeat(13)],
  ];
  for (const [message, ...args] of bad) {
    await assert.rejects(key('create', '--plan', 'pro', ...args), message);
  }
});
