/** No body takes a worker over the limit of its heap, whatever it keeps beside. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { HOSTILE_BODIES } from '../../bench/torture/hostile-bodies.js';
import { CART_BODY_BYTES_MAX } from '../../src/api/cart/handler.js';
import { WORKER_HEAP } from '../../src/pool/threads.js';
import type { FullWorkerData } from '../support/full-worker.js';

const MIB = 1_048_576;
/** Half of it, which what is kept on purpose stays below. */
const KEPT_BYTES = (WORKER_HEAP.maxOldGenerationSizeMb / 2) * MIB;

test('the longest bodies of every kind are read beside a heap that is half full', async () => {
  const workerData: FullWorkerData = { keptBytes: KEPT_BYTES, times: 2 };
  const worker = new Worker(new URL('../support/full-worker.js', import.meta.url), {
    resourceLimits: WORKER_HEAP,
    workerData,
  });
  for (const { name, make } of HOSTILE_BODIES) {
    const bytes = new Uint8Array(make(CART_BODY_BYTES_MAX, ''));
    worker.postMessage(bytes, [bytes.buffer]);
    const [kept] = await once(worker, 'message');
    assert.ok(kept > 0, name);
  }
  await worker.terminate();
});
