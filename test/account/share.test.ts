/** What an account may keep, over HTTP: refused with the limit, and nobody else is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performance } from 'node:perf_hooks';
import { isProblem } from '../../src/base/problem.js';
import { pageAsked } from '../../src/api/merchant/merchant-list.js';
import { OWN_HEADERS } from '../../src/http/reply.js';
import { INVITATIONS_RECIPIENT_DAY_MAX } from '../../src/store/invited.js';
import {
  createMerchant,
  deleteMerchant,
  findMerchant,
  readyMerchant,
} from '../../src/store/merchants.js';
import { setShare, SHARE_BYTES_MAX, type ShareKind } from '../../src/store/share.js';
import { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import {
  KEYS,
  withMerchants,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';

let service: MerchantService;

withMerchants((started) => {
  service = started;
});

const SELF = { merchantName: 'Shop', merchantType: 'self-managed' };

async function withStore(use: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await Store.open(service.varDir);
  await use(store);
  await store.close();
}

function fill(kind: ShareKind, account: string, bytes: number): Promise<void> {
  return withStore((store) =>
    store.write((transaction) => setShare(transaction, kind, account, bytes)),
  );
}

function refusedWith(answer: Answered, limit: number): void {
  assert.equal(answer.status, 429, answer.text);
  assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  assert.equal(answer.body['limit'], limit);
  assert.ok(Number(answer.headers.get('x-ratelimit-limit')) > 0);
  assert.ok(!('metadata' in answer.body), 'code 108 is for the rate alone');
}

test('merchants over the share of their account are refused, those of another are not', async () => {
  await fill('merchants', 'alpha', SHARE_BYTES_MAX.merchants);
  refusedWith(await service.post('/merchant/create', SELF), SHARE_BYTES_MAX.merchants);
  assert.equal((await service.post('/merchant/create', SELF, { key: KEYS.beta })).status, 201);
  await fill('merchants', 'alpha', 0);
  assert.equal((await service.post('/merchant/create', SELF)).status, 201);
});

test('kept answers over the share are refused before anything is done', async () => {
  const idempotencyKey = 'a-key-that-is-kept';
  const first = await service.post('/merchant/create', SELF, { idempotencyKey });
  const count = async (): Promise<number> =>
    (JSON.parse((await service.list()).text) as unknown[]).length;
  const before = await count();
  await fill('kept', 'alpha', SHARE_BYTES_MAX.kept);
  const refused = await service.post('/merchant/create', SELF, { idempotencyKey: 'another' });
  refusedWith(refused, SHARE_BYTES_MAX.kept);
  assert.equal(await count(), before);
  // What is kept is given again, and nothing needs to be kept without the field.
  assert.equal((await service.post('/merchant/create', SELF, { idempotencyKey })).text, first.text);
  assert.equal((await service.post('/merchant/create', SELF)).status, 201);
  const beta = { key: KEYS.beta, idempotencyKey: 'another' };
  assert.equal((await service.post('/merchant/create', SELF, beta)).status, 201);
  await fill('kept', 'alpha', 0);
  const again = await service.post('/merchant/create', SELF, { idempotencyKey: 'another' });
  assert.equal(again.status, 201);
});

test('an address is sent so many invitations a day, and the merchant is not made', async () => {
  const body = {
    merchantName: 'Shop',
    contactEmail: 'someone@example.com',
    sendProviderInvite: true,
  };
  for (let index = 0; index < INVITATIONS_RECIPIENT_DAY_MAX; index += 1) {
    assert.equal((await service.post('/merchant/create', body)).status, 201);
  }
  const before = (await service.list()).text;
  refusedWith(await service.post('/merchant/create', body), INVITATIONS_RECIPIENT_DAY_MAX);
  assert.equal((await service.list()).text, before);
  const { body: made } = await service.post('/merchant/create', SELF);
  refusedWith(
    await service.post('/merchant/update', {
      merchantId: made['merchantId'],
      setMerchantType: 'provider',
      sendProviderInvite: true,
      update: { merchantName: 'Shop', contactEmail: 'Someone@example.com' },
    }),
    INVITATIONS_RECIPIENT_DAY_MAX,
  );
  const got = await service.post('/merchant/get', { merchantId: made['merchantId'] });
  assert.equal(got.body['status'], 'external_compliance');
  const other = { ...body, contactEmail: 'another@example.com' };
  assert.equal((await service.post('/merchant/create', other, { key: KEYS.beta })).status, 201);
});

test('a page is asked for by limit and cursor', () => {
  assert.equal(pageAsked(''), null);
  assert.equal(pageAsked('other=1'), null);
  assert.deepEqual(pageAsked('limit=5'), { limit: 5, cursor: '' });
  const id = '8D3F5C1E-0000-4000-8000-000000000000';
  assert.deepEqual(pageAsked(`cursor=${id}`), { limit: 1_000, cursor: id.toLowerCase() });
  for (const wrong of ['limit=0', 'limit=1001', 'limit=x', 'limit=', 'limit=-1', 'cursor=x']) {
    assert.ok(isProblem(pageAsked(wrong) ?? {}), wrong);
  }
});

const MANY = 10_000;

/** The longest time that nothing else was done, in milliseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

test('ten thousand merchants are listed in pieces, whole and in pages', async () => {
  const id = (index: number): string =>
    `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  await withStore(async (store) => {
    for (let from = 0; from < MANY; from += 1_000) {
      await store.write((transaction) => {
        for (let index = from; index < from + 1_000; index += 1) {
          createMerchant(
            transaction,
            readyMerchant({
              account: 'counted',
              merchantId: id(index),
              name: `Shop ${index}`,
              contacts: {},
              type: 'provider',
              now: MANY - index,
            }),
          );
        }
        const first = findMerchant(transaction, 'counted', id(from));
        if (first !== null) deleteMerchant(transaction, first, 1, 1);
      });
    }
  });
  const options = { key: KEYS.counted };
  let whole = '';
  // A loaded machine makes turns longer now and then; one piece would always be most of the time.
  await eventually(async () => {
    const begun = performance.now();
    const turn = await longestTurn(async () => {
      whole = (await service.list(options)).text;
    });
    return turn < (performance.now() - begun) / 2;
  });
  const ids = (text: string): string[] =>
    (JSON.parse(text) as { merchantId: string }[]).map(({ merchantId }) => merchantId);
  const expected = Array.from({ length: MANY }, (_, index) => id(index)).filter(
    (_, index) => index % 1_000 !== 0,
  );
  assert.deepEqual(ids(whole), [...expected].reverse(), 'the oldest first');
  const paged: string[] = [];
  let cursor = '';
  for (let page = 0; page < 100; page += 1) {
    const answer = await fetch(`${service.base}/merchant/list?limit=999&cursor=${cursor}`, {
      headers: { 'X-API-KEY': KEYS.counted },
    });
    assert.equal(answer.status, 200);
    paged.push(...ids(await answer.text()));
    const next = answer.headers.get(OWN_HEADERS.cursor);
    if (next === null) break;
    cursor = next;
  }
  assert.deepEqual(paged, expected);
  const wrong = await fetch(`${service.base}/merchant/list?limit=0`, {
    headers: { 'X-API-KEY': KEYS.counted },
  });
  assert.equal(wrong.status, 422);
});
