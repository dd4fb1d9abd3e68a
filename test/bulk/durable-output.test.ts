/** Output that is written in order, whenever it comes, and ends where its disk has no more room. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { DiskLimit, DurableOutput } from '../../src/bulk/job/durable-output.js';
import type { Checkpoint } from '../../src/bulk/run/checkpoint.js';

const FULL = new DiskLimit(1);
const CHECKPOINT: Checkpoint = {
  position: { line: 1, at: 0, rescanned: 0 },
  bytes: 0,
  rows: 0,
  codes: {},
  counts: { core: 0, geo: 0, merchant: 0 },
  errorBytes: 0,
};

interface Opened {
  readonly file: FileHandle;
  text(): string;
}

async function opened(context: TestContext): Promise<Opened> {
  const dir = mkdtempSync(join(tmpdir(), 'situs-output-'));
  const path = join(dir, 'output');
  const file = await open(path, 'w+');
  context.after(async () => {
    await file.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { file, text: () => readFileSync(path, 'latin1') };
}

test('what is written as soon as a run ends in the midst of a call back is flushed too', async (t) => {
  const { file, text } = await opened(t);
  const output = new DurableOutput({ file, at: 0, save: () => Promise.resolve() });
  const drained = new Promise<void>((resolve) => {
    output.listen({ drained: resolve, failed: assert.ifError });
  });
  const whole = 'x'.repeat(5_242_880);
  assert.equal(output.write(Buffer.from(whole)), false);
  await drained;
  output.write(Buffer.from('the last line\n'));
  await output.flush();
  assert.ok(text() === `${whole}the last line\n`);
});

for (const what of ['an upload', 'a job']) {
  test(`output of ${what} ends at a limit of the disk, though other output waits`, async (t) => {
    const { file } = await opened(t);
    let [taken, saved] = [0, 0];
    const save = (): Promise<void> => {
      saved += 1;
      return Promise.resolve();
    };
    const output = new DurableOutput({
      file,
      at: 0,
      save: what === 'a job' ? save : null,
      take: () => {
        taken += 1;
        if (taken === 3) throw FULL;
      },
    });
    const told: unknown[] = [];
    output.listen({ drained: () => undefined, failed: (error) => told.push(error) });
    const piece = Buffer.alloc(20_000);
    output.write(piece);
    await new Promise(setImmediate);
    output.write(piece);
    output.write(piece);
    output.reached(CHECKPOINT);
    await assert.rejects(output.flush(), FULL);
    assert.deepEqual([told, saved], [[FULL], 0]);
  });
}
