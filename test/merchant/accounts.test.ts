/** Two accounts beside each other: whatever they do, neither sees or changes the other's. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { ENDPOINTS, type MerchantEndpoint } from '../support/merchant-routes.js';
import {
  ELMTON,
  inventedCountry,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  UNKNOWN_ID,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';

const ACCOUNTS = ['alpha', 'beta'] as const;
type Account = (typeof ACCOUNTS)[number];

const RUNS = 25;

interface Owned {
  readonly merchantId: string;
  readonly locationId: string;
  readonly apiKey: string;
}

let service: MerchantService;
let serial = 0;

before(async () => {
  service = await startMerchants(await newMerchantDir(inventedCountry()));
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
});

function post(account: Account, path: string, body: object): Promise<Answered> {
  return service.post(`/merchant/${path}`, body, { key: KEYS[account] });
}

/** A merchant in one of three states, with what belongs to it. */
async function make(account: Account, kind: 'connected' | 'nexus' | 'deleted'): Promise<Owned> {
  serial += 1;
  const merchantType = kind === 'nexus' ? 'self-managed' : 'provider';
  const made = await post(account, 'create', {
    merchantName: `Merchant ${serial}`,
    merchantType,
    referenceId: `reference-${serial}`,
  });
  const merchantId = String(made.body['merchantId']);
  const apiKey = `sk-${account}-${serial}-secret`;
  let locationId: string = UNKNOWN_ID;
  if (kind === 'nexus') {
    const added = await post(account, 'nexus/create', { merchantId, locations: [ELMTON] });
    locationId = (added.body['locations'] as { locationId: string }[])[0]?.locationId ?? '';
    assert.notEqual(locationId, '');
  } else {
    const connectionId = `connection-${account}-${serial}-id`;
    await post(account, 'credentials/set', { merchantId, apiKey, connectionId });
  }
  if (kind === 'deleted') await post(account, 'delete', { merchantId });
  return { merchantId, locationId, apiKey };
}

/** Everything an account can see of itself. */
async function seen(account: Account, { merchantId }: Owned): Promise<string> {
  const answers = [
    await service.list({ key: KEYS[account] }),
    await post(account, 'get', { merchantId }),
    await post(account, 'credentials/get', { merchantId }),
    await post(account, 'nexus/list', { merchantId }),
  ];
  return answers.map(({ status, text }) => `${status} ${text}`).join('\n');
}

/** An answer but for the rate: status, the fields that may differ, and the body. */
function shown({ status, headers, text }: Answered): string {
  const fields = [...headers].filter(
    ([name]) => name !== 'date' && name !== 'x-ratelimit-remaining',
  );
  return JSON.stringify([status, fields, text]);
}

const ABOUT = ENDPOINTS.filter(({ about }) => about !== null);

function send(account: Account, endpoint: MerchantEndpoint, owned: Owned): Promise<Answered> {
  const body = endpoint.body(owned.merchantId, owned.locationId);
  return service.post(endpoint.path, body, { key: KEYS[account] });
}

test('an id of the other account is answered like one that never was, and changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ACCOUNTS),
      fc.constantFrom('connected', 'nexus', 'deleted'),
      fc.shuffledSubarray(ABOUT, { minLength: 1 }),
      fc.uuid(),
      async (owner, kind, endpoints, never) => {
        const other: Account = owner === 'alpha' ? 'beta' : 'alpha';
        const owned = await make(owner, kind);
        const before = await seen(owner, owned);
        for (const endpoint of endpoints) {
          const foreign = await send(other, endpoint, owned);
          const unknown = await send(other, endpoint, {
            ...owned,
            merchantId: never,
            locationId: never,
          });
          assert.equal(foreign.status, endpoint.foreign, endpoint.path);
          assert.equal(shown(foreign), shown(unknown), endpoint.path);
        }
        assert.equal(await seen(owner, owned), before);
        const { text } = await service.list({ key: KEYS[other] });
        for (const part of [owned.merchantId, owned.apiKey]) assert.ok(!text.includes(part));
      },
    ),
    { numRuns: RUNS },
  );
});

test("one's own merchant does not lead to another account's location", async () => {
  const mine = await make('alpha', 'nexus');
  const theirs = await make('beta', 'nexus');
  for (const path of ['nexus/update', 'nexus/delete']) {
    const ids = { merchantId: mine.merchantId, locationId: theirs.locationId };
    const body = path === 'nexus/update' ? { ...ids, location: ELMTON } : ids;
    const foreign = await post('alpha', path, body);
    const unknown = await post('alpha', path, { ...body, locationId: UNKNOWN_ID });
    assert.equal(foreign.status, 404);
    assert.equal(shown(foreign), shown(unknown));
  }
  const { text } = await post('beta', 'nexus/list', { merchantId: theirs.merchantId });
  assert.ok(text.includes(theirs.locationId));
});

test('references, connections and idempotency keys of accounts do not meet', async () => {
  const made: string[] = [];
  for (const account of ACCOUNTS) {
    const answer = await service.post(
      '/merchant/create',
      { merchantName: 'Same', referenceId: 'same-reference' },
      { key: KEYS[account], idempotencyKey: 'same-key' },
    );
    assert.equal(answer.status, 201);
    const merchantId = String(answer.body['merchantId']);
    const set = await post(account, 'credentials/set', {
      merchantId,
      apiKey: 'same-key',
      connectionId: 'same-connection',
    });
    assert.equal(set.status, 200);
    made.push(merchantId);
  }
  assert.notEqual(made[0], made[1]);
});
