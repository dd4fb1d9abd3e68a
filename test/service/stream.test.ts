/** Streams over the assembled service: the answers of single requests, quotas, cuts, the page. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import { cutStream } from '../../bench/torture/stream-cuts.js';
import { CLOSES } from '../../src/bulk/stream/session-options.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { eventually } from '../support/http-eventually.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  newMerchant,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { ending, header } from '../support/stream-service.js';
import { casesOf, HERE, merchantBody, mixedLookups, oneBody } from './stream-messages.js';
import { withoutCartIds } from '../support/same-items.js';

const PAGE = readFileSync(join(packageRoot(), 'docs', 'stream.md'), 'utf8');
const QUOTA_KEY = 'a-key-of-three-lookups';

let built: Built;
let service: MerchantService;
let port: number;
let own: string;
let relayed: string;

before(async () => {
  built = buildRecipe('fixture');
  const varDir = await newMerchantDir(built.varDir);
  const store = await Store.open(varDir);
  await createKey(store, { text: QUOTA_KEY, plan: 'pro', account: 'quota', coreLimit: 3 });
  await store.close();
  service = await startMerchants(varDir, {}, { SITUS_BULK_WORKERS: '2' });
  port = Number(new URL(service.base).port);
  own = await newMerchant(service, 'self-managed', KEYS.alpha);
  relayed = await newMerchant(service, 'provider', KEYS.alpha);
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
  built.remove();
});

async function open(
  key: string = KEYS.alpha,
  transport: 'socket' | 'post' = 'socket',
): Promise<StreamClient> {
  const client = await StreamClient.open({ port, key, transport });
  assert.ok(!wasRefused(client));
  await header(client);
  return client;
}

/** The answers to some messages, without the trailer. */
async function answers(
  messages: readonly object[],
  transport: 'socket' | 'post' = 'socket',
  key: string = KEYS.alpha,
): Promise<readonly string[]> {
  const client = await open(key, transport);
  for (const message of messages) client.send(JSON.stringify(message));
  client.finish();
  const { lines, trailer } = await ending(client);
  assert.equal(trailer.complete, true);
  return lines.slice(0, -1);
}

interface Refusal {
  readonly seq: number;
  readonly id: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly field: string | null;
  };
  readonly items?: readonly object[];
}

test('a lookup is the single lookup, byte for byte', async () => {
  const lookups = mixedLookups();
  for (const transport of ['socket', 'post'] as const) {
    const got = await answers(lookups, transport);
    for (const [index, { id, ...parameters }] of lookups.entries()) {
      const query = new URLSearchParams(parameters as Record<string, string>);
      const single = await fetch(`${service.base}/request/v60?${query}`, {
        headers: { 'X-API-KEY': KEYS.alpha },
      });
      const body = await single.text();
      const line = got[index]!;
      const start = `{"seq":${index + 1},"id":${String(id)},`;
      assert.ok(line.startsWith(start) && line.endsWith(body.slice(1)), `${line}\n${body}`);
      const { error } = JSON.parse(line) as Refusal;
      assert.equal(error === undefined, single.status === 200);
      if (error === undefined) assert.equal(line, start + body.slice(1));
    }
  }
});

test('a cart is the answer of its endpoint, and a refusal says the same', async () => {
  const cases = casesOf(own);
  const messages = cases.map(([, body], id) => ({ id, ...body }));
  for (const transport of ['socket', 'post'] as const) {
    const got = await answers(messages, transport);
    for (const [index, [path, body]] of cases.entries()) {
      const single = await service.post(path, body);
      const line = withoutCartIds(got[index]!);
      if (single.status === 200) {
        assert.equal(
          line,
          withoutCartIds(`{"seq":${index + 1},"id":${index},${single.text.slice(1)}`),
        );
        continue;
      }
      const { error } = JSON.parse(line) as Refusal;
      const problem = single.body as {
        readonly detail: string;
        readonly errors: readonly { readonly location: string; readonly message: string }[];
      };
      assert.ok(error !== undefined, line);
      assert.ok(error.message.startsWith(problem.detail), error.message);
      assert.ok(error.message.endsWith(problem.errors[0]?.message ?? ''), error.message);
      assert.equal(`body.${error.field ?? ''}`.replace(/\.$/, ''), problem.errors[0]?.location);
    }
  }
});

test('a number that JSON would round is refused as the endpoint does', async () => {
  const client = await open();
  client.send(JSON.stringify(oneBody()).replace('10.75', '10.7500000000000000001'));
  client.finish();
  const [line] = (await ending(client)).lines;
  const { error } = JSON.parse(line!) as Refusal;
  assert.match(error?.message ?? '', /more than 15 significant digits/);
});

test('a message that is nested too deeply is refused before it is parsed', async () => {
  const client = await open();
  client.send(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`);
  client.send(`{"a":${'['.repeat(63)}${']'.repeat(63)},"postalcode":"x"}`);
  client.finish();
  const [deep, fine] = (await ending(client)).lines;
  assert.match((JSON.parse(deep!) as Refusal).error?.message ?? '', /more than 64 levels/);
  assert.equal((JSON.parse(fine!) as Refusal).error?.field, 'postalcode');
});

test('an empty message and a malformed word are told what they are', async () => {
  const client = await open();
  for (const message of ['', '{"ack":-1}']) client.send(message);
  client.finish();
  const { lines } = await ending(client);
  const [empty, ack] = lines.map((line) => (JSON.parse(line) as Refusal).error);
  assert.match(empty?.message ?? '', /The message is empty/);
  assert.deepEqual([ack?.code, ack?.field], [105, 'ack']);
});

test('whose cart it is decides who may have it, and by which counter it counts', async () => {
  const foreign = await newMerchant(service, 'self-managed', KEYS.beta);
  const got = await answers([
    merchantBody(own),
    merchantBody(null),
    merchantBody(relayed),
    merchantBody(foreign),
    { ...merchantBody(null), merchantId: 'no-uuid' },
    { ...merchantBody(own), items: [1, 2] },
    merchantBody(own),
  ]);
  const parsed = got.map((line) => JSON.parse(line) as Refusal);
  const answered = parsed.map(({ items }) => items !== undefined);
  assert.deepEqual(answered, [true, true, false, false, false, false, true]);
  const fields = parsed.map(({ error }) => error?.field ?? null);
  assert.deepEqual(fields, [null, null, 'merchantId', 'merchantId', 'merchantId', 'items', null]);
  assert.match(parsed[2]?.error?.message ?? '', /POST \/merchant\/cart\/calculate/);
  const escaped = await open();
  escaped.send(
    JSON.stringify(merchantBody(own)).replace('"merchantId"', String.raw`"merchant\u0049d"`),
  );
  escaped.finish();
  const [line] = (await ending(escaped)).lines;
  assert.equal((JSON.parse(line!) as Refusal).error?.field, 'merchantId');
});

test('messages count for the quotas, and a used-up one ends the stream with its code', async () => {
  const client = await open(QUOTA_KEY);
  for (let id = 1; id <= 5; id += 1) client.send(JSON.stringify({ id, postalcode: '91020' }));
  const { lines, trailer, code } = await ending(client);
  assert.equal(code, CLOSES.quota.close);
  const last = JSON.parse(lines.at(-2) ?? '{}') as Refusal;
  assert.equal(last.error?.code, 107);
  assert.deepEqual([trailer.rows, trailer.stopped?.code, trailer.stopped?.line], [4, 107, 5]);
  const single = await fetch(`${service.base}/request/v60?postalcode=91020`, {
    headers: { 'X-API-KEY': QUOTA_KEY },
  });
  assert.equal(single.status, 405);
  const metered = await open(KEYS.metered);
  for (const body of [merchantBody(null), { postalcode: '91020' }])
    metered.send(JSON.stringify(body));
  metered.finish();
  assert.equal((await ending(metered)).trailer.complete, true);
});

test('each message counts by what it is, when it is answered with success', async () => {
  const merchantId = await newMerchant(service, 'self-managed', KEYS.beta);
  const usage = async (): Promise<readonly number[]> => {
    const answer = await fetch(`${service.base}/account/metrics`, {
      headers: { 'X-API-KEY': KEYS.beta },
    });
    const metrics = (await answer.json()) as Readonly<Record<string, number>>;
    return ['core', 'geo', 'merchant'].map((name) => metrics[`${name}_request_count`] ?? 0);
  };
  const before = await usage();
  await answers(
    [
      { postalcode: '91020' },
      { address: HERE },
      { address: 'nowhere' },
      oneBody(),
      { items: [{}] },
      merchantBody(merchantId),
      merchantBody(merchantId, { items: [] }),
    ],
    'socket',
    KEYS.beta,
  );
  const after = await usage();
  const grown = after.map((count, index) => count - before[index]!);
  assert.deepEqual(grown, [3, 2, 1]);
});

test('answers after twelve cuts are those of an undisturbed stream', async () => {
  const report = (): void => undefined;
  const result = await cutStream({ port, key: KEYS.alpha, cuts: 12, seed: 3, report });
  assert.deepEqual(result.wrong, []);
  assert.equal(result.cuts, 12);
});

test('a stream that is open when the service stops ends with its trailer', async () => {
  const varDir = await newMerchantDir(built.varDir);
  const other = await startMerchants(varDir);
  const clients = await Promise.all(
    (['socket', 'post'] as const).map((transport) =>
      StreamClient.open({ port: Number(new URL(other.base).port), key: KEYS.alpha, transport }),
    ),
  );
  const streams = clients.filter((client): client is StreamClient => !wasRefused(client));
  for (const stream of streams) {
    await header(stream);
    stream.send('{"postalcode":"91020"}');
    await stream.next();
  }
  const stopped = other.stop();
  const ends = await Promise.all(streams.map((stream) => ending(stream)));
  const closes = ends.map(({ code }) => code);
  assert.deepEqual(closes, [1012, 1]);
  for (const { trailer } of ends) assert.deepEqual([trailer.rows, trailer.complete], [1, false]);
  await stopped;
  removeDirs(varDir);
});

test('the example of the page runs, and its tables are those of the program', async () => {
  const code = /```js\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '';
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: packageRoot(),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, STREAM_URL: `ws://127.0.0.1:${port}/stream`, KEY: KEYS.alpha },
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
  });
  await eventually(() => child.exitCode !== null);
  assert.equal(
    text.replace(/header \S+/, 'header'),
    ['header', '1 a lookup rates', '2 a cart 1.66625', 'trailer 2 true', 'closed 1000', ''].join(
      '\n',
    ),
  );
  const codes = [...PAGE.matchAll(/^\| (\d{4}) \|/gm)].map(([, code]) => Number(code));
  const closes = Object.values(CLOSES).map(({ close }) => close);
  closes.sort((a, b) => a - b);
  assert.deepEqual(codes, closes);
});
