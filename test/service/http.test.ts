/** The assembled service over the fixture dataset, over real sockets. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { activateRelease, listReleases } from '../../src/dataset/release.js';
import { SILENT } from '../../src/log.js';
import { buildRecipe, situs, type Built } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { eventually } from '../support/http-eventually.js';

const KEY = 'a-key-for-the-service-test';
const RATE = '1000000';

let built: Built;
let app: App;
let base: string;

const commands = new CommandProcess();

before(async () => {
  built = buildRecipe('fixture');
  app = await App.start({
    config: loadConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_VAR: built.varDir,
      SITUS_BOOTSTRAP_KEY: KEY,
      SITUS_BOOTSTRAP_RATE: RATE,
    }),
    log: SILENT,
  });
  base = `http://127.0.0.1:${await app.listen()}`;
});

after(async () => {
  await commands.end();
  await app.stop();
  built.remove();
});

async function get(path: string, key: string | null = KEY): Promise<Response> {
  return fetch(base + path, { headers: key === null ? {} : { 'X-API-KEY': key } });
}

interface Body {
  readonly metadata: {
    readonly version: string;
    readonly response: { readonly code: number; readonly name: string };
  };
  readonly baseRates: readonly {
    readonly rate: number;
    readonly jurType: string;
    readonly jurName: string;
  }[];
  readonly taxSummaries: readonly { readonly rate: number; readonly taxType: string }[];
  readonly addressDetail: {
    readonly normalizedAddress: string;
    readonly incorporated: string;
    readonly geoLat: number;
    readonly geoLng: number;
  };
}

test('an address is answered from its door, in the documented shape', async () => {
  const response = await get('/request/v60?address=120+Main+St,+Elmton,+QA+91010');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('x-situs-precision'), 'point');
  assert.equal(response.headers.get('x-situs-dataset'), built.name);
  assert.equal(response.headers.get('x-ratelimit-limit'), RATE);
  const body = (await response.json()) as Body;
  assert.deepEqual(Object.keys(body), [
    'metadata',
    'baseRates',
    'service',
    'shipping',
    'sourcingRules',
    'taxSummaries',
    'addressDetail',
  ]);
  assert.equal(body.metadata.response.code, 100);
  assert.deepEqual(
    body.baseRates.map(({ jurType, jurName, rate }) => [jurType, jurName, rate]),
    [
      ['US_STATE_SALES_TAX', 'QA', 0.05],
      ['US_STATE_USE_TAX', 'QA', 0.05],
      ['US_COUNTY_SALES_TAX', 'ASH', 0.01],
      ['US_COUNTY_USE_TAX', 'ASH', 0.01],
      ['US_CITY_SALES_TAX', 'ELMTON', 0.0125],
      ['US_CITY_USE_TAX', 'ELMTON', 0.0125],
      ['US_DISTRICT_SALES_TAX', 'ELM TRANSIT', 0.005],
      ['US_DISTRICT_USE_TAX', 'ELM TRANSIT', 0.005],
    ],
  );
  assert.deepEqual(
    body.taxSummaries.map(({ taxType, rate }) => [taxType, rate]),
    [
      ['SALES_TAX', 0.0775],
      ['USE_TAX', 0.0775],
    ],
  );
  assert.equal(
    body.addressDetail.normalizedAddress,
    '120 Main St, Elmton, QA 91010, United States',
  );
  assert.equal(body.addressDetail.incorporated, 'true');
});

test('a use rate of its own is shown and summed', async () => {
  const body = (await (await get('/request/v60?lat=10.33&lng=-29.52')).json()) as Body;
  assert.deepEqual(
    body.taxSummaries.map(({ taxType, rate }) => [taxType, rate]),
    [
      ['SALES_TAX', 0.06375],
      ['USE_TAX', 0.0625],
    ],
  );
});

test('a point in a hole, on a border and in the sea', async () => {
  const enclave = (await (await get('/request/v60?lat=10.18&lng=-29.8')).json()) as Body;
  assert.equal(enclave.addressDetail.normalizedAddress, 'Fernville, QA, United States');
  assert.deepEqual([enclave.addressDetail.geoLat, enclave.addressDetail.geoLng], [10.18, -29.8]);
  const border = await get('/request/v60?lat=10.5&lng=-29.8');
  assert.equal(
    ((await border.json()) as Body).addressDetail.normalizedAddress,
    'St. Hazel, QB, United States',
    'the city north of the line',
  );
  assert.match(border.headers.get('x-situs-dataset') ?? '', /;stale$/);
  const sea = await get('/request/v60?lat=20&lng=-29.8');
  assert.equal(sea.status, 422);
  assert.equal(((await sea.json()) as Body).metadata.response.code, 110);
});

test('a ZIP lists the city and the land around it, in both counties', async () => {
  const response = await get('/request/v60?postalcode=91012');
  const body = (await response.json()) as {
    rCode: number;
    version: string;
    results: Record<string, unknown>[];
  };
  assert.deepEqual(Object.keys(body), ['version', 'rCode', 'results', 'addressDetail']);
  assert.deepEqual(
    body.results.map((row) => [row['geoCounty'], row['taxSales']]),
    [
      ['ASH', 0.06375],
      ['BIRCH', 0.06125],
      ['ASH', 0.06],
      ['ASH', 0.065],
      ['BIRCH', 0.0575],
    ],
    'the land in Ash may lie in the district that is drawn there',
  );
  const narrowed = (await (
    await get('/request/v60?postalcode=91012&county=Birch&state=Aldermark')
  ).json()) as { results: unknown[] };
  assert.equal(narrowed.results.length, 2);
});

const REFUSALS: readonly (readonly [string, number, number])[] = [
  ['/request/v60?postalcode=9101', 422, 104],
  ['/request/v60?lat=10.1', 422, 104],
  ['/request/v60', 422, 104],
  ['/request/v60?postalcode=91010&stateCode=qa', 422, 102],
  ['/request/v60?postalcode=91010&city=%01', 422, 103],
  ['/request/v60?lat=91&lng=0', 422, 105],
  ['/request/v60?address=PO+Box+12,+Elmton,+QA+91010', 422, 109],
  ['/request/v60?address=Unit+5+APO+AE+09012', 422, 109],
  ['/request/v60?postalcode=99999', 422, 110],
  ['/request/v60?postalcode=92020', 422, 110],
  ['/request/v60?lat=10.15&lng=179.95', 422, 110],
  ['/request/v60?postalcode=91010&historical=202713', 422, 111],
];

for (const [path, status, code] of REFUSALS) {
  test(`${path}: ${code} with HTTP ${status}`, async () => {
    const response = await get(path);
    assert.equal(response.status, status);
    assert.equal(response.headers.get('x-situs-precision'), 'none');
    assert.equal(response.headers.get('x-situs-dataset'), built.name);
    const body = (await response.json()) as Body;
    assert.deepEqual(Object.keys(body), ['metadata']);
    assert.equal(body.metadata.response.code, code);
  });
}

test('keys: header or query, header wins, wrong ones are 101', async () => {
  assert.equal((await get(`/request/v60?postalcode=91020&key=${KEY}`, null)).status, 200);
  assert.equal((await get('/request/v60/?postalcode=91020&key=nonsense-nonsense')).status, 200);
  for (const key of [null, 'short', 'unknown-unknown-unknown', 'x'.repeat(200)]) {
    const response = await get('/request/v60?postalcode=91020', key);
    assert.equal(response.status, 401);
    const { metadata } = (await response.json()) as Body;
    assert.equal(metadata.response.name, 'RESPONSE_CODE_INVALID_KEY');
  }
});

test('what the gap is and what would fill it stands in the message', async () => {
  const text = await (await get('/request/v60?postalcode=92020')).text();
  assert.match(text, /Brookmark/);
  assert.match(text, /Juniper/);
});

test('activation and rollback under load: no error, no mixed answer', async () => {
  situs(built.varDir, [
    'dataset',
    'build',
    '--recipe',
    'fixture',
    '--with',
    'estimated',
    '--quiet',
  ]);
  const releases = listReleases(built.varDir);
  assert.equal(releases.length, 2);
  // The last one is not the first: of checks that follow at once only the last one need be made.
  const swaps = [built.name, ...releases.filter((name) => name !== built.name)];
  const seen = new Map<string, number>();
  let running = true;
  const ask = async (): Promise<void> => {
    while (running) {
      const response = await get('/request/v60?address=120+Main+St,+Elmton,+QA+91010');
      assert.equal(response.status, 200);
      const dataset = response.headers.get('x-situs-dataset') ?? '';
      seen.set(dataset, (seen.get(dataset) ?? 0) + 1);
      await response.arrayBuffer();
    }
  };
  const clients = Array.from({ length: 8 }, ask);
  for (let swap = 0; swap < 20; swap += 1) {
    activateRelease(built.varDir, swaps[swap % 2]!);
    app.live.check();
    await new Promise((resolve) => setImmediate(resolve));
    await get('/request/v60?postalcode=91010');
  }
  // A release is checked before it answers, which takes its time.
  await eventually(() => seen.size === releases.length);
  running = false;
  await Promise.all(clients);
  assert.deepEqual([...seen.keys()].sort(), [...releases].sort());
  // Beside the server of this process: in the midst of a write it would keep a command from the store
  // that it waits for itself.
  const { code, err } = await commands.run(['dataset', 'rollback'], { SITUS_VAR: built.varDir });
  assert.equal(code, 0, err);
  await eventually(() => app.live.release?.id === built.name);
  const after = await get('/request/v60?postalcode=91010');
  assert.equal(after.headers.get('x-situs-dataset'), built.name);
});

test('a release that does not open leaves the old one answering', async () => {
  const before = app.live.release?.id;
  const { mkdirSync, writeFileSync } = await import('node:fs');
  const name = '2030-01-01-abcdefabcdef';
  mkdirSync(`${built.varDir}/datasets/${name}`);
  writeFileSync(`${built.varDir}/datasets/${name}/manifest.json`, '{"format":1}');
  writeFileSync(`${built.varDir}/datasets/CURRENT`, `${name}\n`);
  app.live.check();
  assert.equal(app.live.release?.id, before);
  assert.equal((await get('/request/v60?postalcode=91010')).status, 200);
});
