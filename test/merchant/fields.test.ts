/** Bodies of merchant operations over HTTP: every rule and limit of a field, and what breaks it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  UNKNOWN_ID,
  withMerchants,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';

let service: MerchantService;

withMerchants((started) => {
  service = started;
});

async function create(body: object): Promise<string> {
  const { status, body: answer, text } = await service.post('/merchant/create', body);
  assert.equal(status, 201, text);
  return String(answer['merchantId']);
}

async function get(merchantId: string): Promise<Answered['body']> {
  return (await service.post('/merchant/get', { merchantId })).body;
}

async function update(merchantId: string, body: object, expected = 200): Promise<Answered> {
  const answer = await service.post('/merchant/update', { merchantId, ...body });
  assert.equal(answer.status, expected, answer.text);
  return answer;
}

/** A body of create, the location at fault, and what is said of it. */
const BROKEN: readonly (readonly [body: object, location: string, message: string])[] = [
  [{}, 'body.merchantName', 'expected required property merchantName'],
  [{ merchantName: null }, 'body.merchantName', 'expected required property merchantName'],
  [{ merchantName: '' }, 'body.merchantName', 'expected length >= 1'],
  [{ merchantName: 'x'.repeat(256) }, 'body.merchantName', 'expected length <= 255'],
  [{ merchantName: 7 }, 'body.merchantName', 'expected a string'],
  [{ merchantName: 'a\u0000b' }, 'body.merchantName', 'expected text without control characters'],
  [{ merchantName: 'a\ud800' }, 'body.merchantName', 'expected text without control characters'],
  [{ contactFirst: 'x'.repeat(256) }, 'body.contactFirst', 'expected length <= 255'],
  [{ contactLast: 'x'.repeat(256) }, 'body.contactLast', 'expected length <= 255'],
  [{ contactLast: {} }, 'body.contactLast', 'expected a string'],
  [{ contactEmail: 'nobody' }, 'body.contactEmail', 'expected an e-mail address'],
  [{ contactEmail: 'a@b..c' }, 'body.contactEmail', 'expected an e-mail address'],
  [{ contactEmail: 'a(x)@b.c' }, 'body.contactEmail', 'expected an e-mail address'],
  [{ contactEmail: `${'x'.repeat(65)}@b.c` }, 'body.contactEmail', 'expected an e-mail address'],
  [{ contactEmail: 'a@b\r\nBcc: c@d' }, 'body.contactEmail', 'expected an e-mail address'],
  [{ contactEmail: `${'x'.repeat(251)}@b.c` }, 'body.contactEmail', 'expected length <= 254'],
  [{ referenceId: 'x'.repeat(256) }, 'body.referenceId', 'expected length <= 255'],
  [
    { merchantType: 'other' },
    'body.merchantType',
    'expected provider or self-managed or connected or offline',
  ],
  [
    { merchantType: 'provider', merchant_type: 'offline' },
    'body.merchant_type',
    'expected the same as merchantType',
  ],
  [{ sendProviderInvite: 'yes' }, 'body.sendProviderInvite', 'expected true or false'],
  [{ isActive: true }, 'body.isActive', 'unexpected property'],
];

test('each field that breaks its rule is named', async () => {
  for (const [fields, location, message] of BROKEN) {
    const name =
      'merchantName' in fields || Object.keys(fields).length === 0
        ? {}
        : { merchantName: 'Broken' };
    const text = JSON.stringify({ ...name, ...fields });
    const answer = await service.post('/merchant/create', text);
    assert.equal(answer.status, 422, text);
    assert.equal(answer.headers.get('content-type'), 'application/problem+json');
    assert.equal(answer.body['detail'], 'validation failed');
    const errors = answer.body['errors'] as { location: string; message: string }[];
    assert.deepEqual(
      errors.map((error) => [error.location, error.message]),
      [[location, message]],
      text,
    );
  }
});

test('a member that names the prototype is like any other unknown one', async () => {
  const body = '{"merchantName":"x","__proto__":{"contactFirst":"y"}}';
  const answer = await service.post('/merchant/create', body);
  assert.equal(answer.status, 422);
  assert.match(answer.text, /"location":"body.__proto__"/);
});

test('text at its limit is taken, counted in characters', async () => {
  const long = '\u{1f9fe}'.repeat(255);
  const whole = {
    merchantName: long,
    contactFirst: long,
    contactLast: long,
    referenceId: long,
    contactEmail: `${'x'.repeat(64)}@${'y'.repeat(187)}.c`,
  };
  const merchantId = await create(whole);
  assert.deepEqual(await get(merchantId), { merchantId, ...whole, status: 'provider_invited' });
});

test('bodies that are no JSON object and ids that are no UUID are 400', async () => {
  const bad: readonly (string | Uint8Array)[] = [
    '',
    '{',
    '[]',
    '"x"',
    'null',
    '7',
    Uint8Array.of(0x7b, 0xff, 0x7d),
  ];
  for (const body of bad) {
    assert.equal((await service.post('/merchant/create', body)).status, 400, String(body));
    assert.equal((await service.post('/merchant/get', body)).status, 400, String(body));
  }
  for (const merchantId of [undefined, null, 7, '', 'x', `${UNKNOWN_ID}0`, `{${UNKNOWN_ID}}`]) {
    for (const path of ['/merchant/get', '/merchant/update', '/merchant/delete']) {
      const answer = await service.post(path, { merchantId, more: 1 });
      assert.equal(answer.status, 400, `${path} ${String(merchantId)}`);
      assert.match(answer.text, /"errors":\[\{"location":"body.merchantId"/);
    }
  }
});

test('an update needs something to do, and its block follows the rules of create', async () => {
  const merchantId = await create({ merchantName: 'Block' });
  for (const [body, location] of [
    [{}, 'body'],
    [{ update: null, setMerchantType: null }, 'body'],
    [{ sendProviderInvite: true }, 'body'],
    [{ update: {} }, 'body.update.merchantName'],
    [{ update: [] }, 'body.update'],
    [{ update: { merchantName: 'x', contactEmail: 'x' } }, 'body.update.contactEmail'],
    [{ update: { merchantName: 'x', merchantType: 'provider' } }, 'body.update.merchantType'],
    [{ setMerchantType: 'x' }, 'body.setMerchantType'],
    [{ merchantName: 'x', update: { merchantName: 'x' } }, 'body.merchantName'],
  ] as const) {
    const { body: answer } = await update(merchantId, body, 422);
    const errors = answer['errors'] as { location: string }[];
    assert.deepEqual(
      errors.map((error) => error.location),
      [location],
      JSON.stringify(body),
    );
  }
});

test('the content type and X-ENV do not matter', async () => {
  for (const headers of [
    { 'Content-Type': 'text/plain' },
    { 'X-ENV': 'TEST' },
    { 'X-ENV': 'LIVE' },
  ]) {
    const answer = await service.post('/merchant/create', { merchantName: 'Env' }, { headers });
    assert.equal(answer.status, 201);
  }
});
