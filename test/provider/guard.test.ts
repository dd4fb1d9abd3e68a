/** Which addresses and URLs are refused, and that a name cannot change its mind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Agent, request } from 'undici';
import { ADDRESSES_MAX, guardedConnect } from '../../src/provider/connect.js';
import {
  addressRefusal,
  readTarget,
  TARGET_CHARS_MAX,
  type GuardOptions,
} from '../../src/provider/guard.js';

const PUBLIC = [
  '1.1.1.1',
  '93.184.216.34',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '169.253.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::200e',
];

/** Reachable in one's own network, where that is allowed. */
const OWN: readonly (readonly [address: string, range: string])[] = [
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['::1', 'loopback'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['169.254.169.254', 'link-local'],
  ['169.254.0.1', 'link-local'],
  ['fe80::1', 'link-local'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['fd00::1', 'unique local'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'unique local'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:10.0.0.1', 'IPv4-mapped'],
  ['::ffff:a9fe:a9fe', 'IPv4-mapped'],
];

const NEVER: readonly (readonly [address: string, range: string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['::', 'unspecified'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['ff02::1', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['240.0.0.1', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['192.0.0.8', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['64:ff9b::7f00:1', 'NAT64'],
  ['64:ff9b::101:101', 'NAT64'],
  ['64:ff9b:1::a00:1', 'NAT64'],
  ['2002:7f00:1::', '6to4'],
  ['2002:a00:1::1', '6to4'],
  ['2001::1', 'teredo'],
  ['::ffff:0:7f00:1', 'IPv4-translated'],
  ['::7f00:1', 'reserved'],
  ['4000::1', 'reserved'],
  ['fec0::1', 'deprecatedSiteLocal'],
  ['100::1', 'discard'],
  ['localhost', 'unreadable'],
  ['', 'unreadable'],
];

test("addresses are public, of one's own network, or nobody's", () => {
  for (const address of PUBLIC) {
    assert.equal(addressRefusal(address, false), null, address);
    assert.equal(addressRefusal(address, true), null, address);
  }
  for (const [address, range] of OWN) {
    assert.equal(addressRefusal(address, false), range, address);
    assert.equal(addressRefusal(address, true), null, address);
  }
  for (const [address, range] of NEVER) {
    assert.equal(addressRefusal(address, false), range, address);
    assert.notEqual(addressRefusal(address, true), null, address);
  }
  assert.equal(addressRefusal('::ffff:1.1.1.1', false), 'IPv4-mapped', 'public ones too');
  assert.equal(addressRefusal('::ffff:224.0.0.1', true), 'multicast');
});

const GOOD_URLS = [
  'https://provider.example',
  'https://provider.example:8443/v3/',
  'https://1.1.1.1/',
  'https://[2606:4700::1111]/x',
];

const BAD_URLS: readonly (readonly [url: string, refused: RegExp])[] = [
  ['provider.example', /not a URL/],
  ['https://a b.example', /not a URL/],
  ['https://x.example/a\\b', /not a URL/],
  ['https://x.example/\r\nX: y', /not a URL/],
  [`https://x.example/${'x'.repeat(TARGET_CHARS_MAX)}`, /too long/],
  ['http://provider.example', /begin with https/],
  ['ftp://provider.example', /begin with https/],
  ['file:///etc/passwd', /begin with https/],
  ['https://user:secret@provider.example', /user name/],
  ['https://user@provider.example', /user name/],
  ['https://provider.example?x=1', /query/],
  ['https://provider.example?', /query/],
  ['https://provider.example#x', /fragment/],
  ['https://provider.example:22', /port/],
  ['https://provider.example:6379', /port/],
  ['https://127.0.0.1', /loopback/],
  ['https://169.254.169.254/latest', /link-local/],
  ['https://[::1]', /loopback/],
  ['https://[::ffff:10.0.0.1]', /IPv4-mapped/],
  ['https://[64:ff9b::7f00:1]', /NAT64/],
  ['https://[fd00::1]', /unique local/],
  ['https://0.0.0.0', /unspecified/],
];

/** All of them are 127.0.0.1, 10.0.0.1 or 1.1.1.1 to a URL. */
const DISGUISED = [
  'https://2130706433',
  'https://0x7f000001',
  'https://0x7f.0.0.1',
  'https://0177.0.0.1',
  'https://017700000001',
  'https://127.1',
  'https://127.0.0.1.',
  'https://1.1',
  'https://01.1.1.1',
  'https://①.1.1.1',
  'https://%31.1.1.1',
];

test('URLs of public hosts over TLS pass, others are refused with a reason', () => {
  for (const text of GOOD_URLS) {
    const target = readTarget(text, false);
    assert.equal(target.kind, 'target', text);
  }
  for (const [text, refused] of BAD_URLS) {
    const target = readTarget(text, false);
    assert.ok(target.kind === 'refused', text);
    assert.match(target.why, refused, text);
    assert.doesNotMatch(target.why, /secret/);
  }
  for (const text of DISGUISED) {
    for (const allowPrivate of [false, true]) {
      const target = readTarget(text, allowPrivate);
      assert.ok(target.kind === 'refused', text);
      assert.match(target.why, /by name or as a plain address/, text);
    }
  }
});

test('with private networks allowed, http, any port and own addresses pass, and no others', () => {
  for (const text of [
    'http://127.0.0.1:8080',
    'http://[::1]:1',
    'https://10.0.0.1:6379/x',
    'http://localhost:3000',
    'https://[::ffff:10.0.0.1]',
  ]) {
    assert.equal(readTarget(text, true).kind, 'target', text);
  }
  for (const text of [
    'ftp://127.0.0.1',
    'http://224.0.0.1',
    'http://[64:ff9b::1]',
    'http://user:x@localhost',
    'http://localhost?x',
  ]) {
    assert.equal(readTarget(text, true).kind, 'refused', text);
  }
});

interface Listener {
  readonly port: number;
  readonly hosts: string[];
}

async function listen(context: TestContext, address = '127.0.0.1'): Promise<Listener> {
  const hosts: string[] = [];
  const server: Server = createServer((message, response) => {
    hosts.push(message.headers.host ?? '');
    response.setHeader('connection', 'close').end(address);
  });
  await once(server.listen(0, address), 'listening');
  context.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, hosts };
}

function agentOf(context: TestContext, options: GuardOptions): Agent {
  const agent = new Agent({ connect: guardedConnect(options) });
  context.after(() => agent.destroy());
  return agent;
}

/** Answers each question with the next list. */
function resolver(...answers: (readonly string[])[]): {
  readonly asked: string[];
  readonly resolve: (name: string) => Promise<readonly string[]>;
} {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (name) => {
      asked.push(name);
      return answers[asked.length - 1] ?? [];
    },
  };
}

test('the connection goes to the address that was checked, the name stays in Host', async (t) => {
  const { port, hosts } = await listen(t);
  const { asked, resolve } = resolver(['127.0.0.1'], ['127.0.0.2']);
  const dispatcher = agentOf(t, { allowPrivate: true, resolve });
  const answer = await request(`http://provider.test:${port}/`, { dispatcher });
  assert.equal(await answer.body.text(), '127.0.0.1');
  assert.deepEqual(asked, ['provider.test'], 'asked once for the connection');
  assert.deepEqual(hosts, [`provider.test:${port}`]);
});

test('a name that was public and turns private is refused, and nothing is connected', async (t) => {
  const { port, hosts } = await listen(t);
  const dialled: (readonly [string, string | undefined])[] = [];
  const { asked, resolve } = resolver(['1.1.1.1'], ['127.0.0.1'], ['10.0.0.1', '::1']);
  const dispatcher = agentOf(t, {
    allowPrivate: false,
    resolve,
    dial: ({ hostname, servername }, callback) => {
      dialled.push([hostname, servername]);
      callback(new Error('not connected in a test'), null);
    },
  });
  const url = `http://provider.test:${port}/`;
  await assert.rejects(request(url, { dispatcher }), /not connected in a test/);
  await assert.rejects(request(url, { dispatcher }), /no address .*loopback/);
  await assert.rejects(request(url, { dispatcher }), /no address .*private, loopback/);
  await assert.rejects(request(url, { dispatcher }), /none found/);
  assert.deepEqual(dialled, [['1.1.1.1', 'provider.test']], 'the checked address alone');
  assert.equal(asked.length, 4);
  assert.deepEqual(hosts, []);
});

test('private ones among the addresses of a name are passed over', async (t) => {
  const dialled: string[] = [];
  const many = Array.from({ length: ADDRESSES_MAX + 3 }, (_unused, index) => `1.1.1.${index + 1}`);
  const { resolve } = resolver(['127.0.0.1', ...many]);
  const dispatcher = agentOf(t, {
    allowPrivate: false,
    resolve,
    dial: ({ hostname }, callback) => {
      dialled.push(hostname);
      callback(new Error(hostname), null);
    },
  });
  await assert.rejects(request('http://provider.test/', { dispatcher }), /1\.1\.1\.4/);
  assert.deepEqual(dialled, many.slice(0, ADDRESSES_MAX), 'each once, in turn');
});

test('the next address is tried when the first does not answer', async (t) => {
  const { port } = await listen(t);
  const { resolve } = resolver(['127.0.0.2', '127.0.0.1']);
  const dispatcher = agentOf(t, { allowPrivate: true, resolve });
  const answer = await request(`http://provider.test:${port}/`, { dispatcher });
  assert.equal(await answer.body.text(), '127.0.0.1');
});

test('an address in the URL is checked when connecting too', async (t) => {
  const { port, hosts } = await listen(t);
  const dispatcher = agentOf(t, { allowPrivate: false });
  await assert.rejects(request(`http://127.0.0.1:${port}/`, { dispatcher }), /loopback/);
  await assert.rejects(request(`http://[::1]:${port}/`, { dispatcher }), /loopback/);
  assert.deepEqual(hosts, []);
});
