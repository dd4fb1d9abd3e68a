/** Parts that refuse a request: a state that is none, options that a relayed cart cannot have. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  ELMTON,
  inventedCountry,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { sentCart } from '../support/sent-carts.js';

const CART = '/merchant/cart/calculate';

let service: MerchantService;
let selfManaged: string;
let provider: string;

async function create(merchantType: string): Promise<string> {
  const made = await service.post('/merchant/create', { merchantName: 'Acme', merchantType });
  assert.equal(made.status, 201, made.text);
  return String(made.body['merchantId']);
}

before(async () => {
  service = await startMerchants(await newMerchantDir(inventedCountry()));
  [selfManaged, provider] = [await create('self-managed'), await create('provider')];
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
});

test('a state of a location that is none refuses, though the rest leads to a place', async () => {
  const add = (state: string): ReturnType<typeof service.post> => {
    const locations = [{ ...ELMTON, state }];
    return service.post('/merchant/nexus/create', { merchantId: selfManaged, locations });
  };
  for (const state of ['Zork', 'ZZ', ' ']) {
    const { status, body } = await add(state);
    assert.equal(status, 422);
    const message = `"${state}" is no state: give its code or its name`;
    assert.deepEqual(body['errors'], [
      {
        location: 'body.locations[0]',
        message: `expected an address in a US state: ${message}`,
      },
    ]);
  }
  for (const state of ['qa', 'Aldermark', ' QA ']) {
    const { status, text } = await add(state);
    assert.equal(status, 200, text);
  }
  const army = { line1: 'PSC 1234 Box 5678', city: 'APO', state: 'AE', zip: '09012' };
  const abroad = await service.post('/merchant/nexus/create', {
    merchantId: selfManaged,
    locations: [army],
  });
  assert.match(abroad.text, /military addresses lie in no tax area/);
  const { body } = await service.post('/merchant/nexus/list', { merchantId: selfManaged });
  const [location] = body['locations'] as readonly { readonly locationId: string }[];
  const change = { ...ELMTON, state: 'Zork' };
  const ids = { merchantId: selfManaged, locationId: location?.locationId };
  const updated = await service.post('/merchant/nexus/update', { ...ids, location: change });
  assert.equal(updated.status, 422, updated.text);
});

test('the compliance provider is not asked for kept datasets, receipts, roundings and explanations', async () => {
  const ask = (query: string, merchantId = provider): ReturnType<typeof service.post> =>
    service.post(`${CART}?${query}`, { merchantId, items: [sentCart()] });
  const kept = 'dataset=2026-01-01-000000000000';
  for (const [query, names] of [
    [kept, ['dataset']],
    [`${kept}&at=2026-05-31T12:00:00Z`, ['dataset', 'at']],
    ['dataset=%FF', ['dataset']],
    ['receipt=true', ['receipt']],
    ['receipt=x', ['receipt']],
    ['explain=true', ['explain']],
    ['explain=&explain=TRUE', ['explain']],
    ['rounding=half-up', ['rounding']],
    ['rounding=%FF&explain=2&receipt=true', ['receipt', 'rounding', 'explain']],
  ] as const) {
    const { status, text, body } = await ask(query);
    assert.equal(status, 400, text);
    const message = 'not accepted for provider-connected merchants';
    assert.deepEqual(
      body['errors'],
      names.map((name) => ({ location: `query.${name}`, message })),
    );
  }
  for (const query of [
    '',
    'receipt=false',
    'dataset=&at=',
    'explain=false',
    'explain=&rounding=',
  ]) {
    assert.match((await ask(query)).text, /No credentials are stored/, query);
  }
  for (const query of ['dataset=%FF', 'at=%FF', 'receipt=%FF']) {
    assert.equal((await ask(query, selfManaged)).status, 422, query);
  }
});

test('an empty parameter of a cart counts as not given', async () => {
  const items = [sentCart({ origin: ELMTON, destination: ELMTON })];
  const ask = async (query: string): Promise<number> =>
    (await service.post(`${CART}?${query}`, { merchantId: selfManaged, items })).status;
  for (const query of ['explain=', 'rounding=', 'dataset=', 'at=', 'receipt=']) {
    assert.equal(await ask(query), 200, query);
  }
  assert.equal(await ask('explain=2'), 422);
  assert.equal(await ask('explain=&explain=2'), 422);
});
