/** Nexus locations over HTTP, geocoded with the invented country. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { StartTimer } from '../../src/api/merchant/nexus-locator.js';
import { COMPONENTS } from '../../src/describe/document.js';
import {
  ask,
  ELMTON,
  inventedCountry,
  KEYS,
  newMerchantDir,
  NOWHERE,
  removeDirs,
  startMerchants,
  UNKNOWN_ID,
  type Answered,
  type AskOptions,
  type MerchantService,
} from '../support/merchant-service.js';
import { faults, strictly } from '../support/schema-check.js';

let service: MerchantService;
/** Has no dataset. */
let empty: MerchantService;
/** When true, the time for addresses is over at once. */
let late = false;

const timer: StartTimer = (milliseconds, fire) => {
  assert.equal(milliseconds, 10_000);
  if (late) queueMicrotask(fire);
  return () => undefined;
};

before(async () => {
  service = await startMerchants(await newMerchantDir(inventedCountry()), { timer });
  empty = await startMerchants(await newMerchantDir(null));
});

after(async () => {
  await service.stop();
  await empty.stop();
  removeDirs(service.varDir, empty.varDir);
});

async function create(
  merchantType = 'self-managed',
  options: AskOptions = {},
  of = service,
): Promise<string> {
  const made = await of.post('/merchant/create', { merchantName: 'Acme', merchantType }, options);
  assert.equal(made.status, 201, made.text);
  return String(made.body['merchantId']);
}

function add(
  merchantId: string,
  locations: readonly object[],
  options: AskOptions = {},
): Promise<Answered> {
  return service.post('/merchant/nexus/create', { merchantId, locations }, options);
}

type Location = Readonly<Record<string, unknown>>;

function locationsOf({ body }: Answered): readonly Location[] {
  return body['locations'] as readonly Location[];
}

async function list(merchantId: string): Promise<readonly Location[]> {
  const answer = await service.post('/merchant/nexus/list', { merchantId });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(faults(strictly(COMPONENTS.NexusListed), answer.body), '');
  return locationsOf(answer);
}

async function geocoded(key: string): Promise<unknown> {
  const answer = await ask(service.base, 'GET', '/account/metrics', null, { key });
  return answer.body['geo_request_count'];
}

test('locations come back geocoded, in the order they were sent', async () => {
  const merchantId = await create();
  const answer = await service.post('/merchant/nexus/create', {
    merchantId,
    nexusType: 'physical',
    locations: [
      { ...ELMTON, name: 'Shop', line2: 'Suite 2', countryCode: 'US' },
      { ...ELMTON, line1: '122 Main Street', state: 'Aldermark', name: null, countryCode: null },
    ],
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(faults(strictly(COMPONENTS.NexusCreated), answer.body), '');
  const { message, status, merchantId: told } = answer.body;
  const expected = ['nexus locations created successfully', 'success', merchantId];
  assert.deepEqual([message, status, told], expected);
  const [shop, store] = locationsOf(answer);
  assert.equal(shop?.['name'], 'Shop');
  assert.equal(shop?.['line2'], 'Suite 2');
  assert.equal(shop?.['line1'], '120 Main St');
  assert.match(String(shop?.['normalizedAddress']), /^120 Main St, .*Elmton, QA 91010/);
  assert.ok(Number(shop?.['geoLat']) > 10 && Number(shop?.['geoLng']) < -29);
  assert.equal(shop?.['createdAt'], shop?.['updatedAt']);
  assert.match(String(shop?.['createdAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(store?.['state'], 'QA');
  assert.ok(!('name' in (store ?? {})));
  assert.deepEqual(await list(merchantId), [shop, store]);
});

test('an update replaces the whole location and moves it', async () => {
  const merchantId = await create();
  const shop = { ...ELMTON, name: 'Shop', line2: 'Unit 9' };
  const [before] = locationsOf(await add(merchantId, [shop]));
  const locationId = before?.['locationId'];
  const change = { merchantId, locationId, location: { ...ELMTON, line1: '122 Main St' } };
  const answer = await service.post('/merchant/nexus/update', change);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(faults(strictly(COMPONENTS.NexusUpdated), answer.body), '');
  const location = answer.body['location'] as Location;
  assert.equal(location['locationId'], locationId);
  assert.equal(location['line1'], '122 Main St');
  assert.ok(!('name' in location) && !('line2' in location));
  assert.equal(location['createdAt'], before?.['createdAt']);
  assert.notEqual(location['normalizedAddress'], before?.['normalizedAddress']);
  assert.deepEqual(await list(merchantId), [location]);
});

test('a deleted location is listed no more, cannot change, and the last may go', async () => {
  const merchantId = await create();
  const [location] = locationsOf(await add(merchantId, [ELMTON]));
  const ids = { merchantId, locationId: location?.['locationId'] };
  const answer = await service.post('/merchant/nexus/delete', ids);
  assert.equal(answer.status, 200);
  assert.equal(faults(strictly(COMPONENTS.NexusDeleted), answer.body), '');
  const told = { message: 'nexus location deleted successfully', status: 'success' };
  assert.deepEqual(answer.body, { ...ids, ...told });
  assert.deepEqual(await list(merchantId), []);
  assert.equal((await service.post('/merchant/nexus/delete', ids)).status, 404);
  const change = { ...ids, location: ELMTON };
  assert.equal((await service.post('/merchant/nexus/update', change)).status, 404);
  const unknown = { ...ids, locationId: UNKNOWN_ID };
  assert.equal((await service.post('/merchant/nexus/delete', unknown)).status, 404);
  const update = { ...unknown, location: ELMTON };
  assert.equal((await service.post('/merchant/nexus/update', update)).status, 404);
});

test("a location of another merchant of the same account is not this one's", async () => {
  const [one, other] = [await create(), await create()];
  const [location] = locationsOf(await add(one, [ELMTON]));
  const ids = { merchantId: other, locationId: location?.['locationId'] };
  assert.equal((await service.post('/merchant/nexus/delete', ids)).status, 404);
  assert.equal((await list(one)).length, 1);
});

test('one address that leads to no US state refuses all, and is named', async () => {
  const merchantId = await create();
  const before = await geocoded(KEYS.alpha);
  const answer = await add(merchantId, [ELMTON, NOWHERE, ELMTON, { ...ELMTON, line1: 'x' }]);
  assert.equal(answer.status, 422);
  assert.equal(answer.body['detail'], 'validation failed');
  const errors = answer.body['errors'] as { location: string; message: string }[];
  const places = errors.map(({ location }) => location);
  assert.deepEqual(places, ['body.locations[1]', 'body.locations[3]']);
  assert.match(errors[0]?.message ?? '', /^expected an address in a US state: /);
  assert.deepEqual(await list(merchantId), []);
  // The two that were found were geocoded all the same.
  assert.equal(await geocoded(KEYS.alpha), Number(before) + 2);
});

test('an update to an unknown address changes nothing', async () => {
  const merchantId = await create();
  const [location] = locationsOf(await add(merchantId, [ELMTON]));
  const change = { merchantId, locationId: location?.['locationId'], location: NOWHERE };
  const answer = await service.post('/merchant/nexus/update', change);
  assert.equal(answer.status, 422);
  assert.match(answer.text, /"location":"body.location"/);
  assert.deepEqual(await list(merchantId), [location]);
});

test('a batch has one to twenty-five locations', async () => {
  const merchantId = await create();
  const many = (count: number): object[] => Array.from({ length: count }, () => ({ ...ELMTON }));
  assert.equal((await add(merchantId, many(25))).status, 200);
  for (const locations of [many(26), many(0)]) {
    const answer = await add(merchantId, locations);
    assert.equal(answer.status, 422);
    assert.match(answer.text, /"location":"body.locations"/);
  }
  assert.equal((await list(merchantId)).length, 25);
});

test('fields that break their rules are named by their place in the list', async () => {
  const merchantId = await create();
  for (const [change, member] of [
    [{ line1: '' }, 'line1'],
    [{ line1: 'x'.repeat(129) }, 'line1'],
    [{ line1: undefined }, 'line1'],
    [{ line2: 'x'.repeat(129) }, 'line2'],
    [{ city: '' }, 'city'],
    [{ city: 'x'.repeat(51) }, 'city'],
    [{ state: '' }, 'state'],
    [{ state: 'x'.repeat(33) }, 'state'],
    [{ zip: '' }, 'zip'],
    [{ zip: '1'.repeat(17) }, 'zip'],
    [{ zip: 91010 }, 'zip'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ countryCode: 'CA' }, 'countryCode'],
    [{ country: 'US' }, 'country'],
  ] as const) {
    const answer = await add(merchantId, [ELMTON, { ...ELMTON, ...change }]);
    assert.equal(answer.status, 422, JSON.stringify(change));
    const errors = answer.body['errors'] as { location: string }[];
    const places = errors.map(({ location }) => location);
    assert.deepEqual(places, [`body.locations[1].${member}`]);
  }
  assert.deepEqual(await list(merchantId), []);
});

test('economic nexus is 400, any other kind 422, and bad ids are 400', async () => {
  const merchantId = await create();
  const whole = { merchantId, locations: [ELMTON] };
  for (const [path, body, expected] of [
    ['create', { ...whole, nexusType: 'economic' }, 400],
    ['list', { merchantId, nexusType: 'economic' }, 400],
    ['create', { ...whole, nexusType: 'other' }, 422],
    ['list', { merchantId, nexusType: 'other' }, 422],
    ['list', { merchantId, nexusType: 'physical' }, 200],
    ['create', { locations: [ELMTON] }, 400],
    ['create', { ...whole, merchantId: 'x' }, 400],
    ['update', { merchantId, locationId: 'x', location: ELMTON }, 400],
    ['update', { merchantId, location: ELMTON }, 400],
    ['update', { merchantId, locationId: UNKNOWN_ID }, 422],
    ['delete', { merchantId, locationId: 7 }, 400],
    ['delete', { merchantId, locationId: UNKNOWN_ID, more: 1 }, 422],
  ] as const) {
    const answer = await service.post(`/merchant/nexus/${path}`, body);
    assert.equal(answer.status, expected, `${path} ${JSON.stringify(body)}`);
  }
});

test('a provider merchant is 403 everywhere, and a switch brings the locations back', async () => {
  const merchantId = await create();
  const [location] = locationsOf(await add(merchantId, [ELMTON]));
  const locationId = location?.['locationId'];
  const change = { merchantId, setMerchantType: 'provider', sendProviderInvite: false };
  assert.equal((await service.post('/merchant/update', change)).status, 200);
  for (const [path, more] of [
    ['create', { locations: [ELMTON] }],
    ['list', {}],
    ['update', { locationId, location: ELMTON }],
    ['delete', { locationId }],
  ] as const) {
    const answer = await service.post(`/merchant/nexus/${path}`, { merchantId, ...more });
    assert.equal(answer.status, 403, path);
    assert.match(String(answer.body['detail']), /provider/);
  }
  await service.post('/merchant/update', { merchantId, setMerchantType: 'self-managed' });
  assert.deepEqual(await list(merchantId), [location]);
});

test('past ten seconds create is 504 and update 503, and nothing is stored', async () => {
  const merchantId = await create();
  const [location] = locationsOf(await add(merchantId, [ELMTON]));
  late = true;
  const made = await add(merchantId, [ELMTON], { idempotencyKey: 'late' });
  const change = { merchantId, locationId: location?.['locationId'], location: NOWHERE };
  const changed = await service.post('/merchant/nexus/update', change);
  late = false;
  assert.equal(made.status, 504);
  assert.equal(made.headers.get('content-type'), 'application/problem+json');
  assert.equal(changed.status, 503);
  assert.deepEqual(await list(merchantId), [location]);
  // The key of the request that came to nothing is free.
  assert.equal((await add(merchantId, [ELMTON], { idempotencyKey: 'late' })).status, 200);
  assert.equal((await list(merchantId)).length, 2);
});

test('without a dataset create and update are 503, list and delete answer', async () => {
  const merchantId = await create('self-managed', {}, empty);
  const made = await empty.post('/merchant/nexus/create', { merchantId, locations: [ELMTON] });
  assert.equal(made.status, 503);
  const listed = await empty.post('/merchant/nexus/list', { merchantId });
  assert.deepEqual(listed.body, { merchantId, locations: [] });
  const ids = { merchantId, locationId: UNKNOWN_ID };
  assert.equal((await empty.post('/merchant/nexus/delete', ids)).status, 404);
});

test('geocoding counts as lookups do, and a used-up quota is 405 with code 107', async () => {
  const key = KEYS.counted;
  const merchantId = await create('self-managed', { key });
  const three = await add(merchantId, [ELMTON, ELMTON, ELMTON], { key });
  assert.equal(three.status, 200, three.text);
  assert.equal(await geocoded(key), 3);
  const two = await add(merchantId, [ELMTON, ELMTON], { key });
  assert.equal(two.status, 405);
  assert.match(two.text, /"code":107/);
  assert.equal(await geocoded(key), 3);
  // Refused requests give their places back.
  assert.equal((await add(merchantId, [ELMTON], { key })).status, 200);
  assert.equal((await add(merchantId, [ELMTON], { key })).status, 405);
});
