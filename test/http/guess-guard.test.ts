/** Requests with keys that are none, bounded for each client address. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  CLIENTS_MAX,
  FAILED_KEYS_MAX,
  FAILED_KEYS_WINDOW_MS,
  GuessGuard,
} from '../../src/http/client-limit.js';
import {
  ask,
  KEYS,
  newMerchantDir,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';

function failTimes(guard: GuessGuard, address: string, times: number): boolean {
  let over = false;
  for (let index = 0; index < times; index += 1) over = guard.failed(address);
  return over;
}

test('an address over its bound is told so until its window has passed', () => {
  let now = 0;
  const guard = new GuessGuard(() => now);
  assert.equal(failTimes(guard, '192.0.2.1', FAILED_KEYS_MAX), false);
  assert.equal(guard.failed('192.0.2.1'), true);
  assert.equal(guard.failed('192.0.2.2'), false);
  now = FAILED_KEYS_WINDOW_MS - 1;
  assert.equal(guard.failed('192.0.2.1'), true);
  now = FAILED_KEYS_WINDOW_MS;
  assert.equal(guard.failed('192.0.2.1'), false);
});

test('an IPv6 network of 64 bits is one client, an IPv4 address in IPv6 is itself', () => {
  const guard = new GuessGuard(() => 0);
  failTimes(guard, '2001:0db8:0000:0001:0000:0000:0000:0001', FAILED_KEYS_MAX);
  assert.equal(guard.failed('2001:0db8:0000:0001:ffff:0000:0000:0009'), true);
  assert.equal(guard.failed('2001:0db8:0000:0002:0000:0000:0000:0001'), false);
  failTimes(guard, '0000:0000:0000:0000:0000:ffff:c000:0201', FAILED_KEYS_MAX + 1);
  assert.equal(guard.failed('0000:0000:0000:0000:0000:ffff:c000:0202'), false);
});

test('the table has a size, and the one that failed longest ago is forgotten', () => {
  const guard = new GuessGuard(() => 0);
  failTimes(guard, 'first', FAILED_KEYS_MAX + 1);
  failTimes(guard, 'second', FAILED_KEYS_MAX + 1);
  guard.failed('first');
  for (let index = 0; index < CLIENTS_MAX - 1; index += 1) guard.failed(`other ${index}`);
  assert.equal(guard.size, CLIENTS_MAX);
  assert.equal(guard.failed('first'), true);
  assert.equal(guard.failed('second'), false);
});

let service: MerchantService;
let varDir: string;

before(async () => {
  varDir = await newMerchantDir(null);
  service = await startMerchants(varDir);
});

after(async () => {
  await service.stop();
  rmSync(varDir, { recursive: true, force: true });
});

test('over the bound every kind of operation answers 429 in its own shape, and known keys pass', async () => {
  const { base } = service;
  const guess = { key: 'a-key-that-nobody-has' };
  for (let index = 0; index < FAILED_KEYS_MAX; index += 1) {
    const { status } = await ask(base, 'GET', `/request/v60?postalcode=94105`, null, {
      key: `a-key-that-nobody-has-${index}`,
    });
    assert.equal(status, 401);
  }
  const lookup = await ask(base, 'GET', '/request/v60?postalcode=94105', null, guess);
  assert.equal(lookup.status, 429);
  assert.match(lookup.text, /"code":108/);
  assert.match(lookup.text, /from this address/);
  assert.equal(lookup.headers.get('content-type'), 'application/json');
  assert.equal(lookup.headers.get('x-ratelimit-limit'), '0');
  for (const path of ['/merchant/list', '/account/metrics', '/bulk/jobs', '/bulk/trailer']) {
    const { status, headers, text } = await ask(base, 'GET', path, null, guess);
    assert.equal(status, 429, path);
    assert.equal(headers.get('content-type'), 'application/problem+json', path);
    assert.match(text, /"code":108/, path);
  }
  for (const path of ['/merchant/create', '/calculate/cart', '/search/tic', '/bulk/lookup']) {
    assert.equal((await ask(base, 'POST', path, {}, guess)).status, 429, path);
  }
  const legacy = await ask(base, 'GET', '/request/v40?postalcode=94105', null, guess);
  assert.match(legacy.text, /"rCode":108/);
  // A key that was never used before, from the same address.
  assert.equal((await service.list({ key: KEYS.beta })).status, 200);
  assert.equal((await ask(base, 'GET', '/merchant/list', null, { key: null })).status, 401);
});
