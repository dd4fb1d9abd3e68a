/** Product codes without a socket: keys, limits and refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TicCatalogue } from '../../src/api/catalogue/pages.js';
import { CLIENTS_MAX, ClientGate, clientOf } from '../../src/http/client-limit.js';
import { ticRoutes } from '../../src/api/catalogue/handler.js';
import { Gate } from '../../src/http/gate.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { routeTable } from '../../src/http/router.js';
import { ALL_SCOPES } from '../../src/store/scope.js';
import { failureBytes } from '../../src/wire/failure-body.js';
import { factRows } from '../support/product-facts.js';
import { inject, type InjectedReply } from '../support/http-inject.js';

const KEY = 'situs_0123456789';
const BASE = 'https://rates.example';
const HEADER = { 'x-api-key': KEY };

const DOCUMENTS = new Map([
  ['tic', factRows('tic.tsv')],
  ['tic-words', factRows('tic_words.tsv')],
]);

interface Codes {
  get(target: string, client?: string): InjectedReply;
  search(body: string, headers?: Readonly<Record<string, string>>, target?: string): InjectedReply;
  send(method: string, target: string): InjectedReply;
  pass(ms: number): void;
}

function openCodes(options: { rate?: number; release?: string | null } = {}): Codes {
  const { rate = 1_000, release = 'r1' } = options;
  let now = 0;
  const tics = new TicCatalogue({
    release: () => release,
    document: (name) => DOCUMENTS.get(name) ?? null,
  });
  const table = routeTable(
    ticRoutes({
      gate: new Gate({
        find: (text) => (text === KEY ? { id: 'k', rate, scopes: ALL_SCOPES } : null),
        rates: createRateGate(() => now),
        baseUrl: BASE,
      }),
      clients: new ClientGate(() => now),
      pages: () => tics.pages(),
      renderFailure: failureBytes,
      baseUrl: BASE,
    }),
  );
  return {
    get: (target, client = '10.0.0.1') => inject(table, 'GET', target, { 'test-client': client }),
    search: (body, headers = HEADER, target = '/search/tic') =>
      inject(table, 'POST', target, headers, body),
    send: (method, target) => inject(table, method, target, HEADER),
    pass: (ms) => {
      now += ms;
    },
  };
}

function bodyOf({ body }: InjectedReply): Readonly<Record<string, unknown>> {
  return JSON.parse(body) as Readonly<Record<string, unknown>>;
}

function rateOf({ headers }: InjectedReply): readonly (string | undefined)[] {
  return [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
}

test('the catalogue is public, in both formats', () => {
  const { get } = openCodes();
  const json = get('/data/tic');
  assert.equal(json.status, 200);
  assert.equal(json.headers.get('content-type'), 'application/json');
  assert.deepEqual(rateOf(json), ['100', '99']);
  const xml = get('/data/tic/?format=XML');
  assert.equal(xml.headers.get('content-type'), 'application/xml; charset=utf-8');
  assert.match(xml.body, /^<\?xml.*\n<response><tic_list><tic><id>00000<\/id><parent><\/parent>/);
  const refused = get('/data/tic?format=yaml');
  assert.equal(refused.status, 422);
  assert.equal(refused.headers.get('content-type'), 'application/problem+json');
  assert.deepEqual(bodyOf(refused)['errors'], [
    { location: 'query.format', message: 'expected json or xml' },
  ]);
});

test('each client has a hundred in a rolling minute, refused with code 108', () => {
  const { get, pass } = openCodes();
  for (let left = 99; left >= 0; left -= 1) {
    assert.deepEqual(rateOf(get('/data/tic')), ['100', String(left)]);
    pass(100);
  }
  const refused = get('/data/tic');
  assert.equal(refused.status, 429);
  assert.deepEqual(rateOf(refused), ['100', '0']);
  assert.equal(refused.headers.get('retry-after'), undefined);
  assert.deepEqual(bodyOf(refused), {
    metadata: {
      version: 'v60',
      response: {
        code: 108,
        name: 'RESPONSE_CODE_REQUEST_LIMIT_MET',
        message: 'API request limit met.',
        definition: `${BASE}/request/v60/schema`,
      },
    },
  });
  assert.match(get('/data/tic?format=xml').body, /<code>108<\/code>/);
  assert.equal(get('/data/tic', '10.0.0.2').status, 200, 'another client');
  pass(60_000 - 10_000);
  assert.equal(get('/data/tic').status, 200, 'the first one is a minute ago');
  assert.equal(get('/data/tic').status, 429, 'the second is not');
});

test('an IPv6 network is one client, and memory is bounded', () => {
  assert.equal(clientOf('10.0.0.1'), '10.0.0.1');
  const one = '2001:0db8:0000:0001:0000:0000:0000:0001';
  assert.equal(clientOf(one), clientOf('2001:0db8:0000:0001:ffff:0000:0000:0002'));
  assert.notEqual(clientOf(one), clientOf('2001:0db8:0000:0002:0000:0000:0000:0001'));
  const mapped = '0000:0000:0000:0000:0000:ffff:0a00:0001';
  assert.equal(clientOf(mapped), mapped);
  const gate = new ClientGate(() => 0);
  for (let client = 0; client < CLIENTS_MAX + 5; client += 1) gate.take(`c${client}`);
  assert.equal(gate.size, CLIENTS_MAX);
  assert.equal(gate.take(`c${CLIENTS_MAX + 4}`), 98);
  assert.equal(gate.take('c0'), 99, 'forgotten');
});

test('a search takes the key of lookups, from header or query', () => {
  const { search } = openCodes();
  const found = search('{"query":"baby formula"}');
  assert.equal(found.status, 200);
  assert.deepEqual(rateOf(found), ['1000', '999']);
  const { results } = bodyOf(found) as { results: readonly { tic: string }[] };
  assert.equal(results[0]?.tic, '40030');
  assert.equal(search('{"query":"milk"}', {}, `/search/tic/?key=${KEY}`).status, 200);
  assert.equal(search('{"query":"milk"}', HEADER, '/search/tic?key=other_0123456789').status, 200);
});

test('without a usable key: 401, a problem document with response code 101', () => {
  const { search } = openCodes();
  for (const headers of [{}, { 'x-api-key': 'other_0123456789' }, { 'x-api-key': 'x' }]) {
    const refused = search('{', headers);
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('content-type'), 'application/problem+json');
    assert.deepEqual(rateOf(refused), ['0', '0']);
    const message = 'Key format is not valid or key not found.';
    assert.deepEqual(bodyOf(refused), {
      type: 'about:blank',
      title: 'Unauthorized',
      status: 401,
      detail: message,
      instance: '/search/tic',
      metadata: {
        version: 'v60',
        response: {
          code: 101,
          name: 'RESPONSE_CODE_INVALID_KEY',
          message,
          definition: `${BASE}/request/v60/schema`,
        },
      },
    });
  }
});

test('over the rate of the key: 429 with response code 108', () => {
  const { search } = openCodes({ rate: 2 });
  const statuses = [1, 2, 3].map(() => search('{"query":"milk"}').status);
  assert.deepEqual(statuses, [200, 200, 429]);
  const refused = search('{"query":"milk"}');
  assert.deepEqual(rateOf(refused), ['2', '0']);
  assert.match(refused.body, /"code":108/);
  assert.equal(refused.headers.get('retry-after'), undefined);
});

test('bad bodies: 400 for no JSON, 422 for another shape, the rate is told', () => {
  const { search } = openCodes();
  const malformed = search('{"query":');
  assert.equal(malformed.status, 400);
  assert.deepEqual(rateOf(malformed), ['1000', '999']);
  for (const body of ['{}', '{"query":"  "}', '{"query":"x","page":2}', '[]']) {
    const refused = search(body);
    assert.equal(refused.status, 422, body);
    assert.equal(refused.headers.get('content-type'), 'application/problem+json');
    assert.equal(bodyOf(refused)['detail'], 'validation failed');
  }
});

test('without codes both answer 503', () => {
  const codes = openCodes({ release: null });
  assert.equal(codes.get('/data/tic').status, 503);
  assert.equal(codes.search('{"query":"milk"}').status, 503);
});

test('other methods are refused', () => {
  const { send } = openCodes();
  for (const [method, path, allow] of [
    ['POST', '/data/tic', 'GET, HEAD'],
    ['HEAD', '/search/tic', 'POST'],
    ['GET', '/search/tic', 'POST'],
    ['DELETE', '/search/tic/', 'POST'],
  ] as const) {
    const reply = send(method, path);
    assert.equal(reply.status, 405, `${method} ${path}`);
    assert.equal(reply.headers.get('allow'), allow);
    assert.equal(reply.headers.get('content-type'), 'application/problem+json');
  }
  assert.equal(send('GET', '/search/tic/recommend').status, 404);
  assert.equal(send('GET', '/data/tics').status, 404);
});

test('what is made of the codes is made once, and again only for other codes', () => {
  let release: string | null = 'r1';
  let codes = factRows('tic.tsv').slice(0, 50);
  const tics = new TicCatalogue({
    release: () => release,
    document: (name) => (name === 'tic' ? codes : null),
  });
  const first = tics.pages();
  assert.equal(tics.pages(), first);
  release = 'r2';
  assert.equal(tics.pages(), first, 'the same codes in a new release');
  release = 'r3';
  codes = codes.slice(0, 40);
  const third = tics.pages();
  assert.notEqual(third, first);
  assert.equal(
    (JSON.parse(String(third?.list.json)) as { tic_list: object[] }).tic_list.length,
    40,
  );
  release = null;
  assert.equal(tics.pages(), null);
});
