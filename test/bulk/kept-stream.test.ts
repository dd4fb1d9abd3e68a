/** Streams that name a kept dataset and a moment, over both transports. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { StreamClient, wasRefused, type StreamAsk } from '../../bench/load/stream-client.js';
import type { App } from '../../src/app.js';
import { activateRelease } from '../../src/dataset/release.js';
import { createKey } from '../../src/store/keys.js';
import { ENTITLEMENTS } from '../../src/store/plan.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { KEYS, startBulkApp } from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';
import { rateOf, writeRates, ZIP } from '../support/tiny-release.js';
import { ending, header } from '../support/stream-service.js';

const AT = '2026-02-05T12:00:00Z';
const PRESENT = 'a-key-of-the-present';
const DOOR = '120 Main St, Elmton, QA 91010';

let built: Built;
let app: App;
let port: number;
/** Releases that are not active, by the rate of the ZIP. */
let others: ReadonlyMap<number, string>;

before(async () => {
  built = buildRecipe('fixture');
  others = await writeRates(built.varDir, [41, 42, 43]);
  const store = await Store.open(built.varDir);
  await createKey(store, {
    plan: 'pro',
    account: 'present',
    text: PRESENT,
    deny: ENTITLEMENTS.historical,
  });
  await store.close();
  ({ app, port } = await startBulkApp(built.varDir, { SITUS_STREAM_RESUME_SECONDS: '1' }));
});

after(async () => {
  await app.stop();
  built.remove();
});

async function open(
  transport: StreamAsk['transport'],
  query: string,
  key: string = KEYS.bulk,
): Promise<StreamClient> {
  const client = await StreamClient.open({ port, key, transport, query });
  assert.ok(!wasRefused(client), wasRefused(client) ? client.body : '');
  return client;
}

async function single(query: string): Promise<string> {
  const headers = { 'X-API-KEY': KEYS.bulk };
  return (await fetch(`http://127.0.0.1:${port}/request/v60?${query}`, { headers })).text();
}

/** The rate of the next answer; a stream that is over says why. */
async function nextRate(client: StreamClient): Promise<number> {
  const line = await client.next();
  if (line === null) throw new Error(`the stream is over: ${JSON.stringify(await client.ended)}`);
  return rateOf(line);
}

const LOOKUP = `{"postalcode":"${ZIP}"}`;

for (const transport of ['socket', 'post'] as const) {
  test(`${transport}: each message has the answer of its single request, byte for byte`, async () => {
    const query = `dataset=${built.name}&at=${AT}&explain=true`;
    const client = await open(transport, `?dataset=${built.name}&at=${AT}`);
    await header(client);
    client.send(JSON.stringify({ address: DOOR, explain: true }));
    client.finish();
    const {
      lines: [line],
    } = await ending(client);
    const expected = await single(`address=${encodeURIComponent(DOOR)}&${query}`);
    assert.equal(line, `{"seq":1,"id":null,${expected.slice(1)}`);
    assert.notEqual(expected, await single(`address=${encodeURIComponent(DOOR)}&explain=true`));
  });

  test(`${transport}: the dataset stays, whatever is activated, also after a cut`, async () => {
    const [[rate = 0, name = ''] = [], ...rest] = others;
    const client = await open(transport, `?dataset=${name}`);
    const { resume, dataset } = (await header(client)) as {
      readonly resume: string;
      readonly dataset?: string;
    };
    assert.equal(dataset, name);
    client.send(LOOKUP);
    assert.equal(await nextRate(client), rate);
    activateRelease(built.varDir, rest[0]?.[1] ?? '');
    await eventually(() => app.live.release?.id === rest[0]?.[1]);
    client.send(LOOKUP);
    assert.equal(await nextRate(client), rate);
    client.cut();
    await client.ended;
    const again = await open(transport, `?resume=${resume}&from=2`);
    await header(again);
    again.send(LOOKUP);
    again.finish();
    const { lines } = await ending(again);
    assert.equal(lines.length, 2, 'no other dataset is told');
    assert.equal(rateOf(lines[0] ?? ''), rate);
    activateRelease(built.varDir, built.name);
    await eventually(() => app.live.release?.id === built.name);
  });

  test(`${transport}: what may not be asked is refused before the stream begins`, async () => {
    const [name = ''] = others.values();
    for (const [query, key, status] of [
      ['dataset=2020-01-01-000000000000', KEYS.bulk, 422],
      ['dataset=newest', KEYS.bulk, 422],
      [`at=${AT}`, KEYS.bulk, 422],
      ['receipt=true', KEYS.bulk, 422],
      [`dataset=${name}`, PRESENT, 403],
    ] as const) {
      const found = await StreamClient.open({ port, key, transport, query: `?${query}` });
      assert.ok(wasRefused(found), query);
      assert.equal(found.status, status, found.body);
    }
  });
}

test('a dataset is let go of when its stream is over', async () => {
  const [first = '', ...rest] = others.values();
  for (const name of rest) await single(`postalcode=${ZIP}&dataset=${name}`);
  const copied = (): readonly string[] => {
    const folder = join(built.varDir, 'open');
    return readdirSync(folder).flatMap((copy) => readdirSync(join(folder, copy)));
  };
  await eventually(() => !copied().includes(first));
  const client = await open('post', `?dataset=${first}`);
  await header(client);
  for (const name of rest) await single(`postalcode=${ZIP}&dataset=${name}`);
  client.send(LOOKUP);
  assert.match((await client.next()) ?? '', /"taxSales"/);
  assert.ok(copied().includes(first), 'a stream keeps it');
  client.finish();
  await ending(client);
  await eventually(() => !copied().includes(first));
});
