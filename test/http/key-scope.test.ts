/** Every operation of the description with a key of each scope alone, over HTTP. */
import assert from 'node:assert/strict';
import { request as rawRequest } from 'node:http';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { createKey, updateKey } from '../../src/store/keys.js';
import { SCOPES, type Scope } from '../../src/store/scope.js';
import { Store } from '../../src/store/store.js';
import { OPERATIONS } from '../../src/describe/operations.js';
import { eventually } from '../support/http-eventually.js';
import {
  newMerchantDir,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';

const NAMES = Object.keys(SCOPES) as readonly Scope[];
const keyOf = (scope: Scope): string => `a-key-of-scope-${scope}`;
const OLD_KEY = 'a-key-of-an-older-store';

/** By the beginning of a path, told a second time here. Several: all of them; a bar: one of them. */
const ALLOWED: readonly (readonly [string, readonly string[]])[] = [
  ['/request/', ['lookup']],
  ['/search/tic', ['lookup']],
  ['/account/', ['operate']],
  ['/calculate/cart', ['carts']],
  ['/merchant/cart/calculate', ['carts']],
  ['/merchant/order/', ['carts']],
  ['/merchant/refund/', ['carts']],
  ['/merchant/cert/', ['carts']],
  ['/merchant/credentials/', ['credentials']],
  ['/merchant/nexus/', ['merchants']],
  ['/merchant/', ['merchants']],
  ['/bulk/lookup', ['lookup']],
  ['/bulk/cart', ['carts']],
  ['/bulk/jobs', ['lookup|carts']],
  ['/bulk/trailer', ['lookup|carts']],
  ['/stream', ['lookup', 'carts']],
];

let service: MerchantService;
let varDir: string;

before(async () => {
  varDir = await newMerchantDir(null);
  const store = await Store.open(varDir);
  for (const scope of NAMES) {
    await createKey(store, {
      text: keyOf(scope),
      plan: 'enterprise',
      account: 'scoped',
      rate: 100_000,
      scopes: SCOPES[scope],
    });
  }
  const {
    record: { scopes: _, ...old },
  } = await createKey(store, { text: OLD_KEY, plan: 'enterprise', account: 'scoped' });
  await store.write((transaction) => transaction.put(['key', old.id], old));
  await store.close();
  service = await startMerchants(varDir);
});

after(async () => {
  await service.stop();
  rmSync(varDir, { recursive: true, force: true });
});

interface Seen {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** An upgrade cannot be asked for with fetch. */
function upgrade(path: string, key: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = rawRequest(service.base + path, {
      headers: {
        'X-API-KEY': key,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    });
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, type: '', text: '' });
    });
    sent.on('response', (response) => {
      let text = '';
      response
        .on('data', (piece: Buffer) => {
          text += piece.toString();
        })
        .on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            text,
          }),
        );
    });
    sent.on('error', reject).end();
  });
}

async function send(name: string, key: string): Promise<Seen> {
  const [method = '', template = ''] = name.split(' ');
  const path = template.replace('{id}', 'job_0');
  if (name === 'GET /stream') return upgrade(path, key);
  const rows = path === '/bulk/jobs' && key === keyOf('carts') ? '?kind=cart' : '';
  const type =
    path.startsWith('/bulk') || path === '/stream' ? 'application/x-ndjson' : 'application/json';
  const response = await fetch(service.base + path + rows, {
    method,
    headers: { 'X-API-KEY': key, 'Content-Type': type },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type') ?? '', text };
}

function refused({ text }: Seen): boolean {
  return /does not have the scope/.test(text);
}

const KEYED = [...OPERATIONS].filter(([, { keyed }]) => keyed);

for (const [name, { responses }] of KEYED) {
  const path = name.split(' ')[1] ?? '';
  const needed = ALLOWED.find(([beginning]) => path.startsWith(beginning))?.[1];
  for (const scope of NAMES) {
    test(`${name} with the scope ${scope} alone`, async () => {
      assert.ok(needed !== undefined, `nothing is said of ${path}`);
      const may = needed.every((each) => each.split('|').includes(scope));
      const seen = await send(name, keyOf(scope));
      assert.equal(refused(seen), !may, `${seen.status} ${seen.text}`);
      if (may) return;
      assert.ok(String(seen.status) in responses, `${seen.status} is not documented`);
      if (path.startsWith('/request/')) {
        assert.equal(seen.status, 405);
        assert.match(seen.text, /"(?:code|rCode)":107/);
        assert.equal(seen.type, 'application/json');
      } else {
        assert.equal(seen.status, 403);
        assert.equal(seen.type, 'application/problem+json');
      }
    });
  }
  test(`${name} with a key that is older than scopes`, async () => {
    assert.equal(refused(await send(name, OLD_KEY)), false);
  });
}

test('rows of a job need the scope of their kind', async () => {
  const post = (key: string, kind: string): Promise<Response> =>
    fetch(`${service.base}/bulk/jobs?kind=${kind}`, {
      method: 'POST',
      headers: { 'X-API-KEY': key, 'Content-Type': 'application/x-ndjson' },
      body: '{}',
    });
  assert.equal((await post(keyOf('lookup'), 'cart')).status, 403);
  assert.equal((await post(keyOf('carts'), 'lookup')).status, 403);
  assert.notEqual((await post(keyOf('lookup'), 'lookup')).status, 403);
});

test('a change of scopes holds in a running server within a second', async () => {
  const path = 'GET /request/v60';
  assert.equal(refused(await send(path, OLD_KEY)), false);
  const store = await Store.open(varDir);
  await updateKey(store, OLD_KEY, { scopes: SCOPES.carts });
  await store.close();
  await eventually(async () => refused(await send(path, OLD_KEY)));
  const { headers } = await fetch(`${service.base}/request/v60`, {
    headers: { 'X-API-KEY': OLD_KEY },
  });
  assert.equal(headers.get('x-situs-precision'), 'none');
  assert.equal(refused(await send('POST /calculate/cart', OLD_KEY)), false);
});
