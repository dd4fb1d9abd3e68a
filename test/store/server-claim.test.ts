/** Servers of earlier versions, each of which wants a store for itself. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { claimServer, claimStore, releaseServer, SERVER_KEY } from '../../src/store/nodes.js';
import { Store } from '../../src/store/store.js';
import { newVarDir } from '../support/http-var-dir.js';

const HOLDER = fileURLToPath(new URL('../support/store-holder.js', import.meta.url));

/** A process that has the store open, and claims it when told to. */
async function hold(context: TestContext, varDir: string, how: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLDER, varDir, how], { stdio: ['ignore', 'pipe', 2] });
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return child;
}

test('beside a server of an earlier version none starts, until that is killed', async (context) => {
  const varDir = newVarDir(context);
  const first = await hold(context, varDir, 'claim-alone');
  const store = await Store.open(varDir);
  assert.equal(await claimServer(store), first.pid);
  const refused = await Store.open(varDir);
  await assert.rejects(claimStore(refused), new RegExp(`process ${first.pid}, of an earlier`));
  await releaseServer(store);
  assert.equal(await claimServer(store), first.pid, 'a claim of another is not given up');
  first.kill('SIGKILL');
  await once(first, 'close');
  assert.equal(await claimServer(store), null);
  // What an earlier version looks at: a number of a process that has the store open.
  assert.deepEqual(store.get(SERVER_KEY), { v: 2, pid: process.pid });
  await releaseServer(store);
  assert.equal(store.get(SERVER_KEY), undefined);
  await store.close();
});

test('neither servers of this version nor commands hold a server up', async (context) => {
  const varDir = newVarDir(context);
  await hold(context, varDir, 'open');
  await hold(context, varDir, 'claim');
  const store = await Store.open(varDir);
  assert.equal(await claimServer(store), null);
  assert.equal(await claimServer(store), null, 'a server that claims twice');
  await store.close();
});
