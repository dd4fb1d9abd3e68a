/** Credentials over HTTP: what they answer, what they leave behind, and where they never show. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../support/http-eventually.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type AskOptions,
  type MerchantService,
} from '../support/merchant-service.js';

interface Event {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const events: Event[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      events.push(JSON.parse(Buffer.concat(chunks).toString()) as Event);
      response.writeHead(204).end();
    });
});

/** Without events, and with a receiver of them. */
let service: MerchantService;
let telling: MerchantService;

before(async () => {
  service = await startMerchants(await newMerchantDir(null));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  telling = await startMerchants(
    await newMerchantDir(null),
    {},
    {
      SITUS_WEBHOOK_URL: `http://127.0.0.1:${port}/events`,
      SITUS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
    },
  );
});

after(async () => {
  await service.stop();
  await telling.stop();
  receiver.close();
  removeDirs(service.varDir, telling.varDir);
});

async function create(body: object = {}, options: AskOptions = {}): Promise<string> {
  const made = await service.post('/merchant/create', { merchantName: 'Acme', ...body }, options);
  assert.equal(made.status, 201, made.text);
  return String(made.body['merchantId']);
}

async function set(
  merchantId: string,
  apiKey: string,
  connectionId: string,
  expected = 200,
  options: AskOptions = {},
): Promise<string> {
  const body = { merchantId, apiKey, connectionId };
  const answer = await service.post('/merchant/credentials/set', body, options);
  assert.equal(answer.status, expected, answer.text);
  return answer.text;
}

test('what was set is what get answers, and nobody keeps the answer', async () => {
  const merchantId = await create();
  const text = await set(merchantId, 'sk-first', 'connection-first');
  assert.deepEqual(JSON.parse(text), {
    merchantId,
    message: 'merchant credentials set successfully',
    status: 'success',
  });
  const got = await service.post('/merchant/credentials/get', { merchantId });
  assert.equal(got.status, 200);
  assert.deepEqual(got.body, { apiKey: 'sk-first', connectionId: 'connection-first' });
  assert.equal(got.headers.get('cache-control'), 'no-store');
  await set(merchantId, 'sk-second', 'connection-second');
  assert.deepEqual((await service.post('/merchant/credentials/get', { merchantId })).body, {
    apiKey: 'sk-second',
    connectionId: 'connection-second',
  });
});

test('a Pro key may read what an Enterprise key set', async () => {
  const enterprise = { key: KEYS.enterprise };
  const merchantId = await create({}, enterprise);
  await set(merchantId, 'sk-plan', 'connection-plan', 200, enterprise);
  const got = await service.post('/merchant/credentials/get', { merchantId }, { key: KEYS.pro });
  assert.deepEqual(got.body, { apiKey: 'sk-plan', connectionId: 'connection-plan' });
});

test('a connection belongs to one merchant of an account', async () => {
  const first = await create();
  const second = await create();
  await set(first, 'sk', 'connection-shared');
  const refused = await set(second, 'sk', 'connection-shared', 409);
  assert.match(refused, /"location":"body.connectionId"/);
  assert.ok(!refused.includes('connection-shared'));
  assert.equal(
    (await service.post('/merchant/credentials/get', { merchantId: second })).status,
    404,
  );
  // Again for the same merchant, and in another account, it is no conflict.
  await set(first, 'sk', 'connection-shared');
  const other = { key: KEYS.beta };
  await set(await create({}, other), 'sk', 'connection-shared', 200, other);
  // Another connection frees it, and so does deletion.
  await set(first, 'sk', 'connection-own');
  await set(second, 'sk', 'connection-shared');
  const gone = await service.post('/merchant/credentials/delete', { merchantId: second });
  assert.deepEqual(gone.body, {
    merchantId: second,
    message: 'merchant credentials deleted successfully',
    status: 'success',
  });
  await set(first, 'sk', 'connection-shared');
});

test('without credentials get and delete are 404, for a self-managed merchant set is 403', async () => {
  const merchantId = await create();
  for (const id of [merchantId, await create({ merchantType: 'self-managed' })]) {
    for (const path of ['/merchant/credentials/get', '/merchant/credentials/delete']) {
      assert.equal((await service.post(path, { merchantId: id })).status, 404, path);
    }
  }
  await set(await create({ merchantType: 'self-managed' }), 'sk', 'connection-none', 403);
});

test('broken fields are named and never repeated', async () => {
  const merchantId = await create();
  const whole = { merchantId, apiKey: 'sk-hush-1', connectionId: 'connection-hush-1' };
  for (const [change, location] of [
    [{ apiKey: undefined }, 'body.apiKey'],
    [{ apiKey: '' }, 'body.apiKey'],
    [{ apiKey: `sk-hush-2${'x'.repeat(255)}` }, 'body.apiKey'],
    [{ apiKey: 'sk-hush-3\n' }, 'body.apiKey'],
    [{ apiKey: 'sk-hush-\u00e4' }, 'body.apiKey'],
    [{ apiKey: ['sk-hush-4'] }, 'body.apiKey'],
    [{ apiKey: ' sk-hush-7' }, 'body.apiKey'],
    [{ apiKey: 'sk-hush-8 ' }, 'body.apiKey'],
    [{ connectionId: null }, 'body.connectionId'],
    [{ connectionId: '' }, 'body.connectionId'],
    [{ connectionId: 'connection-hush-2'.repeat(20) }, 'body.connectionId'],
    [{ connectionId: 71_177_117 }, 'body.connectionId'],
    [{ connectionId: '.' }, 'body.connectionId'],
    [{ connectionId: '..' }, 'body.connectionId'],
    [{ apikey: 'sk-hush-5' }, 'body.apikey'],
  ] as const) {
    const answer = await service.post('/merchant/credentials/set', { ...whole, ...change });
    assert.equal(answer.status, 422, answer.text);
    const errors = answer.body['errors'] as Record<string, unknown>[];
    assert.deepEqual(
      errors.map((error) => error['location']),
      [location],
    );
    assert.ok(!/hush|71177117/.test(answer.text), answer.text);
  }
  const malformed = await service.post('/merchant/credentials/set', '{"apiKey":"sk-hush-6"');
  assert.equal(malformed.status, 400);
  assert.ok(!/hush/.test(malformed.text));
});

test('text at its limit is taken', async () => {
  const merchantId = await create();
  const [apiKey, connectionId] = ['~'.repeat(255), '\u{1f511}'.repeat(255)];
  await set(merchantId, apiKey, connectionId);
  const got = await service.post('/merchant/credentials/get', { merchantId });
  assert.deepEqual(got.body, { apiKey, connectionId });
  await set(merchantId, 'a key', '...');
});

test('neither the store nor the log holds a secret, nor any answer but get', async () => {
  const merchantId = await create();
  const secrets = ['sk-at-rest-6b1f0a92', 'connection-at-rest-77c1'] as const;
  const key = 'an-idempotency-key';
  const body = { merchantId, apiKey: secrets[0], connectionId: secrets[1] };
  const answers = [
    await service.post('/merchant/credentials/set', body, { idempotencyKey: key }),
    await service.post('/merchant/credentials/set', body, { idempotencyKey: key }),
    await service.post('/merchant/get', { merchantId }),
    await service.list(),
    await service.post('/merchant/credentials/set', { ...body, merchantId: await create() }),
  ];
  const folder = join(service.varDir, 'store');
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  assert.ok(
    files.some((bytes) => bytes.includes(merchantId)),
    'the store was not found',
  );
  for (const secret of secrets) {
    assert.ok(answers.every(({ text }) => !text.includes(secret)));
    assert.ok(!service.logged().includes(secret));
    assert.ok(
      files.every((bytes) => !bytes.includes(secret)),
      secret,
    );
  }
});

test('each success is told once to the endpoint, a refusal never', async () => {
  const made = await telling.post('/merchant/create', { merchantName: 'Told', referenceId: 'r-1' });
  const bare = await telling.post('/merchant/create', { merchantName: 'Bare' });
  const merchantId = made.body['merchantId'];
  const body = { merchantId, apiKey: 'sk-told', connectionId: 'connection-told' };
  const send = async (more: object, idempotencyKey: string): Promise<number> =>
    (await telling.post('/merchant/credentials/set', { ...body, ...more }, { idempotencyKey }))
      .status;
  assert.equal(await send({}, 'k1'), 200);
  // Repeated, not carried out again.
  assert.equal(await send({}, 'k1'), 200);
  assert.equal(await send({ apiKey: '' }, 'k2'), 422);
  assert.equal(await send({ merchantId: bare.body['merchantId'] }, 'k3'), 409);
  const other = { merchantId: bare.body['merchantId'], connectionId: 'connection-bare' };
  assert.equal(await send(other, 'k4'), 200);
  await eventually(() => events.length >= 2);
  const byName = events
    .map(({ event, data }) => [event, data] as const)
    .sort(([, left], [, right]) =>
      String(left['connectionId']) < String(right['connectionId']) ? -1 : 1,
    );
  assert.deepEqual(byName, [
    ['merchant.credentials.set', other],
    [
      'merchant.credentials.set',
      {
        merchantId,
        connectionId: 'connection-told',
        referenceId: 'r-1',
      },
    ],
  ]);
});
