/** A commit stays, whatever another process that opens the store does to the number of the last one. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LOCK_FILE } from '../../src/store/last-commit.js';
import { Store, storeDir } from '../../src/store/store.js';
import { LATER_OPTIMIZED } from '../support/built-dataset.js';
import { newVarDir } from '../support/http-var-dir.js';

const WRITER = fileURLToPath(new URL('../support/store-writer.js', import.meta.url));
const OPENINGS = 300;

/**
 * What a process may do that opens a store while another one commits. In a process of its own, since
 * closing the lock file releases the locks of the process that does.
 */
const SET_BACK = `
  const { openSync, readSync, writeSync } = require('node:fs');
  const file = openSync(process.argv[1], 'r+');
  const last = Buffer.alloc(8);
  readSync(file, last, 0, 8, 8);
  last.writeBigUInt64LE(last.readBigUInt64LE() - 1n);
  writeSync(file, last, 0, 8, 8);
`;

function setBack(varDir: string): void {
  execFileSync(process.execPath, ['-e', SET_BACK, join(storeDir(varDir), LOCK_FILE)]);
}

const put = (store: Store, id: string): Promise<void> =>
  store.write((transaction) => transaction.put(['thing', id], { v: 1, id }));

function idsOf(store: Store): readonly unknown[] {
  return store.list(['thing']).map((record) => (record as { id: string }).id);
}

/** A store of two records, as if another process had just opened it beside the second commit. */
async function setBackStore(varDir: string): Promise<Store> {
  const store = await Store.open(varDir);
  await put(store, 'a');
  await put(store, 'b');
  setBack(varDir);
  return store;
}

test('a commit whose number was set back is not replaced by the next one', async (context) => {
  const store = await setBackStore(newVarDir(context));
  await Promise.all([put(store, 'c'), put(store, 'd')]);
  await put(store, 'e');
  assert.deepEqual(idsOf(store), ['a', 'b', 'c', 'd', 'e']);
  await store.close();
});

test('who opens a store whose number was set back reads the last commit', async (context) => {
  const varDir = newVarDir(context);
  const store = await setBackStore(varDir);
  // In the same process, where LMDB opens nothing again.
  const second = await Store.open(varDir);
  assert.deepEqual(idsOf(second), ['a', 'b']);
  await second.close();
  await put(store, 'c');
  assert.deepEqual(idsOf(store), ['a', 'b', 'c']);
  await store.close();
});

test('opening a store beside a writer takes nothing of what it stored', async (context) => {
  const varDir = newVarDir(context);
  const writer = spawn(process.execPath, [...LATER_OPTIMIZED, WRITER, varDir, 'w'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => writer.kill('SIGKILL'));
  let told = '';
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  await once(writer.stdout, 'data');
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    const store = await Store.open(varDir);
    await store.close();
  }
  writer.kill('SIGKILL');
  await once(writer, 'close');
  const store = await Store.open(varDir);
  const ids = new Set(idsOf(store));
  await store.close();
  const lost = told
    .split('\n')
    .slice(0, -1)
    .filter((id) => !ids.has(id));
  assert.deepEqual(lost, []);
});
