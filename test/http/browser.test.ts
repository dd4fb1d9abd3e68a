/** What pages of other origins and caches go by: CORS, HEAD, header fields that are sent twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { routeTable, methodsOf } from '../../src/http/route-table.js';
import { ask, RawClient, type RawAnswer, requestText } from '../support/http-client.js';
import { table } from '../support/job-service.js';
import { eventually } from '../support/http-eventually.js';
import {
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  sendRaw,
  startMerchants,
  UNKNOWN_ID,
  type MerchantService,
  type RawAnswered,
} from '../support/merchant-service.js';

const ORIGIN = 'https://shop.example';
const OTHER = 'https://other.example';
const PAGE = { Origin: ORIGIN };

function wordsOf(text: string): Set<string> {
  return new Set(text.split(' '));
}

/** Any page may read these (Fetch, 2.2.6); the others are no field of this service's own. */
const READ_BY_ALL = wordsOf(
  'cache-control content-language content-length content-type expires last-modified ' + 'pragma',
);
const OF_TRANSPORT = wordsOf(
  'access-control-allow-origin access-control-expose-headers connection ' +
    'content-encoding date keep-alive transfer-encoding uwebsockets vary',
);

let service: MerchantService;
let port: number;
/** Path of the result of a job that is done. */
let result: string;

before(async () => {
  const varDir = await newMerchantDir(inventedCountry());
  service = await startMerchants(
    varDir,
    {},
    { SITUS_CORS_ORIGINS: `${ORIGIN}:443, http://localhost:5173` },
  );
  port = Number(new URL(service.base).port);
  const made = await send('POST', '/bulk/jobs', { 'Content-Type': 'text/csv' }, table(3));
  assert.equal(made.status, 202, made.text);
  const { id } = JSON.parse(made.text) as { readonly id: string };
  result = `/bulk/jobs/${id}/result`;
  await eventually(async () => (await send('GET', result)).status === 200, 60_000);
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
});

function send(
  method: 'GET' | 'POST' | 'DELETE' | 'PUT',
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<RawAnswered> {
  return sendRaw(service.base + path, {
    method,
    headers: { 'X-API-Key': KEYS.alpha, ...PAGE, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

function preflight(path: string, method: string, more = {}): Promise<RawAnswer> {
  return ask(
    port,
    path,
    {
      ...PAGE,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type,x-api-key',
      ...more,
    },
    'OPTIONS',
  );
}

/** Names in a list of a header field, in small letters. */
function namesIn(field: string | null | undefined): ReadonlySet<string> {
  return new Set((field ?? '').split(',').map((name) => name.trim().toLowerCase()));
}

test('a page may ask every operation, with each method and field that it takes', async () => {
  const routes = routeTable(service.app.routes);
  const { text } = await sendRaw(`${service.base}/openapi.json`, {});
  const { paths } = JSON.parse(text) as { readonly paths: Readonly<Record<string, object>> };
  const asked = wordsOf('x-api-key content-type content-encoding x-env x-request-id traceparent');
  for (const [, name = ''] of JSON.stringify(paths).matchAll(
    /"name":"([A-Za-z-]+)","in":"header"/g,
  )) {
    asked.add(name.toLowerCase());
  }
  assert.ok(asked.has('idempotency-key') && asked.has('if-none-match') && asked.has('range'));
  for (const { path, method } of service.app.routes) {
    const { status, headers, body } = await preflight(path.replace('{id}', UNKNOWN_ID), method);
    assert.equal(status, 204, path);
    assert.equal(body, '');
    assert.equal(headers.get('access-control-allow-origin'), ORIGIN);
    assert.equal(
      headers.get('access-control-allow-credentials'),
      undefined,
      'keys have their own field',
    );
    assert.equal(headers.get('vary'), 'Origin');
    const allowed = [...(methodsOf(routes, path)?.keys() ?? [])];
    const methods = namesIn(headers.get('access-control-allow-methods'));
    for (const each of allowed) assert.ok(methods.has(each.toLowerCase()), `${each} ${path}`);
    const fields = namesIn(headers.get('access-control-allow-headers'));
    for (const name of asked) assert.ok(fields.has(name), name);
  }
  assert.equal((await preflight('/nowhere', 'GET')).status, 404);
});

test('only named origins may, also where the usual port is written; "null" is none', async () => {
  for (const origin of [
    OTHER,
    'null',
    'http://shop.example',
    `${ORIGIN}.evil.example`,
    `${ORIGIN}:8443`,
  ]) {
    const refused = await preflight('/request/v60', 'GET', { Origin: origin });
    assert.equal(refused.status, 405, origin);
    assert.equal(refused.headers.get('access-control-allow-origin'), undefined);
    const read = await send('GET', '/system/live', { Origin: origin });
    assert.equal(read.headers.get('access-control-allow-origin'), null);
    assert.equal(read.headers.get('vary'), 'Origin', 'no cache gives it to a page that may');
  }
  const local = await send('GET', '/system/live', { Origin: 'http://localhost:5173' });
  assert.equal(local.headers.get('access-control-allow-origin'), 'http://localhost:5173');
  const nobody = await sendRaw(`${service.base}/system/live`, {});
  assert.equal(nobody.headers.get('vary'), 'Origin');
});

test('pages read refusals too, and every field of this service', async (context) => {
  const bare = await startMerchants(await newMerchantDir(null), {}, { SITUS_CORS_ORIGINS: '*' });
  context.after(async () => {
    await bare.stop();
    removeDirs(bare.varDir);
  });
  const json = { 'Content-Type': 'application/json' };
  const idempotent = { ...json, 'Idempotency-Key': 'a-page' };
  const merchant = JSON.stringify({ merchantName: 'Acme', merchantType: 'self-managed' });
  const lookup = '/request/v60?postalcode=91010';
  const answers: readonly (readonly [status: number, answer: RawAnswered])[] = [
    [200, await send('GET', `${lookup}&receipt=true`)],
    [401, await send('GET', lookup, { 'X-API-Key': 'a-wrong-key-of-a-page' })],
    [404, await send('GET', '/nowhere')],
    [405, await send('PUT', lookup)],
    [413, await send('POST', '/search/tic', json, 'x'.repeat(20_000))],
    [422, await send('GET', '/request/v60?postalcode=99999')],
    [201, await send('POST', '/merchant/create', idempotent, merchant)],
    [201, await send('POST', '/merchant/create', idempotent, merchant)],
    [201, await send('POST', '/merchant/create', json, merchant)],
    [200, await send('GET', '/merchant/list?limit=1')],
    [200, await send('GET', lookup, { 'X-API-Key': KEYS.slow })],
    [429, await send('GET', lookup, { 'X-API-Key': KEYS.slow })],
    [
      429,
      await send(
        'POST',
        '/bulk/lookup',
        { 'X-API-Key': KEYS.slow, 'Content-Type': 'text/csv' },
        table(1),
      ),
    ],
    [200, await send('POST', '/bulk/lookup', { 'Content-Type': 'text/csv' }, table(1))],
    [415, await send('POST', '/bulk/lookup', json, '{}')],
    [200, await send('GET', result)],
    [206, await send('GET', result, { Range: 'bytes=0-4' })],
    [416, await send('GET', result, { Range: 'bytes=99999-' })],
    [503, await sendRaw(bare.base + lookup, { headers: { ...PAGE, 'X-API-Key': KEYS.alpha } })],
  ];
  for (const [status, { headers, text, status: got }] of answers) {
    assert.equal(got, status, text);
    const toAll = got === 503;
    assert.equal(headers.get('access-control-allow-origin'), toAll ? '*' : ORIGIN, String(status));
    assert.equal(
      namesIn(headers.get('vary')).has('origin'),
      !toAll,
      'what is said to all varies for none',
    );
    const exposed = namesIn(headers.get('access-control-expose-headers'));
    for (const name of headers.keys()) {
      assert.ok(
        exposed.has(name) || READ_BY_ALL.has(name) || OF_TRANSPORT.has(name),
        `${status} ${name}`,
      );
    }
  }
  assert.equal(answers[7]![1].headers.get('idempotency-replayed'), 'true');
  assert.notEqual(answers[9]![1].headers.get('x-situs-next-cursor'), null);
});

test('HEAD has the status and every field of GET, and no body', async () => {
  // How a body is sent is not said where none is (RFC 9110, 9.3.2).
  const passing = wordsOf('date x-ratelimit-remaining x-situs-receipt transfer-encoding');
  const paths = service.app.routes
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace('{id}', UNKNOWN_ID))
    .filter((path) => path !== '/stream');
  const asked = [
    ...paths,
    result,
    result.replace('/result', ''),
    '/nowhere',
    '/request/v60?postalcode=91010',
    '/request/v60?postalcode=91010&format=xml&receipt=true',
    '/request/v60?postalcode=99999',
    '/merchant/list?limit=1',
  ];
  for (const path of asked) {
    const key = { 'X-API-Key': KEYS.alpha, ...PAGE, 'Accept-Encoding': 'identity' };
    const client = await RawClient.open(port);
    client.write(requestText('GET', path, key));
    const get = await client.answer();
    client.close();
    const again = await RawClient.open(port);
    again.write(requestText('HEAD', path, key));
    const head = await again.answer(true);
    assert.ok(get !== null && head !== null, path);
    // Whatever came behind the head would be read as the next answer.
    again.write(requestText('GET', '/system/live'));
    assert.equal((await again.answer())?.status, 200, path);
    again.close();
    assert.equal(head.status, get.status, path);
    const fields = ({ headers }: RawAnswer): object =>
      Object.fromEntries(
        [...headers]
          .filter(
            ([name]) =>
              !passing.has(name) && !(name === 'content-length' && /metrics|health/.test(path)),
          )
          .sort(),
      );
    assert.deepEqual(fields(head), fields(get), path);
  }
});

test('a request id comes back as it was, unless it is too long or no visible text', async () => {
  const longest = 'i'.repeat(128);
  for (const id of ['a', '{"id":1}', longest]) {
    const { headers } = await send('GET', '/request/v60?postalcode=91010', { 'X-Request-Id': id });
    assert.equal(headers.get('x-request-id'), id);
  }
  for (const id of [`${longest}i`, 'two words']) {
    const { headers } = await send('GET', '/request/v60?postalcode=91010', { 'X-Request-Id': id });
    assert.equal(headers.get('x-request-id'), null);
  }
});

test('of fields sent twice the first counts everywhere, and lists are one list', async () => {
  const twice = (name: string, first: string, second: string): readonly string[] => [
    name,
    first,
    name,
    second,
  ];
  const upload = (fields: readonly string[]): Promise<RawAnswered> =>
    sendRaw(`${service.base}/bulk/lookup`, {
      method: 'POST',
      body: table(1),
      headers: ['Content-Type', 'text/csv', ...fields],
    });
  const key = ['X-API-Key', KEYS.alpha];
  for (const [status, first, second] of [
    [200, KEYS.alpha, 'a-wrong-key-of-a-page'],
    [401, 'a-wrong-key-of-a-page', KEYS.alpha],
  ] as const) {
    const fields = [...twice('X-API-Key', first, second)];
    assert.equal((await upload(fields)).status, status);
    const single = await sendRaw(`${service.base}/request/v60?postalcode=91010`, {
      headers: fields,
    });
    assert.equal(single.status, status);
  }
  const type = async (first: string, second: string): Promise<string | null> =>
    (await upload([...key, ...twice('Accept', first, second)])).headers.get('content-type');
  assert.match((await type('application/x-ndjson', 'text/csv;q=0.5')) ?? '', /ndjson/);
  assert.match((await type('text/csv;q=0.5', 'application/x-ndjson')) ?? '', /ndjson/);
  assert.match((await type('application/json', 'text/csv')) ?? '', /csv/);
  const packed = await upload([...key, ...twice('Accept-Encoding', 'br', 'gzip')]);
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.equal((await upload([...key, ...twice('Content-Encoding', 'gzip', 'gzip')])).status, 415);
});
