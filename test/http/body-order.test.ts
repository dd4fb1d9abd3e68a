/** Over real sockets: head, key, rate and size decide before a byte of a body is kept. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { RELAYED_NAMES } from '../../src/provider/operation-call.js';
import { KEYLESS_DRAIN } from '../../src/http/drain.js';
import { RawClient, requestText } from '../support/http-client.js';
import { eventually } from '../support/http-eventually.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { ECHO_WORKER } from '../support/http-stub-server.js';

/** What the load of the machine may add. */
const LOAD_MS = 120_000;

const MIB = 1_048_576;
const CART = '/merchant/cart/calculate';
const POSTS = [
  '/merchant/create',
  '/merchant/nexus/create',
  '/merchant/order/create',
  CART,
  '/calculate/cart',
  '/search/tic',
  '/bulk/lookup',
  '/bulk/cart',
  '/bulk/jobs',
];

let varDir: string;
let service: MerchantService;

before(async () => {
  varDir = await newMerchantDir(null);
  service = await startMerchants(varDir, { worker: ECHO_WORKER }, { SITUS_BODY_MEMORY_MIB: '16' });
});

after(async () => {
  await service.stop();
  removeDirs(varDir);
});

/** A client that announces a body and sends its beginning. */
async function begun(
  path: string,
  headers: Readonly<Record<string, string>>,
  text: string,
): Promise<RawClient> {
  const client = await RawClient.open(Number(new URL(service.base).port));
  client.socket.on('error', () => undefined);
  client.write(requestText('POST', path, { 'Content-Type': 'text/csv', ...headers }) + text);
  return client;
}

test('an upload without a key is answered 401 at once and cut, and nothing of it kept', async () => {
  for (const path of POSTS) {
    const from = performance.now();
    const client = await begun(path, { 'Content-Length': String(8 * MIB) }, 'x'.repeat(100_000));
    const answer = await client.answer();
    assert.equal(answer?.status, 401, path);
    assert.match(answer.body, /"code":101/, path);
    assert.equal(answer.headers.get('connection'), 'close', path);
    await client.closed();
    assert.ok(performance.now() - from < KEYLESS_DRAIN.totalMs + LOAD_MS, path);
    assert.equal(service.app.router.room.used, 0, path);
    client.close();
  }
});

test('a client that waits to be told to send its body is answered 401, with a key after its body', async () => {
  const expecting = { Expect: '100-continue', 'Content-Length': '2' };
  const from = performance.now();
  const client = await begun(CART, expecting, '');
  assert.equal((await client.answer())?.status, 100, 'told by the native server');
  assert.equal((await client.answer())?.status, 401);
  await client.closed();
  assert.ok(performance.now() - from < KEYLESS_DRAIN.totalMs + LOAD_MS);
  const keyed = await begun(CART, { ...expecting, 'X-API-KEY': KEYS.alpha }, '');
  assert.equal((await keyed.answer())?.status, 100);
  keyed.write('{}');
  assert.equal((await keyed.answer())?.status, 400);
  keyed.close();
});

test('room is given back by clients that vanish, in the midst of a body and behind it', async () => {
  const headers = { 'X-API-KEY': KEYS.alpha, 'Content-Length': String(MIB) };
  const gone = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      begun(CART, headers, ' '.repeat(at % 2 === 0 ? MIB : MIB / 2)),
    ),
  );
  for (const client of gone) client.socket.resetAndDestroy();
  await eventually(() => service.app.router.traffic.open === 0);
  assert.equal(service.app.router.room.used, 0);
});

interface Described {
  readonly post?: {
    readonly requestBody?: { readonly description?: string; readonly 'x-body-bytes-max'?: number };
  };
}

async function describedPaths(): Promise<Readonly<Record<string, Described>>> {
  const answer = await fetch(`${service.base}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Described> };
  return paths;
}

test('the API page states the limit of each operation that goes to the provider', async () => {
  const page = readFileSync(join(packageRoot(), 'docs', 'api.md'), 'utf8');
  const [, most = '', others = ''] =
    /^\| 413 \| the body has more than (\d+) KiB, (.*?); or the provider says so/m.exec(page) ?? [];
  const limits = new Map(
    [...others.matchAll(/(\d+) (KiB|MiB) for ((?:(?:, | and )?`[^`]+`)+)/g)].flatMap(
      ([, count, unit, names = '']) =>
        (names.match(/[^`]+(?=`(?:,| and|$))/g) ?? []).map(
          (name) => [name, Number(count) * (unit === 'MiB' ? MIB : 1_024)] as const,
        ),
    ),
  );
  const paths = await describedPaths();
  for (const name of RELAYED_NAMES) {
    const bytes = paths[`/merchant/${name}`]?.post?.requestBody?.['x-body-bytes-max'];
    assert.equal(limits.get(name) ?? Number(most) * 1_024, bytes, name);
    limits.delete(name);
  }
  assert.deepEqual([...limits], []);
});

test('what is too long is answered with the limit of its route, which the description states', async () => {
  const paths = await describedPaths();
  const limited = Object.entries(paths).flatMap(([path, { post }]) => {
    const bytes = post?.requestBody?.['x-body-bytes-max'];
    return bytes === undefined ? [] : [{ path, bytes, told: post?.requestBody?.description ?? '' }];
  });
  const open = Object.entries(paths).filter(
    ([path, { post }]) =>
      post?.requestBody !== undefined && !limited.some((each) => each.path === path),
  );
  assert.deepEqual(
    open
      .map(([path]) => path.split('/')[1])
      .filter((first) => first !== 'bulk' && first !== 'stream'),
    [],
    'only bulk files and streams are read as they come',
  );
  assert.ok(limited.length > 20);
  for (const { path, bytes, told } of limited) {
    assert.match(told, new RegExp(`At most ${bytes} bytes`), path);
    const refused = await service.post(path, Buffer.alloc(bytes + 1, ' '));
    assert.equal(refused.status, 413, path);
    assert.match(refused.text, new RegExp(`may have ${bytes} bytes`), path);
  }
});

test('one that trickles is cut as well', async () => {
  const from = performance.now();
  const client = await begun(CART, { 'Transfer-Encoding': 'chunked' }, '1\r\nx\r\n');
  const trickle = setInterval(() => client.write('1\r\nx\r\n'), 50);
  const answer = await client.answer();
  clearInterval(trickle);
  client.close();
  assert.equal(answer?.status, 401);
  const took = performance.now() - from;
  assert.ok(took < KEYLESS_DRAIN.totalMs + LOAD_MS, `${took} ms`);
});

test('a client that sends everything first reads its 401', async () => {
  const body = Buffer.alloc(8 * MIB, ' ');
  for (const path of POSTS) {
    const answer = await service.post(path, body, {
      key: null,
      headers: { 'Content-Type': 'text/csv' },
    });
    assert.equal(answer.status, 401, path);
  }
});

test('a body of a length beyond the limit is refused by its head', async () => {
  const headers = { 'X-API-KEY': KEYS.alpha, 'Content-Length': String(8 * MIB + 1) };
  const client = await begun(CART, headers, 'x'.repeat(100_000));
  await eventually(() => service.app.router.traffic.open === 1);
  assert.equal(service.app.router.room.used, 0);
  client.write('x'.repeat(8 * MIB + 1 - 100_000));
  assert.equal((await client.answer())?.status, 413);
  client.close();
});

test('a refused body takes its place in the rate window, once', async () => {
  const left = ({ headers }: { readonly headers: Headers }): number =>
    Number(headers.get('x-ratelimit-remaining'));
  // A key whose window has nothing else in it that could leave it meanwhile.
  const options = { key: KEYS.beta };
  const before = left(await service.list(options));
  const long = await service.post('/merchant/create', ' '.repeat(2 * MIB), options);
  const kept = await service.post('/merchant/create', '{', options);
  assert.deepEqual([long.status, kept.status], [413, 400]);
  assert.deepEqual([left(long), left(kept)], [before - 1, before - 2]);
  assert.equal((await service.post('/merchant/create', {}, { key: KEYS.slow })).status, 422);
  const client = await begun(
    '/merchant/create',
    { 'X-API-KEY': KEYS.slow, 'Content-Length': '60000' },
    'x',
  );
  const answer = await client.answer();
  assert.equal(answer?.status, 429);
  assert.match(answer.body, /"code":108/);
  client.close();
});

test('bodies of all connections are bounded, and 503 beyond', async () => {
  const headers = { 'X-API-KEY': KEYS.alpha, 'Content-Length': String(8 * MIB) };
  const held: RawClient[] = [];
  for (let count = 0; count < 2; count += 1) {
    held.push(await begun(CART, headers, ' '.repeat(6.5 * MIB)));
  }
  await eventually(() => service.app.router.room.used >= 13 * MIB);
  const late = await service.post(CART, Buffer.alloc(8 * MIB, ' '));
  assert.equal(late.status, 503);
  assert.ok(late.headers.get('x-ratelimit-limit'));
  const short = await service.post('/merchant/create', { merchantName: 'Acme' });
  assert.equal(short.status, 201, 'short bodies find room');
  for (const client of held) client.close();
  await eventually(() => service.app.router.room.used === 0);
});
