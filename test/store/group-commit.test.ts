/** Writes that wait together share a commit, and are undone and refused one by one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { Store, storeDir } from '../../src/store/store.js';
import { LATER_OPTIMIZED } from '../support/built-dataset.js';
import { newVarDir } from '../support/http-var-dir.js';

const WRITER = fileURLToPath(new URL('../support/store-writer.js', import.meta.url));
const WRITES = 200;

/** Number of the last commit, which LMDB keeps in the file. */
function commits(varDir: string): number {
  const root = open({ path: storeDir(varDir), readOnly: true });
  const { lastTxnId = 0 }: { lastTxnId?: number } = root.getStats();
  void root.close();
  return lastTxnId;
}

test('writes of many clients share commits', async (context) => {
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  const before = commits(varDir);
  const results = await Promise.all(
    Array.from({ length: WRITES }, (_, index) =>
      store.write((transaction) => {
        transaction.put(['thing', String(index)], { v: 1, index });
        return index;
      }),
    ),
  );
  assert.deepEqual(
    results,
    Array.from({ length: WRITES }, (_, index) => index),
  );
  assert.equal(store.list(['thing']).length, WRITES);
  const shared = commits(varDir) - before;
  assert.ok(shared > 0 && shared <= WRITES / 10, `${shared} commits for ${WRITES} writes`);
});

test('an action that throws undoes itself and none of those it shares a commit with', async (context) => {
  const store = await Store.open(newVarDir(context));
  context.after(() => store.close());
  const outcomes = await Promise.allSettled(
    Array.from({ length: WRITES }, (_, index) =>
      store.write((transaction) => {
        transaction.put(['thing', String(index)], { v: 1, index });
        transaction.put(['sum'], { v: 1, sum: sumOf(transaction.get(['sum'])) + 1 });
        if (index % 3 === 0) throw new Error(`no ${index}`);
        return index;
      }),
    ),
  );
  outcomes.forEach((outcome, index) => {
    const threw = index % 3 === 0;
    assert.equal(outcome.status, threw ? 'rejected' : 'fulfilled');
    if (outcome.status === 'rejected') {
      assert.match(String(outcome.reason), new RegExp(`no ${index}$`));
    }
    assert.equal(store.get(['thing', String(index)]) === undefined, threw);
  });
  assert.equal(sumOf(store.get(['sum'])), Math.floor((WRITES * 2) / 3));
});

function sumOf(record: unknown): number {
  return typeof record === 'object' && record !== null && 'sum' in record ? Number(record.sum) : 0;
}

test('a result is there for others before it is returned', async (context) => {
  const varDir = newVarDir(context);
  const [one, other] = [await Store.open(varDir), await Store.open(varDir)];
  context.after(() => Promise.all([one.close(), other.close()]));
  for (let index = 0; index < 50; index += 1) {
    await one.write((transaction) => transaction.put(['thing', String(index)], { v: 1 }));
    other.refresh();
    assert.deepEqual(other.get(['thing', String(index)]), { v: 1 });
    assert.deepEqual(one.get(['thing', String(index)]), { v: 1 });
  }
});

test('what a killed process was told is stored is stored', async (context) => {
  const varDir = newVarDir(context);
  for (let time = 0; time < 3; time += 1) {
    const child = spawn(process.execPath, [...LATER_OPTIMIZED, WRITER, varDir, String(time)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const piece of child.stdout) {
      said += String(piece);
      if (said.split('\n').length > 300) break;
    }
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const store = await Store.open(varDir);
    const told = said.split('\n').slice(0, -1);
    assert.ok(told.length >= 300);
    for (const id of told) assert.deepEqual(store.get(['thing', id]), { v: 1, id });
    await store.close();
  }
});

test('a store can be opened beside a handle of the same process that is writing', async (context) => {
  // Without the wait in Store.open this stops for ever.
  const varDir = newVarDir(context);
  const store = await Store.open(varDir);
  context.after(() => store.close());
  for (let round = 0; round < 20; round += 1) {
    const writes = Array.from({ length: 20 }, (_, index) =>
      store.write((transaction) => transaction.put(['thing', String(index)], { v: 1, round })),
    );
    const other = await Store.open(varDir);
    await Promise.all(writes);
    // A write sees what was committed before it, wherever the store is.
    const seen = await other.write((transaction) => transaction.get(['thing', '7']));
    assert.deepEqual(seen, { v: 1, round });
    await other.close();
  }
});
