/**
 * Every status that the specification lists for an operation of merchants is given by a request
 * here, or named on the API page as one that is not.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { StartTimer } from '../../src/api/merchant/nexus-locator.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { createKey } from '../../src/store/keys.js';
import { merchantKey, referenceKey } from '../../src/store/merchant-format.js';
import { Store } from '../../src/store/store.js';
import { type ComponentName, COMPONENTS } from '../../src/describe/document.js';
import { OPERATIONS } from '../../src/describe/operations.js';
import {
  ELMTON,
  inventedCountry,
  KEYS,
  newMerchantDir,
  NOWHERE,
  removeDirs,
  startMerchants,
  UNKNOWN_ID,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';
import { faults, strictly } from '../support/schema-check.js';

/** Statuses of the specification by operation below /merchant/. */
const LISTED: Readonly<Record<string, readonly number[]>> = {
  create: [201, 400, 401, 409, 422, 500],
  update: [200, 400, 401, 403, 404, 409, 422, 500],
  delete: [200, 400, 401, 403, 404, 422, 500],
  get: [200, 400, 401, 404, 422, 500],
  list: [200, 401, 500],
  'credentials/set': [200, 400, 401, 403, 409, 422, 500],
  'credentials/get': [200, 400, 401, 403, 404, 422, 500],
  'credentials/delete': [200, 400, 401, 403, 404, 422, 500],
  'nexus/create': [200, 400, 401, 403, 404, 422, 429, 500, 503, 504],
  'nexus/list': [200, 400, 401, 403, 404, 422, 429, 500, 503],
  'nexus/update': [200, 400, 401, 403, 404, 422, 429, 500, 503],
  'nexus/delete': [200, 400, 401, 403, 404, 422, 429, 500, 503],
};

const BROKEN_KEY = 'a-key-of-a-broken-account';
const BROKEN_REFERENCE = 'a-broken-reference';

let service: MerchantService;
let empty: MerchantService;
let late = false;
const timer: StartTimer = (_, fire) => {
  if (late) queueMicrotask(fire);
  return () => undefined;
};

before(async () => {
  const varDir = await newMerchantDir(inventedCountry());
  const store = await Store.open(varDir);
  await createKey(store, { text: BROKEN_KEY, account: 'broken', plan: 'enterprise' });
  await store.write((transaction) => {
    transaction.put(merchantKey('broken', UNKNOWN_ID), { v: 1 });
    transaction.put(referenceKey('broken', BROKEN_REFERENCE), { v: 99 });
  });
  await store.close();
  service = await startMerchants(varDir, { timer });
  empty = await startMerchants(await newMerchantDir(null));
});

after(async () => {
  await service.stop();
  await empty.stop();
  removeDirs(service.varDir, empty.varDir);
});

/** Statuses that the page names as not given, by operation. */
function notGiven(): ReadonlyMap<string, readonly number[]> {
  const page = readFileSync(join(packageRoot(), 'docs', 'api.md'), 'utf8');
  const section = page.split('### What does not happen')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ((?:`[a-z/]+`(?:, )?)+) \| ([\d, ]+) \|/gm)];
  assert.ok(rows.length > 0, 'the table was not found');
  return new Map(
    rows.flatMap(([, names = '', statuses = '']) =>
      [...names.matchAll(/`([a-z/]+)`/g)].map(([, name = '']): [string, number[]] => [
        name,
        statuses.split(', ').map(Number),
      ]),
    ),
  );
}

const given = new Map<string, Set<number>>();
const checks = new Map<ComponentName, ValidateFunction>();

function isComponent(name: string): name is ComponentName {
  return Object.hasOwn(COMPONENTS, name);
}

function checkOf(name: ComponentName): ValidateFunction {
  const check = checks.get(name) ?? strictly(COMPONENTS[name]);
  checks.set(name, check);
  return check;
}

async function send(
  name: string,
  body: unknown,
  key: string = KEYS.alpha,
  of = service,
): Promise<Answered> {
  const answer =
    name === 'list' ? await of.list({ key }) : await of.post(`/merchant/${name}`, body, { key });
  given.set(name, (given.get(name) ?? new Set()).add(answer.status));
  // Nothing is answered that the OpenAPI document does not describe.
  const operation = OPERATIONS.get(`${name === 'list' ? 'GET' : 'POST'} /merchant/${name}`);
  const described = JSON.stringify(operation?.responses[String(answer.status)] ?? '');
  const [, schema = ''] = /#\/components\/schemas\/(\w+)"/.exec(described) ?? [];
  assert.ok(isComponent(schema), `${name} ${answer.status} is not described`);
  assert.equal(faults(checkOf(schema), answer.body), '', `${name} ${answer.status}`);
  return answer;
}

async function create(merchantType: string, more: object = {}, of = service): Promise<string> {
  const body = { merchantName: 'Acme', merchantType, ...more };
  return String((await send('create', body, KEYS.alpha, of)).body['merchantId']);
}

/** What each operation takes beside merchantId. */
const MORE: Readonly<Record<string, object>> = {
  update: { update: { merchantName: 'New' } },
  'credentials/set': { apiKey: 'sk', connectionId: 'a-connection' },
  'nexus/create': { locations: [ELMTON] },
  'nexus/update': { locationId: UNKNOWN_ID, location: ELMTON },
  'nexus/delete': { locationId: UNKNOWN_ID },
};

test('every listed status is given, or named as one that is not', async () => {
  const mine = await create('self-managed', { referenceId: 'a-reference' });
  const provider = await create('provider');
  const second = await create('provider');
  await send('create', { merchantName: 'X', sendProviderInvite: true });
  await send('create', { merchantName: 'X', referenceId: 'a-reference' });
  await send('create', { merchantName: 'X', referenceId: BROKEN_REFERENCE }, BROKEN_KEY);
  const block = { merchantName: 'X', referenceId: 'a-reference' };
  await send('update', { merchantId: second, update: block });
  await service.list({ key: KEYS.slow });
  for (const name of Object.keys(LISTED)) {
    const more = MORE[name] ?? {};
    const merchantId = name.startsWith('credentials')
      ? provider
      : name === 'delete'
        ? await create('provider')
        : mine;
    await send(name, { merchantId: 'x', ...more });
    await send(name, { merchantId: UNKNOWN_ID, ...more });
    await send(name, { merchantId, ...more, unknown: 1 });
    await send(name, { merchantId: UNKNOWN_ID, ...more }, 'no-such-key');
    await send(name, { merchantId: UNKNOWN_ID, ...more }, BROKEN_KEY);
    await send(name, { merchantId: UNKNOWN_ID, ...more }, KEYS.slow);
    await send(name, { merchantId, ...more });
    if (name === 'credentials/set') await send(name, { merchantId: second, ...more });
    if (name === 'credentials/delete') await send(name, { merchantId });
  }
  await send('credentials/get', { merchantId: provider });
  const added = await send('nexus/create', { merchantId: mine, locations: [ELMTON] });
  const [location] = added.body['locations'] as { locationId: string }[];
  const ids = { merchantId: mine, locationId: location?.locationId };
  await send('nexus/create', { merchantId: mine, locations: [NOWHERE] });
  late = true;
  await send('nexus/create', { merchantId: mine, locations: [ELMTON] });
  await send('nexus/update', { ...ids, location: ELMTON });
  late = false;
  await send('nexus/update', { ...ids, location: ELMTON });
  await send('nexus/delete', ids);
  const there = await create('self-managed', {}, empty);
  await send('nexus/create', { merchantId: there, locations: [ELMTON] }, KEYS.alpha, empty);

  const missing = notGiven();
  for (const [name, statuses] of Object.entries(LISTED)) {
    const found = given.get(name) ?? new Set<number>();
    const absent = statuses.filter((status) => !found.has(status));
    assert.deepEqual(absent, missing.get(name) ?? [], name);
  }
});
