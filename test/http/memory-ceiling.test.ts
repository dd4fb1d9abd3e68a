/** The stated memory of a server is the sum of limits that the program really has. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  ANSWERS_MIB,
  BODIES_MIB,
  BUFFERS_MIB,
  BULK_CACHE_MIB,
  FRONT_MIB,
  HEAP_MIB,
  LOOKUP_CACHE_MIB,
  memoryCeiling,
  KEPT_MIB,
} from '../../bench/torture/memory-ceiling.js';
import { loadConfig } from '../../src/config.js';
import { BULK_CACHE_BYTES, openChunkPool } from '../../src/bulk/run/chunk-pool.js';
import { KEPT_GROUPS_BYTES } from '../../src/dataset/street-index.js';
import { KEPT_LEAVES_BYTES } from '../../src/dataset/kept-leaves.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { SILENT } from '../../src/log.js';
import type { PoolRequest } from '../../src/pool.js';
import { WORKER_HEAP } from '../../src/pool/threads.js';
import { WIRE_DEFAULTS } from '../../src/api/lookup/context.js';
import { RELEASES_PER_WORKER } from '../../src/worker.js';
import { startEchoPool } from '../support/echo-pool.js';
import { ECHO_WORKER } from '../support/http-stub-server.js';

const MIB = 1_024 ** 2;
const RELEASE = { id: '2026-11-21-000000000000', dir: '/nowhere' };

async function tell(
  pool: { submit(request: PoolRequest): void },
  payload: string,
): Promise<Record<string, unknown>> {
  const text = await new Promise<string>((resolve) => {
    pool.submit({
      kind: 'lookup',
      version: 60,
      grants: 0,
      payload,
      answered: ({ body }) => resolve(Buffer.from(body).toString()),
      failed: resolve,
    });
  });
  return JSON.parse(text) as Record<string, unknown>;
}

function bulkPool(context: TestContext): ReturnType<typeof openChunkPool> {
  const pool = openChunkPool({
    releases: { pin: () => RELEASE, unpin: () => undefined },
    log: SILENT,
    threads: 1,
    settings: { baseUrl: '', precisionMin: 'postal', logLevel: 'error' },
    worker: ECHO_WORKER,
  });
  context.after(() => pool.close());
  return pool;
}

test('the parts are the limits of the program', () => {
  const config = loadConfig({});
  assert.equal(config.answerCacheBytes, ANSWERS_MIB * MIB);
  assert.equal(config.bodyBytes, BODIES_MIB * MIB);
  const { fragmentBytesMax, postalBytesMax } = WIRE_DEFAULTS;
  assert.equal(fragmentBytesMax + postalBytesMax, LOOKUP_CACHE_MIB * MIB);
  assert.equal(2 * BULK_CACHE_BYTES, BULK_CACHE_MIB * MIB);
  assert.equal(RELEASES_PER_WORKER * (KEPT_GROUPS_BYTES + KEPT_LEAVES_BYTES), KEPT_MIB * MIB);
  const { maxYoungGenerationSizeMb, maxOldGenerationSizeMb } = WORKER_HEAP;
  assert.equal(maxYoungGenerationSizeMb + maxOldGenerationSizeMb, HEAP_MIB);
});

test('workers have the heap, those of bulk files the caches, that are stated', async (context) => {
  const { pool } = startEchoPool(context, () => RELEASE);
  const bulk = bulkPool(context);
  for (const each of [pool, bulk]) {
    const limits = await tell(each, 'heap');
    for (const [name, megabytes] of Object.entries(WORKER_HEAP)) {
      assert.equal(limits[name], megabytes);
    }
  }
  assert.equal((await tell(bulk, 'settings'))['cacheBytesMax'], BULK_CACHE_BYTES);
});

test('the documentation states the parts and their sum', () => {
  const page = readFileSync(join(packageRoot(), 'docs', 'operating.md'), 'utf8');
  const table = page.slice(page.indexOf('<!-- memory -->'), page.indexOf('<!-- /memory -->'));
  const parts = [...table.matchAll(/^\| [^|]+ \| (\d+) \|/gm)].map(([, figure]) => Number(figure));
  assert.deepEqual(parts, [
    FRONT_MIB,
    BODIES_MIB,
    ANSWERS_MIB,
    HEAP_MIB,
    BUFFERS_MIB,
    KEPT_MIB,
    LOOKUP_CACHE_MIB,
    BULK_CACHE_MIB,
  ]);
  assert.ok(page.includes(`that is ${memoryCeiling(2) / MIB} MiB`));
});
