/** The assembled service: what it answers, what it says it answers, and what the page says. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { App } from '../../src/app.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { OPERATIONS } from '../../src/describe/operations.js';
import { type ComponentName, COMPONENTS } from '../../src/describe/document.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  operationsOf,
  operationsTable,
  parametersTable,
  withTable,
} from '../support/documented-tables.js';
import { checker, faults, strictly } from '../support/schema-check.js';
import { startApp } from '../support/own-app.js';

const PAGE = join(packageRoot(), 'docs', 'api.md');
const REWRITE = process.env['SITUS_GOLDEN'] === 'write';
const KEY = 'a-key-for-the-interface-test';
const EMPTY_VAR = mkdtempSync(join(tmpdir(), 'situs-empty-'));

let built: Built;
let app: App;
let base: string;
let emptyApp: App;
let emptyBase: string;

const SETTINGS = { SITUS_BOOTSTRAP_KEY: KEY, SITUS_BASE_URL: 'https://rates.example' };

before(async () => {
  built = buildRecipe('fixture');
  app = await startApp(built.varDir, SETTINGS);
  base = `http://127.0.0.1:${await app.listen()}`;
  emptyApp = await startApp(EMPTY_VAR, SETTINGS);
  emptyBase = `http://127.0.0.1:${await emptyApp.listen()}`;
});

after(async () => {
  await app.stop();
  await emptyApp.stop();
  built.remove();
  rmSync(EMPTY_VAR, { recursive: true, force: true });
});

function get(path: string, key: string | null = KEY): Promise<Response> {
  return fetch(base + path, { headers: key === null ? {} : { 'X-API-KEY': key } });
}

function search(body: string, key: string | null = KEY): Promise<Response> {
  return fetch(`${base}/search/tic`, {
    method: 'POST',
    body,
    headers: key === null ? {} : { 'X-API-KEY': key },
  });
}

test('routes, OpenAPI and documentation list the same operations', async () => {
  const routes = app.routes.map(({ method, path }) => `${method} ${path}`).sort();
  const document = (await (await get('/openapi.json', null)).json()) as {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  };
  assert.equal(document.openapi, '3.1.0');
  const described = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .sort();
  assert.deepEqual(described, routes);
  assert.deepEqual([...OPERATIONS.keys()].sort(), routes);
  assert.deepEqual([...operationsOf(readFileSync(PAGE, 'utf8'))].sort(), routes);
});

test('the tables of the page are those of the program', () => {
  const text = readFileSync(PAGE, 'utf8');
  const right = withTable(
    withTable(text, 'operations', operationsTable()),
    'parameters',
    parametersTable(),
  );
  if (REWRITE) writeFileSync(PAGE, right);
  else assert.equal(text, right);
});

const ANSWERS: readonly (readonly [path: string, status: number, name: ComponentName])[] = [
  ...[10, 20, 30, 40, 50].flatMap(
    (version) =>
      [
        [`/request/v${version}?postalcode=91020`, 200, `V${version}Rates`],
        [`/request/v${version}?postalcode=x`, 422, `V${version}Refusal`],
        [`/account/v${version}/metrics`, 200, 'LegacyMetrics'],
      ] as [string, number, ComponentName][],
  ),
  ['/request/v60?address=120+Main+St,+Elmton,+QA+91010&taxabilityCode=41000', 200, 'V60Rates'],
  ['/request/v60?address=120+Main+St,+Elmton,+QA+91010&taxabilityCode=20010', 200, 'V60Rates'],
  ['/request/v60?address=120+Main+St,+Elmton,+QA+91010&taxabilityCode=x1', 200, 'V60Rates'],
  [
    '/request/v60?lat=10.18&lng=-29.8&addressDetailExtended=true&shippingExtended=true',
    200,
    'V60Rates',
  ],
  ['/request/v60/?postalcode=91020', 200, 'V60PostalList'],
  ['/request/v60?address=', 422, 'V60Refusal'],
  ['/account/metrics', 200, 'Metrics'],
  ['/account/v60/metrics', 200, 'V60Metrics'],
  ['/account/v60/metrics?format=x', 422, 'Problem'],
  ['/data/tic', 200, 'TicList'],
  ['/data/tic?format=x', 422, 'Problem'],
  ['/system/health', 200, 'Health'],
  ['/system/live', 200, 'Live'],
  ['/system/ready', 200, 'Ready'],
  ['/system/metadata/', 200, 'SystemMetadata'],
  ['/nowhere', 404, 'Problem'],
  ['/search/tic', 405, 'Problem'],
];

test('live answers are of the schemas that the document names', async () => {
  const checks = new Map<ComponentName, ValidateFunction>();
  const checkOf = (name: ComponentName): ValidateFunction => {
    const check = checks.get(name) ?? strictly(COMPONENTS[name]);
    checks.set(name, check);
    return check;
  };
  for (const [path, status, name] of ANSWERS) {
    const response = await get(path);
    assert.equal(response.status, status, path);
    assert.equal(faults(checkOf(name), await response.json()), '', path);
    const type = response.headers.get('content-type');
    assert.equal(type, name === 'Problem' ? 'application/problem+json' : 'application/json', path);
    const operation = OPERATIONS.get(`GET ${path.split('?')[0]?.replace(/\/$/, '')}`);
    if (operation === undefined) continue;
    const text = JSON.stringify(operation.responses[String(status)]);
    assert.match(text, new RegExp(`#/components/schemas/${name}"`), path);
  }
});

test('searches are of theirs, refused ones too', async () => {
  for (const [body, status] of [
    ['{"query":"milk"}', 200],
    ['{', 400],
    ['{"query":" "}', 422],
    [`"${'x'.repeat(20_000)}"`, 413],
  ] as const) {
    const response = await search(body);
    assert.equal(response.status, status);
    const name = status === 200 ? 'TicSearch' : 'Problem';
    assert.equal(faults(strictly(COMPONENTS[name]), await response.json()), '');
    assert.equal(response.headers.get('x-ratelimit-limit'), '10000');
  }
  const refused = await search('{"query":"milk"}', null);
  assert.equal(refused.status, 401);
  assert.equal(faults(strictly(COMPONENTS.Problem), await refused.json()), '');
});

test('schemas, metadata and the document are public, and links lead to them', async () => {
  const answer = (await (await get('/request/v60?postalcode=x')).json()) as {
    metadata: { response: { definition: string } };
  };
  const { pathname } = new URL(answer.metadata.response.definition);
  const schema = await get(pathname, null);
  assert.equal(schema.headers.get('content-type'), 'application/schema+json');
  const { $id } = (await schema.json()) as { $id: string };
  assert.equal($id, answer.metadata.response.definition);
  const found = (await (await search('{"query":"milk"}')).json()) as { $schema: string };
  const searched = (await (await get(new URL(found.$schema).pathname, null)).json()) as object;
  assert.equal(faults(checker().compile(searched), found), '');
  const metadata = (await (await get('/system/metadata', null)).json()) as Record<string, string>;
  assert.deepEqual(Object.keys(metadata), ['go_version', 'hostname', 'runtime_version']);
  assert.equal(metadata['go_version'], '');
});

test('without a dataset the catalogue is 503 and the rest still answers', async () => {
  const status = async (path: string): Promise<number> => (await fetch(emptyBase + path)).status;
  assert.equal(await status('/data/tic'), 503);
  assert.equal(await status('/system/metadata'), 200);
  assert.equal(await status('/openapi.json'), 200);
});

test('every route refuses other methods, with the ones it takes', async () => {
  const known = new Map<string, string[]>();
  for (const { method, path } of app.routes) known.set(path, [...(known.get(path) ?? []), method]);
  for (const [path, methods] of known) {
    const response = await fetch(base + path, { method: 'PUT' });
    assert.equal(response.status, 405, path);
    assert.equal(response.headers.get('allow'), methods.join(', ').replace('GET', 'GET, HEAD'));
    assert.equal(response.headers.get('content-type'), 'application/problem+json');
  }
});

test('over a socket a client of the catalogue is limited by its address', async () => {
  let last = await get('/data/tic', null);
  for (let sent = 0; sent < 101 && last.status === 200; sent += 1) {
    await last.arrayBuffer();
    last = await get('/data/tic', null);
  }
  assert.equal(last.status, 429);
  assert.equal(last.headers.get('x-ratelimit-limit'), '100');
  assert.equal(last.headers.get('x-ratelimit-remaining'), '0');
  assert.equal(faults(strictly(COMPONENTS.V60Refusal), await last.json()), '');
});
