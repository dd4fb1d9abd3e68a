/** Clients that go away at any moment of any exchange: what the service keeps of them. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { askFile, askLines, askSingly, type SingleAnswer } from '../support/same-items.js';
import { NDJSON } from '../support/bulk-client.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { activate } from '../support/http-var-dir.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { writeRates } from '../support/tiny-release.js';
import { CUTS, sendable, vanish, type Cut, type Sendable } from '../support/vanishing-client.js';
import { asked, few, fieldsOf, MERCHANT, operationsOf, random, rows } from './abort-operations.js';

const ROUNDS = 2;
/** Clients at a time. */
const LANES = 4;
const LIMIT_KEY = 'a-key-with-some-lookups';
const LIMIT = 2_000;
const WAIT_MS = 120_000;
/** What the process may have more after hundreds of cuts than after the first hundreds. */
const GROWTH_BYTES_MAX = 8 * 1_048_576;

let built: Built;
let service: MerchantService;
let port: number;
export let merchantId = '';
export let resultPath = '';
/** What was acknowledged, by the keys of merchants that were asked for. */
const acknowledged = new Map<string, string>();
const jobs = new Set<string>();

before(async () => {
  built = buildRecipe('fixture');
  const varDir = await newMerchantDir(built.varDir);
  const store = await Store.open(varDir);
  await createKey(store, {
    text: LIMIT_KEY,
    plan: 'enterprise',
    account: 'limit',
    coreLimit: LIMIT,
    rate: 1e6,
  });
  await store.close();
  const settings = { SITUS_STREAM_RESUME_SECONDS: '1', SITUS_LOG: 'error' };
  service = await startMerchants(varDir, {}, { SITUS_BULK_WORKERS: '1', ...settings });
  port = Number(new URL(service.base).port);
  const made = await service.post('/merchant/create', {
    merchantName: 'A',
    merchantType: 'self-managed',
  });
  merchantId = String(made.body['merchantId']);
  const job = await post('/bulk/jobs?kind=lookup', rows.repeat(3), NDJSON);
  const { id } = JSON.parse(job.text) as { readonly id: string };
  resultPath = `/bulk/jobs/${id}/result`;
  await eventually(async () => (await stateOf(id)) === 'done', WAIT_MS);
});

after(async () => {
  await service.stop();
  removeDirs(service.varDir);
  built.remove();
});

async function post(path: string, body: string, type?: string): Promise<SingleAnswer> {
  const [answer] = await askSingly({ port, key: KEYS.alpha }, [
    { path, body, ...(type === undefined ? {} : { type }) },
  ]);
  assert.ok(answer !== undefined);
  return answer;
}

async function stateOf(id: string): Promise<string> {
  const [answer] = await askSingly({ port, key: KEYS.alpha }, [{ path: `/bulk/jobs/${id}` }]);
  return (JSON.parse(answer?.text ?? '{}') as { readonly state?: string }).state ?? '';
}

/** What a client that goes away has been told before. */
function take(name: string, request: Sendable, answer: string): void {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  if (answer.startsWith('HTTP/1.1 201') && body.endsWith('}')) {
    const { merchantId: made } = JSON.parse(body) as { readonly merchantId: string };
    acknowledged.set(/Idempotency-Key: (.*)\r/.exec(request.head)?.[1] ?? '', made);
  }
  if (name === 'job' && answer.startsWith('HTTP/1.1 202')) {
    jobs.add(/\r\nLocation: \S*\/(job_\w+)/i.exec(answer)?.[1] ?? '');
  }
}

/** Cuts every operation at every place, in a random order; how many clients went away. */
async function cutAll(): Promise<number> {
  const cuts: (readonly [name: string, make: () => Sendable, cut: Cut])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const operations = operationsOf(KEYS.alpha, merchantId, resultPath);
    for (const [name, make] of Object.entries(operations)) {
      for (const cut of CUTS) cuts.push([name, make, cut]);
    }
  }
  for (let at = cuts.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [cuts[at], cuts[other]] = [cuts[other]!, cuts[at]!];
  }
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let each = cuts[next++]; each !== undefined; each = cuts[next++]) {
        const [name, make, cut] = each;
        const request = make();
        take(name, request, await vanish(port, request, cut, random));
      }
    }),
  );
  return cuts.length;
}

/** Waits until nothing is under way, and asks one thing. */
async function assertSettled(): Promise<void> {
  const { router, pool, bulk, streams } = service.app;
  const left = (): readonly number[] => [
    router.traffic.open,
    pool.load,
    bulk.uploads.open,
    bulk.uploads.schedule.busy,
    streams.sessions.open,
  ];
  await eventually(() => left().every((count) => count === 0), WAIT_MS).catch(() =>
    assert.deepEqual(left(), [0, 0, 0, 0, 0]),
  );
  const [answer] = await askSingly({ port, key: KEYS.alpha }, [
    { path: '/request/v60?postalcode=91020' },
  ]);
  assert.equal(answer?.status, 200);
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('after hundreds of cuts nothing is under way, and memory is what it was', async (context) => {
  await cutAll();
  await assertSettled();
  const before = usedBytes();
  let count = 0;
  for (let battery = 0; battery < 2; battery += 1) {
    count += await cutAll();
    await assertSettled();
  }
  // What the last clients left is let go of a moment later, by timers and finalizers.
  let growth = Number.POSITIVE_INFINITY;
  await eventually(() => {
    growth = usedBytes() - before;
    return growth < GROWTH_BYTES_MAX;
  }, WAIT_MS).catch(() => undefined);
  context.diagnostic(`${count} cuts, ${Math.round(growth / 1024)} KiB more`);
  assert.ok(growth < GROWTH_BYTES_MAX, `${growth} bytes more after ${count} cuts`);
  const spooled = (): readonly string[] =>
    readdirSync(join(service.varDir, 'spool'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  // So is what was spooled: its answer is over before its file is gone.
  await eventually(() => spooled().length === 0, WAIT_MS).catch(() => undefined);
  assert.deepEqual(spooled(), []);
});

test('merchants that were acknowledged are there, and each key has made one', async () => {
  assert.ok(acknowledged.size > 0 && acknowledged.size < asked.length);
  const made = new Set<string>();
  for (const idempotencyKey of asked) {
    const { status, body } = await service.post('/merchant/create', JSON.parse(MERCHANT), {
      idempotencyKey,
    });
    assert.equal(status, 201);
    const id = String(body['merchantId']);
    assert.equal(id, acknowledged.get(idempotencyKey) ?? id);
    made.add(id);
  }
  assert.equal(made.size, asked.length);
  const list = await service.list();
  for (const id of made) assert.ok(list.text.includes(id), id);
  assert.equal(list.text.split('"Vanished"').length - 1, asked.length);
});

test('jobs that were acknowledged are done, and uploads that were cut leave no file', async () => {
  assert.ok(jobs.size > 0);
  for (const id of jobs) await eventually(async () => (await stateOf(id)) === 'done', WAIT_MS);
  const folder = join(service.varDir, 'jobs');
  assert.ok(existsSync(folder));
  // A job may be kept a moment after its client has gone.
  const left = async (): Promise<readonly string[]> => {
    const names = readdirSync(folder).filter((name) => name.startsWith('job_'));
    const [list] = await askSingly({ port, key: KEYS.alpha }, [{ path: '/bulk/jobs' }]);
    const known = [...new Set(list?.text.match(/job_\w+/g))];
    return names.filter((name) => !known.some((id) => name.startsWith(id)));
  };
  await eventually(async () => (await left()).length === 0, WAIT_MS);
});

test('places held in a quota are given back', async () => {
  const limited = operationsOf(LIMIT_KEY, merchantId, resultPath);
  const kinds = ['lookup', 'cart', 'upload', 'stream', 'socket'];
  for (const cut of ['in body', 'before answer', 'in answer'] as const) {
    for (const kind of kinds) {
      const { head, body } = limited[kind]!();
      // An upload of a few rows, so that the quota is not used up.
      const request =
        kind === 'upload'
          ? sendable('POST', '/bulk/lookup', fieldsOf(LIMIT_KEY, NDJSON), `${few.join('\n')}\n`)
          : { head, body };
      await vanish(port, request, cut, random);
    }
  }
  await assertSettled();
  const target = { port, key: LIMIT_KEY };
  const [metrics] = await askSingly(target, [{ path: '/account/metrics' }]);
  const { core_request_count: used } = JSON.parse(metrics?.text ?? '{}') as {
    readonly core_request_count: number;
  };
  assert.ok(used > 0 && used < LIMIT / 2, `${used} used`);
  const left = LIMIT - used;
  const answers = await askLines(
    target,
    '/bulk/lookup',
    Array.from({ length: left }, () => ({ postalcode: '91020' })),
  );
  assert.ok(answers.every((answer) => !answer.startsWith('{"error"')));
  const [over] = await askSingly(target, [{ path: '/request/v60?postalcode=91020' }]);
  assert.equal(over?.status, 405);
});

test('no release stays open for clients that have gone', async () => {
  const { live } = service.app;
  const names = await writeRates(built.varDir, [40, 45]);
  for (const name of names.values()) {
    activate(built.varDir, name);
    await eventually(() => live.release?.id === name);
  }
  await assertOpen(2);
  await askFile({ port, key: KEYS.alpha }, '/bulk/lookup', 'text/csv', 'zip\n91010\n');
  await assertOpen(2);
});

async function assertOpen(count: number): Promise<void> {
  await eventually(() => service.app.live.openCount === count).catch(() =>
    assert.equal(service.app.live.openCount, count),
  );
}
