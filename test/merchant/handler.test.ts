/** Merchants over HTTP: every field, limit and transition of the five operations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMerchant } from '../../src/store/merchants.js';
import { listOutbox } from '../../src/store/outbox.js';
import { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import {
  startMerchants,
  UNKNOWN_ID,
  withMerchants,
  type Answered,
  type MerchantService,
} from '../support/merchant-service.js';

let service: MerchantService;

withMerchants((started) => {
  service = started;
});

const MAILING_KEY = 'a-key-of-a-service-with-mails';

/** Without a mail server. */
const WAITS = '; the invitation waits until this service can send mails';

/** The answer to a change of a merchant. */
function done(merchantId: string, message: string): object {
  return { merchantId, message, status: 'success' };
}

async function create(body: object, more = ''): Promise<string> {
  const { status, body: answer, text } = await service.post('/merchant/create', body);
  assert.equal(status, 201, text);
  const merchantId = answer['merchantId'];
  assert.ok(typeof merchantId === 'string');
  assert.deepEqual(answer, done(merchantId, `merchant created successfully${more}`));
  return merchantId;
}

async function get(merchantId: string): Promise<Answered['body']> {
  const { status, body } = await service.post('/merchant/get', { merchantId });
  assert.equal(status, 200);
  return body;
}

async function update(merchantId: string, body: object, expected = 200): Promise<Answered> {
  const answer = await service.post('/merchant/update', { merchantId, ...body });
  assert.equal(answer.status, expected, answer.text);
  return answer;
}

/** How many invitations wait to go out to an address. */
async function invited(address: string): Promise<number> {
  const store = await Store.open(service.varDir);
  const mails = listOutbox(store, 'waiting', 'mail').filter(({ email }) => email === address);
  await store.close();
  return mails.length;
}

const WHOLE = {
  merchantName: 'Acme Outfitters',
  contactFirst: 'Jane',
  contactLast: 'Doe',
  contactEmail: 'jane@acme.example',
  referenceId: 'acct-10482',
};

test('a self-managed merchant is active at once and reads external_compliance', async () => {
  const merchantId = await create({ ...WHOLE, merchantType: 'self-managed' });
  assert.match(merchantId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(await get(merchantId), { merchantId, ...WHOLE, status: 'external_compliance' });
  assert.deepEqual(await get(merchantId.toUpperCase()), await get(merchantId));
});

test('what a merchant does not have is left out', async () => {
  const merchantId = await create({
    merchantName: 'Bare',
    contactFirst: null,
    contactLast: '',
    contactEmail: '',
    referenceId: null,
    sendProviderInvite: null,
    merchantType: null,
  });
  assert.deepEqual(await get(merchantId), {
    merchantId,
    merchantName: 'Bare',
    status: 'provider_invited',
  });
});

test('types go by four names and two spellings', async () => {
  for (const [body, status] of [
    [{}, 'provider_invited'],
    [{ merchantType: 'provider' }, 'provider_invited'],
    [{ merchantType: 'connected' }, 'provider_invited'],
    [{ merchantType: 'offline' }, 'external_compliance'],
    [{ merchant_type: 'self-managed' }, 'external_compliance'],
    [{ merchant_type: 'offline', merchantType: 'self-managed' }, 'external_compliance'],
  ] as const) {
    const merchantId = await create({ merchantName: 'Types', ...body });
    assert.equal((await get(merchantId))['status'], status, JSON.stringify(body));
  }
});

test('an invitation goes out when it is asked for and there is an address', async () => {
  const contactEmail = 'invite-1@acme.example';
  const asked = { contactEmail, sendProviderInvite: true };
  const merchantId = await create({ merchantName: 'A', ...asked }, WAITS);
  assert.match(
    service.logged(),
    new RegExp(`waits for SITUS_SMTP_URL","merchant":"${merchantId}"`),
  );
  await create({ merchantName: 'B', contactEmail });
  await create({ merchantName: 'C', contactEmail, sendProviderInvite: false });
  await create({ merchantName: 'D', ...asked, merchantType: 'self-managed' });
  assert.equal(await invited(contactEmail), 1);
  const nowhere = { merchantName: 'E', sendProviderInvite: true };
  const refused = await service.post('/merchant/create', nowhere);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /"location":"body.contactEmail"/);
});

test('with a mail server nothing is said of waiting', async (context) => {
  const mailing = await startMerchants(
    newVarDir(context),
    {},
    {
      SITUS_SMTP_URL: 'smtp://127.0.0.1:1',
      SITUS_MAIL_FROM: 'tax@shop.example',
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_BOOTSTRAP_KEY: MAILING_KEY,
    },
  );
  context.after(() => mailing.stop());
  const asked = { merchantName: 'A', contactEmail: 'a@acme.example', sendProviderInvite: true };
  const { status, body } = await mailing.post('/merchant/create', asked, { key: MAILING_KEY });
  assert.deepEqual([status, body['message']], [201, 'merchant created successfully']);
});

test('an update replaces the whole block but for a reference it leaves out', async () => {
  const referenceId = 'replaced-1';
  const merchantId = await create({ ...WHOLE, referenceId, merchantType: 'self-managed' });
  const { body } = await update(merchantId, {
    update: { merchantName: 'New', contactLast: 'Roe' },
  });
  assert.deepEqual(body, done(merchantId, 'merchant updated successfully'));
  assert.deepEqual(await get(merchantId), {
    merchantId,
    merchantName: 'New',
    contactLast: 'Roe',
    referenceId,
    status: 'external_compliance',
  });
  const heir = await service.post('/merchant/create', { merchantName: 'Heir', referenceId });
  assert.equal(heir.status, 409);
  await update(merchantId, { update: { merchantName: 'New', referenceId: '' } });
  assert.deepEqual(await get(merchantId), {
    merchantId,
    merchantName: 'New',
    status: 'external_compliance',
  });
  // Its old reference is free again.
  await create({ merchantName: 'Heir', referenceId });
});

test('a reference id belongs to one live merchant of the account', async () => {
  const referenceId = 'taken-1';
  const first = await create({ merchantName: 'First', referenceId });
  const again = await service.post('/merchant/create', { merchantName: 'Second', referenceId });
  assert.equal(again.status, 409);
  assert.match(again.text, /"location":"body.referenceId".*"value":"taken-1"/);
  const second = await create({ merchantName: 'Second' });
  const block = { merchantName: 'Second', referenceId };
  const refused = await update(second, { update: block }, 409);
  assert.match(refused.text, /"location":"body.update.referenceId"/);
  assert.equal((await get(second))['referenceId'], undefined);
  // One's own is no conflict.
  await update(first, { update: { merchantName: 'First', referenceId } });
  await service.post('/merchant/delete', { merchantId: first });
  await update(second, { update: block });
  assert.equal((await get(second))['referenceId'], referenceId);
});

test('a switch to the provider invites once, and repeating it changes nothing', async () => {
  const contactEmail = 'switch-1@acme.example';
  const merchantId = await create({
    merchantName: 'Switch',
    merchantType: 'self-managed',
    contactEmail,
  });
  await update(merchantId, { setMerchantType: 'provider' });
  assert.equal((await get(merchantId))['status'], 'provider_invited');
  assert.equal(await invited(contactEmail), 1);
  const store = await Store.open(service.varDir);
  const mail = listOutbox(store, 'waiting', 'mail').find(({ email }) => email === contactEmail)!;
  assert.equal(findMerchant(store, mail.account, merchantId)?.invitation, mail.id);
  await store.close();
  for (const setMerchantType of ['provider', 'connected']) {
    await update(merchantId, { setMerchantType, sendProviderInvite: true });
  }
  assert.equal(await invited(contactEmail), 1);
  await update(merchantId, { setMerchantType: 'offline' });
  assert.equal((await get(merchantId))['status'], 'external_compliance');
  await update(merchantId, { setMerchantType: 'connected', sendProviderInvite: false });
  assert.equal((await get(merchantId))['status'], 'provider_invited');
  assert.equal(await invited(contactEmail), 1);
});

test('a switch without an address is refused unless no invitation is wanted', async () => {
  const merchantId = await create({ merchantName: 'Mute', merchantType: 'self-managed' });
  await update(merchantId, { setMerchantType: 'provider' }, 400);
  await update(
    merchantId,
    { setMerchantType: 'provider', update: { merchantName: 'Mute 2' } },
    400,
  );
  assert.deepEqual(await get(merchantId), {
    merchantId,
    merchantName: 'Mute',
    status: 'external_compliance',
  });
  // The address may come with the switch.
  await update(merchantId, {
    setMerchantType: 'provider',
    update: { merchantName: 'Mute', contactEmail: 'm@acme.example' },
  });
  assert.equal(await invited('m@acme.example'), 1);
});

test('credentials go with the switch to self-managed, and the way begins anew', async () => {
  const merchantId = await create({ merchantName: 'Round trip' });
  const set = { merchantId, apiKey: 'sk-round-trip', connectionId: 'connection-round-trip' };
  const status = async (): Promise<unknown> => (await get(merchantId))['status'];
  assert.equal((await service.post('/merchant/credentials/set', set)).status, 200);
  assert.equal(await status(), 'provider_connected');
  await update(merchantId, { setMerchantType: 'self-managed' });
  assert.equal(await status(), 'external_compliance');
  assert.equal((await service.post('/merchant/credentials/get', { merchantId })).status, 404);
  await update(merchantId, { setMerchantType: 'provider', sendProviderInvite: false });
  assert.equal(await status(), 'provider_invited');
  assert.equal((await service.post('/merchant/credentials/set', set)).status, 200);
  assert.equal((await service.post('/merchant/credentials/delete', { merchantId })).status, 200);
  assert.equal(await status(), 'provider_disconnected');
  assert.equal((await service.post('/merchant/credentials/set', set)).status, 200);
  assert.equal(await status(), 'provider_connected');
});

test('a deleted merchant is gone from everything', async () => {
  const merchantId = await create({ merchantName: 'Gone' });
  await service.post('/merchant/credentials/set', {
    merchantId,
    apiKey: 'sk-gone',
    connectionId: 'connection-gone',
  });
  const { status, body } = await service.post('/merchant/delete', { merchantId });
  assert.equal(status, 200);
  assert.deepEqual(body, done(merchantId, 'merchant deleted successfully'));
  for (const [path, more, expected] of [
    ['/merchant/get', {}, 404],
    ['/merchant/update', { update: { merchantName: 'X' } }, 403],
    ['/merchant/delete', {}, 403],
    ['/merchant/credentials/set', { apiKey: 'a', connectionId: 'b' }, 403],
    ['/merchant/credentials/get', {}, 403],
    ['/merchant/credentials/delete', {}, 403],
    ['/merchant/nexus/list', {}, 403],
  ] as const) {
    const gone = await service.post(path, { merchantId, ...more });
    const unknown = await service.post(path, { merchantId: UNKNOWN_ID, ...more });
    assert.equal(gone.status, expected, path);
    assert.equal(gone.text, unknown.text, path);
  }
  assert.ok(!(await service.list()).text.includes(merchantId));
  // The connection is free again.
  const heir = await create({ merchantName: 'Heir' });
  const again = await service.post('/merchant/credentials/set', {
    merchantId: heir,
    apiKey: 'sk-heir',
    connectionId: 'connection-gone',
  });
  assert.equal(again.status, 200);
});

test('the list has every live merchant, the oldest first', async () => {
  const first = await create({ merchantName: '1' });
  const made = Date.now();
  await eventually(() => Date.now() > made);
  const second = await create({ merchantName: '2' });
  const { status, text } = await service.list();
  assert.equal(status, 200);
  const list = JSON.parse(text) as Answered['body'][];
  const ids = list.map(({ merchantId }) => merchantId);
  assert.deepEqual(ids.slice(-2), [first, second]);
  for (const member of list) {
    assert.deepEqual(member, await get(String(member['merchantId'])));
  }
});
