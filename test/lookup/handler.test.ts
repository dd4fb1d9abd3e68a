import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookupRoutes, type LookupKey, type LookupServices } from '../../src/api/lookup/handler.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { routeTable } from '../../src/http/router.js';
import type { LookupRequest } from '../../src/pool/types.js';
import { API_VERSIONS } from '../../src/wire/tree.js';
import { inject, type InjectedReply } from '../support/http-inject.js';
import { STUB_USAGE, stubFailure, stubKey } from '../support/http-stub-server.js';

const KEY = 'situs_0123456789';
const OTHER = 'other_0123456789';
const RELEASE = { id: '2026-11-21-000000000000', dir: '/nowhere' };

type Answering = (request: LookupRequest) => void;

const answering: Answering = (request) =>
  request.answered(
    { status: 200, code: 100, precision: 1, flags: 0, body: Buffer.from(String(request.payload)) },
    RELEASE,
  );

function lookups(
  submit: Answering = answering,
  rate = 1000,
  usage: LookupServices['usage'] = STUB_USAGE,
): (target: string, headers?: Readonly<Record<string, string>>) => InjectedReply {
  const services: LookupServices = {
    gate: new Gate({
      find: (text) => (text === KEY ? stubKey('k', rate, 5) : null),
      rates: createRateGate(() => 0),
      baseUrl: '',
    }),
    usage,
    pool: { submit },
    renderFailure: stubFailure,
    baseUrl: 'http://localhost',
  };
  const table = routeTable(lookupRoutes(services));
  return (target, headers = {}) => inject(table, 'GET', target, headers);
}

test('every version answers, with and without a trailing slash', () => {
  const seen: number[] = [];
  const get = lookups((request) => {
    seen.push(request.version);
    answering(request);
  });
  for (const version of API_VERSIONS) {
    assert.equal(get(`/request/v${version}?key=${KEY}`).status, 200);
    assert.equal(get(`/request/v${version}/?key=${KEY}`).status, 200);
  }
  assert.deepEqual(
    seen,
    API_VERSIONS.flatMap((version) => [version, version]),
  );
});

test('the key comes from the header, else from the lower-case parameter', () => {
  const get = lookups();
  const wins = { 'x-api-key': KEY };
  assert.equal(get('/request/v60?a=1', wins).status, 200);
  assert.equal(get(`/request/v60?a=1&key=${KEY}`).status, 200);
  assert.equal(get(`/request/v60?key=${OTHER}`, wins).status, 200, 'the header wins');
  assert.equal(get(`/request/v60?key=${KEY}`, { 'x-api-key': OTHER }).status, 401);
  assert.equal(get(`/request/v60?key=${KEY.replace('_', '%5F')}`).status, 200);
  assert.equal(get(`/request/v60?%6bey=${KEY}`).status, 200);
  for (const name of ['apiKey', 'api_key', 'KEY', 'Key', 'monkey']) {
    assert.equal(get(`/request/v60?${name}=${KEY}`).status, 401, name);
  }
});

test('no key travels to the worker', () => {
  const get = lookups();
  const wins = { 'x-api-key': KEY };
  const rest = (target: string): string => get(target, wins).body;
  assert.equal(rest(`/request/v60?key=${OTHER}&address=1+Main%20St`), 'address=1+Main%20St');
  assert.equal(rest(`/request/v60?a=1&key=${OTHER}&b=2&key=x`), 'a=1&b=2');
  assert.equal(rest(`/request/v60?%6Bey=${OTHER}&a=1`), 'a=1');
  assert.equal(rest('/request/v60?city=Key+West&monkey=1'), 'city=Key+West&monkey=1');
  assert.equal(rest('/request/v60'), '');
});

test('missing, malformed and unknown keys give one and the same 401', () => {
  const get = lookups(() => assert.fail('no request without a key reaches the pool'));
  const replies = ['', `?key=${OTHER}`, '?key=short', `?key=${'x'.repeat(101)}`, '?key=%zz'].map(
    (query) => get(`/request/v60${query}`),
  );
  for (const reply of replies) {
    assert.equal(reply.status, 401);
    assert.deepEqual(JSON.parse(reply.body), {
      metadata: { version: 'v60', response: { code: 101, name: 'invalid-key' } },
    });
    assert.equal(reply.headers.get('x-ratelimit-limit'), '0');
  }
});

test('a refusal before the pool has the format asked for, read as a lookup reads it', () => {
  const get = lookups();
  const type = (query: string): string | undefined =>
    get(`/request/v60?${query}`).headers.get('content-type');
  for (const query of [
    'format=xml',
    'format=XML',
    'format=%78ml',
    'f%6Frmat=xml',
    'format=xml&format=json',
  ]) {
    assert.equal(type(query), 'application/xml; charset=utf-8', query);
  }
  for (const query of ['format=json&format=xml', 'format=yaml', 'a=format=xml', '']) {
    assert.equal(type(query), 'application/json', query);
  }
});

test('the rate is exact and every answer tells it', () => {
  const get = lookups(answering, 2);
  const answers = [1, 2, 3].map(() => get(`/request/v60?key=${KEY}`));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  assert.deepEqual(
    answers.map(({ headers }) => headers.get('x-ratelimit-remaining')),
    ['1', '0', '0'],
  );
  assert.ok(answers.every(({ headers }) => headers.get('x-ratelimit-limit') === '2'));
  assert.match(answers[2]!.body, /"code":108/);
});

test('precision, release and format are told in the head', () => {
  const send = (precision: number, flags: number): InjectedReply =>
    lookups((request) =>
      request.answered(
        { status: 200, code: 100, precision, flags, body: Buffer.alloc(0) },
        RELEASE,
      ),
    )(`/request/v60?key=${KEY}`);
  const plain = send(1, 0).headers;
  assert.equal(plain.get('content-type'), 'application/json');
  assert.equal(plain.get('x-situs-precision'), 'point');
  assert.equal(plain.get('x-situs-dataset'), RELEASE.id);
  const marked = send(6, 7).headers;
  assert.equal(marked.get('content-type'), 'application/xml; charset=utf-8');
  assert.equal(marked.get('x-situs-precision'), 'postal;estimated');
  assert.equal(marked.get('x-situs-dataset'), `${RELEASE.id};stale`);
  assert.equal(send(6, 16).headers.get('x-situs-dataset'), `${RELEASE.id};partial`);
  assert.equal(send(6, 20).headers.get('x-situs-dataset'), `${RELEASE.id};stale;partial`);
  assert.equal(send(0, 0).headers.get('x-situs-precision'), 'none');
});

test('what the pool refuses or loses is answered in the envelope, in the asked format', () => {
  const refuse = lookups((request) => request.failed('overloaded'));
  const lose = lookups((request) => request.failed('internal'));
  const refused = refuse(`/request/v60?key=${KEY}`);
  assert.equal(refused.status, 503);
  assert.match(refused.body, /"code":106/);
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '999');
  const lost = lose(`/request/v60?key=${KEY}&format=xml`);
  assert.equal(lost.status, 500);
  assert.equal(lost.headers.get('content-type'), 'application/xml; charset=utf-8');
  assert.match(lost.body, /<code>106</);
});

test('other methods and paths give problem documents', () => {
  const table = routeTable(
    lookupRoutes({
      gate: new Gate<LookupKey>({ find: () => null, rates: createRateGate(), baseUrl: '' }),
      usage: STUB_USAGE,
      pool: { submit: answering },
      renderFailure: stubFailure,
      baseUrl: '',
    }),
  );
  for (const method of ['POST', 'PUT', 'OPTIONS', 'DELETE']) {
    const reply = inject(table, method, `/request/v60/?key=${KEY}`);
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.get('allow'), 'GET, HEAD');
    assert.equal(reply.headers.get('content-type'), 'application/problem+json');
  }
  const unknown = inject(table, 'GET', `/request/v70?key=${KEY}`);
  assert.deepEqual(JSON.parse(unknown.body), {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'There is no such path.',
    instance: '/request/v70',
  });
});

test('a lookup counts once, whether its answer was read before it is sent, or not sent at all', () => {
  const slice = { status: 200, code: 100, precision: 1, flags: 0, body: Buffer.from('x') };
  const ways: readonly Answering[] = [
    (request) => request.answered(slice, RELEASE),
    (request) => {
      request.read?.(slice, RELEASE);
      request.answered(slice, RELEASE);
    },
    (request) => {
      request.read?.(slice, RELEASE);
      request.failed('internal');
    },
    (request) => request.failed('internal'),
  ];
  const seen = ways.map((way) => {
    const settled: boolean[] = [];
    const get = lookups(way, 1000, {
      ...STUB_USAGE,
      settle: (_admission, counted) => {
        settled.push(counted);
      },
    });
    return [get(`/request/v60?key=${KEY}`).status, settled];
  });
  assert.deepEqual(seen, [
    [200, [true]],
    [200, [true]],
    [500, [true]],
    [500, [false]],
  ]);
});
