/** Bodies of jobs whose clients go while their file is being made. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { JobSpace } from '../../src/bulk/job/space.js';
import { JobUpload } from '../../src/bulk/job/stored-body.js';

const ROOM = { bytesMax: 1_000_000, accountBytesMax: 1_000_000, errorBytesMax: 1_000_000 };

/** Keeps the thread busy, while others make the file. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('whenever a client goes, its file has been made or never is once it is given up', async (context) => {
  const dir = mkdtempSync(join(tmpdir(), 'situs-upload-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const space = new JobSpace(join(dir, 'jobs'), ROOM);
  let told = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const id = `job_${round}`;
    space.make(id, 'a', 'a server');
    const upload = new JobUpload({
      id,
      space,
      gzip: false,
      bytesMax: 1_000,
      body: { pause: () => undefined, resume: () => undefined },
      done: () => {
        told += 1;
      },
      failed: () => {
        told += 1;
      },
    });
    if (round % 3 === 0) await turn();
    else busy((round % 97) / 400);
    if (round % 2 === 0) upload.push(Buffer.from('a body'), false);
    await upload.close();
    assert.equal(upload.close(), undefined);
    space.remove(id);
  }
  assert.deepEqual(readdirSync(space.dir), []);
  assert.deepEqual([space.used, told], [0, 0]);
});
