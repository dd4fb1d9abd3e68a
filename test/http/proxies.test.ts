/** Whose word is taken for the address of a client, and which pages may read answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrossOrigins } from '../../src/http/cross-origin.js';
import { TrustedProxies } from '../../src/http/proxies.js';

const CASES: readonly (readonly [address: string, forwarded: string, client: string])[] = [
  // Nobody's word counts but that of a proxy.
  ['203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['10.1.2.3', '', '10.1.2.3'],
  ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
  // What a client wrote itself stands before what the proxy added.
  ['10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['10.1.2.3', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['10.1.2.3', '198.51.100.1, nonsense', '10.1.2.3'],
  ['10.1.2.3', '198.51.100.1, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
  ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
  ['10.1.2.3', '[2001:db8::1]:4711', '2001:db8:0:0:0:0:0:1'],
  ['0000:0000:0000:0000:0000:ffff:0a01:0203', '198.51.100.1', '198.51.100.1'],
  ['2001:db8:1::5', '198.51.100.1', '198.51.100.1'],
  ['2001:db8:2::5', '198.51.100.1', '2001:db8:2::5'],
  ['', '198.51.100.1', ''],
];

test('the client is the last address that no trusted proxy has', () => {
  const proxies = TrustedProxies.of(' 10.0.0.0/8, 2001:db8:1::/48 ');
  assert.ok(proxies !== null);
  for (const [address, forwarded, client] of CASES) {
    assert.equal(proxies.clientOf(address, forwarded), client, `${address} for ${forwarded}`);
  }
});

test('IPv4 within IPv6 is the IPv4 that it stands for', () => {
  const proxies = TrustedProxies.of('::ffff:10.0.0.0/104,::ffff:a00:5,::ffff:192.0.2.1');
  for (const [address, client] of [
    ['10.1.2.3', '198.51.100.1'],
    ['::ffff:10.1.2.3', '198.51.100.1'],
    ['192.0.2.1', '198.51.100.1'],
    ['192.0.2.2', '192.0.2.2'],
  ] as const) {
    assert.equal(proxies?.clientOf(address, '198.51.100.1'), client, address);
  }
});

test('a list that is none is refused by the name of its setting', () => {
  assert.equal(TrustedProxies.of(' '), null);
  for (const bad of [
    '10.0.0.0/33',
    'proxy.example',
    '10.0.0.1,x',
    '1',
    '127.1',
    '10/8',
    '172.16/12',
    '010.0.0.0/8',
    '10.0.0.010',
    '0x0a.0.0.0/8',
    '::ffff:010.0.0.1',
    '::ffff:10.0.0.0/8',
  ]) {
    assert.throws(() => TrustedProxies.of(bad), /SITUS_PROXIES must be addresses/, bad);
  }
  assert.equal(CrossOrigins.of(''), null);
  for (const bad of ['shop.example', 'https://shop.example/', 'https://a.example b', 'null']) {
    assert.throws(() => CrossOrigins.of(bad), /SITUS_CORS_ORIGINS must be/, bad);
  }
});

test('pages of named origins may read answers, of others not', () => {
  const origins = CrossOrigins.of('https://shop.example, http://localhost:5173');
  assert.ok(origins !== null);
  assert.deepEqual(origins.fieldsFor('https://other.example'), ['Vary', 'Origin']);
  assert.deepEqual(origins.fieldsFor(''), ['Vary', 'Origin']);
  assert.deepEqual(origins.fieldsFor('https://shop.example').slice(0, 4), [
    'Vary',
    'Origin',
    'Access-Control-Allow-Origin',
    'https://shop.example',
  ]);
  assert.equal(origins.preflight('https://other.example', ['GET']), null);
  const any = CrossOrigins.of('*');
  assert.deepEqual(any?.fieldsFor(''), []);
  assert.deepEqual(any?.fieldsFor('https://any.example').slice(0, 2), [
    'Access-Control-Allow-Origin',
    '*',
  ]);
});
