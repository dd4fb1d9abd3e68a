/** Files and jobs that name a kept dataset and a moment: the answers of single requests. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { App } from '../../src/app.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { createKey } from '../../src/store/keys.js';
import { ENTITLEMENTS } from '../../src/store/plan.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe, situs, type Built } from '../support/built-dataset.js';
import {
  CSV,
  KEYS,
  NDJSON,
  readLines,
  sendBulk,
  startBulkApp,
  type BulkAnswer,
  type KeyName,
} from '../support/bulk-client.js';
import { JobClient } from '../support/job-service.js';
import { rateOf, setFormat, writeRates, ZIP } from '../support/tiny-release.js';
import { wasRefused, StreamClient } from '../../bench/load/stream-client.js';
import { sentCalculation } from '../support/sent-carts.js';

const AT = '2026-02-05T12:00:00Z';
const DOOR = '120 Main St, Elmton, QA 91010';

let built: Built;
let app: App;
let port: number;
let dir: string;
/** Another release than the active one, and its rate of the ZIP. */
let other: string;
const OTHER_RATE = 0.041;

before(async () => {
  built = buildRecipe('fixture');
  dir = mkdtempSync(join(tmpdir(), 'situs-kept-file-'));
  other = [...(await writeRates(built.varDir, [41])).values()][0]!;
  const store = await Store.open(built.varDir);
  await createKey(store, {
    plan: 'pro',
    account: 'present',
    text: 'a-key-of-the-present',
    deny: ENTITLEMENTS.historical,
  });
  await store.close();
  ({ app, port } = await startBulkApp(built.varDir));
});

after(async () => {
  await app.stop();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

function file(
  query: string,
  body: string,
  path = '/bulk/lookup',
  key: KeyName = 'bulk',
  type = NDJSON,
): Promise<BulkAnswer> {
  return sendBulk({ port, path: `${path}?${query}`, type, key }, body);
}

/** The body of the single request to the same. */
async function single(query: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/request/v60?${query}`, {
    headers: { 'X-API-KEY': KEYS.bulk },
  });
  return response.text();
}

/** The lines of the rows, each with its end. */
function rowLines(body: Buffer): readonly string[] {
  return body.toString('utf8').split('\n').slice(1, -2);
}

const ROWS = Array.from({ length: 40 }, (_, at) =>
  at % 2 === 0 ? { postalcode: ZIP } : { address: DOOR },
);
const BODY = `${ROWS.map((row) => JSON.stringify(row)).join('\n')}\n`;

async function expected(query: string): Promise<readonly string[]> {
  const [zip, door] = [
    await single(`postalcode=${ZIP}&${query}`),
    await single(`address=${encodeURIComponent(DOOR)}&${query}`),
  ];
  return ROWS.map((_, at) => {
    const body = at % 2 === 0 ? zip : door;
    return `{"line":${at + 1},"id":null,${body.slice(1)}`;
  });
}

test('each row has the answer of its single request, byte for byte', async () => {
  const query = `dataset=${built.name}&at=${AT}&explain=true`;
  const answer = await file(query, BODY);
  assert.equal(answer.status, 200, answer.body.toString());
  const lines = rowLines(answer.body);
  assert.deepEqual(lines, await expected(query));
  const today = rowLines((await file('explain=true', BODY)).body);
  assert.notDeepEqual(lines, today, 'an explanation tells its day');
  assert.deepEqual(today, await expected('explain=true'));
});

test('a dataset or moment in a row is passed over, as the page says', async () => {
  const row = { postalcode: ZIP, dataset: other, at: AT, receipt: true, format: 'xml' };
  const [line] = rowLines((await file('', `${JSON.stringify(row)}\n`)).body);
  assert.equal(line, (await expected(''))[0]);
  const page = readFileSync(join(packageRoot(), 'docs/bulk.md'), 'utf8');
  assert.match(page, /Other members, `format`, `receipt`, `dataset` and `at` are ignored\./);
});

test('what is past is told from the moment of the file', async () => {
  const codes = async (at: string): Promise<unknown> =>
    readLines(
      (await file(`historical=202606&dataset=${built.name}&at=${at}`, `{"address":"${DOOR}"}\n`))
        .body,
    ).trailer.codes;
  assert.deepEqual(await codes('2026-06-15T12:00:00Z'), { 111: 1 });
  assert.deepEqual(await codes('2026-07-15T12:00:00Z'), { 100: 1 });
});

test('another release than the active one answers, and is told', async () => {
  const answer = await file(`dataset=${other}`, `{"postalcode":"${ZIP}"}\n`.repeat(50));
  assert.equal(answer.headers['x-situs-dataset'], other);
  const { header, rows } = readLines(answer.body);
  assert.equal(header['dataset'], other);
  assert.equal(rows.length, 50);
  for (const row of rows) assert.equal(rateOf(JSON.stringify(row)), OTHER_RATE);
  // The active one goes on answering beside it, in the same workers.
  assert.ok(!JSON.stringify(readLines((await file('', BODY)).body).rows).includes(other));
});

test('carts in files are those of the endpoint as of the moment', async () => {
  const place = { address: DOOR };
  const body = sentCalculation({ origin: place, destination: place });
  const query = `dataset=${built.name}&at=${AT}`;
  const response = await fetch(`http://127.0.0.1:${port}/calculate/cart?${query}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'X-API-KEY': KEYS.bulk, 'Content-Type': 'application/json' },
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const {
    items: [cart],
  } = JSON.parse(text) as { readonly items: readonly object[] };
  const {
    rows: [row],
  } = readLines((await file(query, `${JSON.stringify(body)}\n`, '/bulk/cart')).body);
  assert.ok(row !== undefined && cart !== undefined);
  // An id that nobody gave is of the request, or of the row of its file.
  for (const [name, value] of Object.entries({ ...cart, cartId: row['cartId'] })) {
    assert.deepEqual(row[name], value, name);
  }
});

test('a job is of the dataset that it names, and answers as the upload does', async () => {
  const client = new JobClient(port);
  const query = `dataset=${other}&at=${AT}`;
  const { id } = await client.create(BODY, NDJSON, `?${query}`);
  const job = await client.until(id, 'done');
  assert.equal(job.dataset, other);
  const result = await client.ask(job.result?.href ?? '');
  assert.deepEqual(rowLines(result.body), rowLines((await file(query, BODY)).body));
});

test('situs bulk answers the same rows', async () => {
  const input = join(dir, 'rows.ndjson');
  writeFileSync(
    input,
    BODY.split('\n')
      .filter((line) => line.includes('postalcode'))
      .join('\n'),
  );
  const output = situs(built.varDir, ['bulk', input, '--dataset', other, '--at', AT, '--quiet']);
  const { header, rows } = readLines(Buffer.from(output));
  assert.equal(header['dataset'], other);
  assert.ok(rows.every((row) => rateOf(JSON.stringify(row)) === OTHER_RATE) && rows.length > 9);
  assert.throws(
    () => situs(built.varDir, ['bulk', input, '--dataset', '2020-01-01-000000000000']),
    /is not kept here/,
  );
  assert.throws(() => situs(built.varDir, ['bulk', input, '--at', AT]), /beside dataset/);
});

test('what may not be asked is refused before the first row', async () => {
  const gone = '2020-01-01-000000000000';
  for (const [query, status, told] of [
    [`dataset=${gone}`, 422, 'is not kept here'],
    ['dataset=newest', 422, 'query.dataset'],
    [`at=${AT}`, 422, 'query.at'],
    [`dataset=${other}&at=today`, 422, 'query.at'],
    ['receipt=true', 422, 'query.receipt'],
  ] as const) {
    for (const path of ['/bulk/lookup', '/bulk/cart', '/bulk/jobs']) {
      const answer = await file(query, BODY, path);
      assert.equal(answer.status, status, `${path} ${query}`);
      assert.ok(answer.body.toString().includes(told), answer.body.toString());
    }
  }
  for (const path of ['/bulk/lookup', '/bulk/jobs']) {
    const { status, body } = await sendBulk(
      {
        port,
        path: `${path}?dataset=${other}`,
        type: CSV,
        key: null,
        headers: { 'X-API-KEY': 'a-key-of-the-present' },
      },
      `zip\n${ZIP}\n`,
    );
    assert.equal(status, 403, body.toString());
    assert.match(body.toString(), /entitlement historical/);
  }
});

test('files, jobs and streams of a release that an older version built are refused', async () => {
  const [old = ''] = (await writeRates(built.varDir, [47])).values();
  setFormat(built.varDir, old, 2);
  const told = /built by an older version of Situs \(format 2\)/;
  for (const path of ['/bulk/lookup', '/bulk/cart', '/bulk/jobs']) {
    const { status, body } = await file(`dataset=${old}`, BODY, path);
    assert.equal(status, 422, path);
    assert.match(body.toString(), told);
  }
  for (const transport of ['socket', 'post'] as const) {
    const stream = await StreamClient.open({
      port,
      key: KEYS.bulk,
      transport,
      query: `?dataset=${old}`,
    });
    assert.ok(wasRefused(stream));
    assert.equal(stream.status, 422);
    assert.match(stream.body, told);
  }
  assert.throws(() => situs(built.varDir, ['bulk', '/dev/null', '--dataset', old]), told);
});
