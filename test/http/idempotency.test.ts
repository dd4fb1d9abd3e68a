/** Requests sent again under an Idempotency-Key, over HTTP and over a restart. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ENDPOINTS } from '../support/merchant-routes.js';
import {
  ELMTON,
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';

const CLIENTS = 16;

let service: MerchantService;

before(async () => {
  service = await startMerchants(await newMerchantDir(inventedCountry()));
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
});

function replayed({ headers }: Answered): boolean {
  return headers.get('idempotency-replayed') === 'true';
}

async function count(): Promise<number> {
  return (JSON.parse((await service.list()).text) as object[]).length;
}

async function create(name: string, merchantType = 'self-managed'): Promise<string> {
  const made = await service.post('/merchant/create', { merchantName: name, merchantType });
  return String(made.body['merchantId']);
}

test('the same key and body get the first answer again, and nothing happens twice', async () => {
  const body = { merchantName: 'Once' };
  const before = await count();
  const first = await service.post('/merchant/create', body, { idempotencyKey: 'same-1' });
  const again = await service.post('/merchant/create', body, { idempotencyKey: 'same-1' });
  assert.equal(first.status, 201);
  assert.equal(again.status, 201);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get('content-type'), first.headers.get('content-type'));
  assert.deepEqual([replayed(first), replayed(again)], [false, true]);
  const left = Number(first.headers.get('x-ratelimit-remaining'));
  assert.equal(again.headers.get('x-ratelimit-remaining'), String(left - 1));
  assert.equal(await count(), before + 1);
});

test('another body or path is 422, another account has keys of its own', async () => {
  const body = { merchantName: 'Mine' };
  const options = { idempotencyKey: 'other-1' };
  const first = await service.post('/merchant/create', body, options);
  const other = await service.post('/merchant/create', { merchantName: 'Else' }, options);
  assert.equal(other.status, 422);
  assert.match(other.text, /"location":"header.Idempotency-Key"/);
  const path = await service.post('/merchant/delete', body, options);
  assert.equal(path.status, 422);
  // The same members written differently are other bytes.
  const spaced = await service.post('/merchant/create', '{ "merchantName": "Mine" }', options);
  assert.equal(spaced.status, 422);
  const foreign = await service.post('/merchant/create', body, { ...options, key: KEYS.beta });
  assert.equal(foreign.status, 201);
  assert.notEqual(foreign.text, first.text);
  assert.ok(!replayed(foreign));
});

test('a refused request leaves its key free', async () => {
  const options = { idempotencyKey: 'free-1' };
  assert.equal((await service.post('/merchant/create', { merchantName: '' }, options)).status, 422);
  const made = await service.post('/merchant/create', { merchantName: 'Right' }, options);
  assert.equal(made.status, 201);
  assert.ok(!replayed(made));
});

test('a key is 1 to 255 printable ASCII characters', async () => {
  const send = (idempotencyKey: string): Promise<Answered> =>
    service.post('/merchant/create', { merchantName: 'Key' }, { idempotencyKey });
  assert.equal((await send('x'.repeat(255))).status, 201);
  assert.equal((await send('"quoted key"')).status, 201);
  for (const key of ['x'.repeat(256), 'a\tb']) {
    const answer = await send(key);
    assert.equal(answer.status, 400, key);
    assert.match(answer.text, /"location":"header.Idempotency-Key"/);
  }
});

test('many at once make one merchant: one answer, the rest under way or repeated', async () => {
  const before = await count();
  const options = { idempotencyKey: 'rush-1' };
  const body = { merchantName: 'Rush' };
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, () => service.post('/merchant/create', body, options)),
  );
  assert.equal(await count(), before + 1);
  const made = answers.filter((answer) => answer.status === 201);
  assert.equal(made.filter((answer) => !replayed(answer)).length, 1);
  assert.equal(new Set(made.map(({ text }) => text)).size, 1);
  for (const answer of answers) assert.ok([201, 409].includes(answer.status), answer.text);
});

test('while a request is under way its key is 409', async () => {
  const merchantId = await create('Slow');
  const body = { merchantId, locations: Array.from({ length: 25 }, () => ELMTON) };
  const options = { idempotencyKey: 'running-1' };
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, () => service.post('/merchant/nexus/create', body, options)),
  );
  const refused = answers.filter(({ status }) => status === 409);
  // Geocoding goes to a worker and back: the others arrive meanwhile.
  assert.ok(refused.length > 0);
  assert.match(refused[0]?.text ?? '', /under way/);
  const listed = await service.post('/merchant/nexus/list', { merchantId });
  assert.equal((listed.body['locations'] as object[]).length, 25);
});

test('every operation that writes can be repeated, over a restart too', async () => {
  const mine = await create('Repeated');
  const connected = await create('Connected', 'provider');
  const [location] = (
    await service.post('/merchant/nexus/create', { merchantId: mine, locations: [ELMTON] })
  ).body['locations'] as { locationId: string }[];
  const order = [
    'create',
    'update',
    'nexus/create',
    'nexus/update',
    'nexus/delete',
    'credentials/set',
    'credentials/delete',
    'delete',
  ];
  const writing = ENDPOINTS.filter(({ writes }) => writes);
  assert.deepEqual(
    writing.map(({ path }) => path).sort(),
    order.map((name) => `/merchant/${name}`).sort(),
  );
  const first = new Map<string, Answered>();
  const send = async (name: string): Promise<Answered> => {
    const endpoint = writing.find(({ path }) => path === `/merchant/${name}`);
    const merchantId = name.startsWith('credentials') ? connected : mine;
    const body = endpoint?.body(merchantId, location?.locationId ?? '');
    return service.post(`/merchant/${name}`, body, { idempotencyKey: `restart ${name}` });
  };
  for (const name of order) {
    const answer = await send(name);
    assert.ok(answer.status < 300, `${name}: ${answer.text}`);
    first.set(name, answer);
  }
  const list = (await service.list()).text;
  await service.stop();
  service = await startMerchants(service.varDir);
  assert.equal((await service.list()).text, list);
  for (const name of order) {
    const again = await send(name);
    assert.equal(again.text, first.get(name)?.text, name);
    assert.equal(again.status, first.get(name)?.status, name);
    assert.ok(replayed(again), name);
  }
  assert.equal((await service.list()).text, list);
});
