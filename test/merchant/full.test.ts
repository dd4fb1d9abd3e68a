/** A store that takes nothing more: writes are 503 and leave nothing behind, reading goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveMerchants } from '../support/merchant-routes.js';
import { ask, newMerchantDir } from '../support/merchant-service.js';

const STORE_BYTES = 300_000;
const CREATES_MAX = 1_000;

test('a full store refuses what is new, keeps what it has, and lets go', async (context) => {
  const { base } = await serveMerchants(context, await newMerchantDir(null), {
    bytesMax: STORE_BYTES,
  });

  const long = '\u{1f9fe}'.repeat(255);
  const made: string[] = [];
  let status = 201;
  while (status === 201 && made.length < CREATES_MAX) {
    const referenceId = `reference ${made.length}`;
    const body = { merchantName: long, contactFirst: long, contactLast: long, referenceId };
    const answer = await ask(base, 'POST', '/merchant/create', body);
    status = answer.status;
    if (status === 201) made.push(String(answer.body['merchantId']));
    else assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  }
  assert.equal(status, 503);
  // What is refused whatever the store holds is told so.
  const unreachable = { merchantName: long, merchantType: 'provider', sendProviderInvite: true };
  const refused = await ask(base, 'POST', '/merchant/create', unreachable);
  assert.equal(refused.status, 400, refused.text);
  assert.match(String(refused.body['detail']), /needs a contactEmail/);
  const list = async (): Promise<readonly unknown[]> =>
    JSON.parse((await ask(base, 'GET', '/merchant/list', null)).text) as unknown[];
  assert.equal((await list()).length, made.length);
  const gone = await ask(base, 'POST', '/merchant/delete', { merchantId: made[0] });
  assert.equal(gone.status, 200);
  assert.equal((await list()).length, made.length - 1);
});
