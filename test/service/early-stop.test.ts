/** A server that is told to stop while it still begins takes its leave as any other does. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { DATA_FILE } from '../../src/dataset/manifest.js';
import { releasesDir } from '../../src/dataset/release.js';
import { listNodes } from '../../src/store/nodes.js';
import { Store } from '../../src/store/store.js';
import { buildRecipe } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import { LATER_OPTIMIZED, MAIN } from '../support/program.js';

interface Begun {
  readonly child: ChildProcess;
  readonly varDir: string;
  readonly said: () => string;
}

function begin(context: TestContext, varDir = newVarDir(context)): Begun {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_VAR: varDir,
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      SITUS_LOG: 'info',
    },
  });
  let said = '';
  child.stderr!.on('data', (piece: Buffer) => {
    said += piece.toString('utf8');
  });
  const ended = once(child, 'close');
  context.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, varDir, said: () => said };
}

/** Nothing of it is left: no node in the store, no release, nothing half-written beside one. */
async function assertLeft({ child, varDir, said }: Begun): Promise<void> {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  assert.deepEqual([code, signal], [0, null], said());
  assert.match(said(), /stopping/);
  const store = await Store.open(varDir);
  assert.deepEqual(listNodes(store), []);
  await store.close();
  const datasets = join(varDir, 'datasets');
  assert.deepEqual(existsSync(datasets) ? readdirSync(datasets, { recursive: true }) : [], []);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} while the first dataset is built`, async (context) => {
    const begun = begin(context);
    await eventually(() => begun.said().includes('building the default one'));
    begun.child.kill(signal);
    await assertLeft(begun);
    assert.doesNotMatch(begun.said(), /could not be built/);
  });
}

test('a server that is killed takes the build of its first dataset with it', async (context) => {
  const begun = begin(context);
  const datasets = join(begun.varDir, 'datasets');
  await eventually(() => existsSync(datasets) && readdirSync(datasets).length > 0);
  begun.child.kill('SIGKILL');
  // Whoever builds has its output open.
  await once(begun.child, 'close');
  assert.match(begun.said(), /build interrupted, nothing was left behind/);
  assert.deepEqual(readdirSync(datasets), []);
});

test('a start that its dataset ends leaves the store before: to exit under a write would wait for it for ever', async (context) => {
  const { varDir, name, remove } = buildRecipe('fixture');
  context.after(remove);
  truncateSync(join(releasesDir(varDir), name, DATA_FILE), 8_192);
  const { child, said } = begin(context, varDir);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  assert.deepEqual([code, signal], [1, null], said());
  assert.match(said(), /situs: .*dataset/);
  const store = await Store.open(varDir);
  assert.deepEqual(listNodes(store), []);
  await store.close();
});

test('SIGTERM while the store is opened', async (context) => {
  const begun = begin(context);
  await eventually(() => existsSync(join(begun.varDir, 'store')));
  begun.child.kill('SIGTERM');
  await assertLeft(begun);
  assert.doesNotMatch(begun.said(), /building the default one/);
});
