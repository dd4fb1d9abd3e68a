/** The stalls of `npm run torture`, as short as a test may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stalls } from '../../bench/torture/stalls.js';

const ATTACK_MS = 100;
/** Machines that run tests are busy: how long lookups waited is for the case itself to judge. */
const P99_MS_MAX = 60_000;

test('hostile bodies of one key leave the lookups of another answered, and are told', async () => {
  const lines: string[] = [];
  const result = await stalls({
    attackMs: ATTACK_MS,
    quiet: { warmMs: 0, idleMs: ATTACK_MS },
    p99MsMax: P99_MS_MAX,
    paths: ['/merchant/nexus/create'],
    report: (line) => lines.push(line),
  });
  assert.deepEqual(result.wrong, []);
  assert.ok(result.attacks > 20, 'every hostile body, and the large ones');
  assert.ok(result.idle.count > 0 && result.worst > 0 && result.ownBytesMax > 0);
  assert.ok(lines.some((line) => /16 MiB: p50 \S+ p99 \S+ max \S+ ms of [1-9]/.test(line)));
});
