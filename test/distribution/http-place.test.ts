/**
 * A place over HTTP: an S3 store that checks every signature, a web server that takes PUT, one that
 * does not, and every way in which they fail.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { loadConfig } from '../../src/config.js';
import { HttpPlace } from '../../src/distribution/http-place.js';
import { openPlace } from '../../src/distribution/address.js';
import { checkedPiece, type Place, sumOf } from '../../src/distribution/fleet-place.js';
import { S3_KEYS, startStoreServer, type Fault, type StoreServer } from '../support/s3-server.js';

const BYTES = Buffer.alloc(300_000, 'a release');
const SUM = sumOf(BYTES);

async function s3(
  context: TestContext,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly server: StoreServer; readonly place: Place }> {
  const server = await startStoreServer(context, { signed: true });
  const place = await openPlace(
    loadConfig({
      SITUS_DATASETS: 's3://bucket/tax/releases',
      AWS_ENDPOINT_URL: server.url,
      ...S3_KEYS,
      ...more,
    }),
  );
  context.after(() => place.close());
  return { server, place };
}

test('S3: the document is made once, replaced by its version alone, and read when it changed', async (context) => {
  const { place, server } = await s3(context);
  assert.equal(await place.read(null), null);
  assert.equal(await place.replace('{"a":1}', null), true);
  assert.equal(await place.replace('{"b":2}', null), false, 'it is there already');
  const first = await place.read(null);
  assert.ok(first !== null && first !== 'same');
  assert.equal(first.text, '{"a":1}');
  assert.equal(await place.read(first.version), 'same');
  assert.equal(await place.replace('{"c":3}', first.version), true);
  assert.equal(await place.replace('{"d":4}', first.version), false, 'it is another one by now');
  const second = await place.read(first.version);
  assert.ok(second !== null && second !== 'same');
  assert.equal(second.text, '{"c":3}');
  assert.deepEqual([...server.objects.keys()], ['/bucket/tax/releases/fleet.json']);
});

test('S3: pieces come back as they were put, and are removed', async (context) => {
  const { place, server } = await s3(context);
  assert.equal(await place.has(SUM), false);
  await place.put(SUM, BYTES);
  assert.equal(await place.has(SUM), true);
  assert.ok(BYTES.equals(await checkedPiece(place, SUM)));
  assert.ok(server.objects.has(`/bucket/tax/releases/pieces/${SUM}`));
  await place.remove(SUM);
  await place.remove(SUM);
  assert.equal(await place.has(SUM), false);
});

test('S3: another key, another secret, another region and an altered request are refused in a sentence', async (context) => {
  for (const [more, code] of [
    [{ AWS_ACCESS_KEY_ID: 'AKIAANOTHER' }, 'InvalidAccessKeyId'],
    [{ AWS_SECRET_ACCESS_KEY: 'another' }, 'SignatureDoesNotMatch'],
    [{ AWS_REGION: 'elsewhere' }, 'AuthorizationHeaderMalformed'],
  ] as const) {
    const { place } = await s3(context, more);
    await assert.rejects(
      place.read(null),
      new RegExp(
        `^PlaceError: s3://bucket/tax/releases at 127\\.0\\.0\\.1:\\d+: asked for the state of ` +
          `the fleet, it refuses \\(403 ${code}\\): look at the credentials$`,
      ),
    );
  }
  await assert.rejects(
    openPlace(loadConfig({ SITUS_DATASETS: 's3://bucket' })),
    /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY have to be set/,
  );
});

const WAITS = { connectMs: 2_000, documentMs: 300, silentMs: 300 };

test('what the store does instead of answering is told in a sentence', async (context) => {
  const server = await startStoreServer(context, { signed: false });
  const place = new HttpPlace({
    name: 'https://mirror',
    base: server.url,
    waits: WAITS,
    sign: ({ headers }) => Promise.resolve(headers),
  });
  context.after(() => place.close());
  await place.put(SUM, BYTES);
  const cases: readonly (readonly [Fault, RegExp])[] = [
    [
      { status: 403 },
      /asked for the piece [0-9a-f]{12}…, it refuses \(403\): look at the credentials/,
    ],
    [{ status: 404 }, /it does not have it \(404\)/],
    [{ status: 500 }, /it answered 500/],
    ['truncated', /https:\/\/mirror cannot be reached: .+/],
    ['wrong', /gave 300000 bytes for the piece [0-9a-f]{12}… that are not those that were pushed/],
    ['silent', /cannot be reached: .*Timeout/i],
    ['stalled', /cannot be reached: .*Timeout/i],
  ];
  for (const [fault, told] of cases) {
    server.fault = () => fault;
    await assert.rejects(checkedPiece(place, SUM), told, JSON.stringify(fault));
  }
  server.fault = () => 'silent';
  await assert.rejects(place.read(null), /cannot be reached: no whole answer within 0.3 s/);
  server.fault = () => ({ status: 404, code: 'NoSuchBucket' });
  await assert.rejects(place.read(null), /does not have it \(404 NoSuchBucket\)/);
  server.fault = () => null;
  assert.ok(BYTES.equals(await checkedPiece(place, SUM)));
});

test('a server that is not there is told by its address', async () => {
  const place = new HttpPlace({
    name: 'https://gone',
    base: 'http://127.0.0.1:9',
    sign: ({ headers }) => Promise.resolve(headers),
  });
  await assert.rejects(
    place.read(null),
    /^PlaceError: https:\/\/gone cannot be reached: .*ECONNREFUSED/,
  );
  await place.close();
});

async function web(
  context: TestContext,
  conditional: boolean,
): Promise<Place & { server: StoreServer }> {
  const server = await startStoreServer(context, { signed: false, conditional });
  const place = await openPlace(
    loadConfig({
      SITUS_DATASETS: `${server.url}/datasets/`,
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
    }),
  );
  context.after(() => place.close());
  return Object.assign(place, { server });
}

test('a web server that takes PUT with conditions is a place like any other', async (context) => {
  const place = await web(context, true);
  assert.equal(await place.replace('1', null), true);
  assert.equal(await place.replace('2', null), false);
  const found = await place.read(null);
  assert.ok(found !== null && found !== 'same');
  assert.equal(await place.replace('3', found.version), true);
  assert.equal(place.server.objects.get('/datasets/fleet.json')?.toString(), '3');
});

test('a web server that looks at no condition is not written to', async (context) => {
  const place = await web(context, false);
  await assert.rejects(place.replace('1', null), /takes a PUT without regard to If-Match/);
  assert.equal(place.server.objects.size, 0, 'and nothing is left there');
});

test('a static mirror is read, and says that it takes nothing', async (context) => {
  const place = await web(context, true);
  place.server.objects.set('/datasets/fleet.json', Buffer.from('{}'));
  place.server.fault = (method) => (method === 'PUT' ? { status: 405 } : null);
  assert.notEqual(await place.read(null), null);
  await assert.rejects(place.put(SUM, BYTES), /it takes no changes \(405\): it can only be read/);
  await assert.rejects(
    place.replace('1', null),
    /it takes no changes \(405\): it can only be read/,
  );
});

test('addresses that are none are refused without repeating them', async () => {
  for (const [text, told] of [
    ['ftp://secret@host', /begins with nats:\/\/, tls:\/\/, s3:\/\/ or https:\/\//],
    ['http://secret@host/x', /is an https address; http is for private networks/],
    ['https://secret@host/x?y=1', /without a query/],
    ['s3://A', /is s3:\/\/BUCKET\/FOLDER/],
    ['nats://secret@host/a.b', /names a bucket of NATS/],
    ['nats://host/a?other=1', /knows no "other"/],
    ['nats://host/a?replicas=9', /replicas from 1 to 5/],
  ] as const) {
    const opened = openPlace(loadConfig({ SITUS_DATASETS: text }));
    await assert.rejects(
      opened,
      (error: Error) =>
        told.test(error.message) &&
        error.message.startsWith('SITUS_DATASETS') &&
        !error.message.includes('secret'),
      text,
    );
  }
  const place = await openPlace(
    loadConfig({ SITUS_DATASETS: 'nats://me:secret@host,other:4223/tax' }),
  );
  assert.equal(place.name, 'nats://host:4222,other:4223/tax');
});
