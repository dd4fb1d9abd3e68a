/** Backups beside a running writer, and putting them back. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { REPLACED_FILE } from '../../src/store/backup.js';
import { Store, storeDir } from '../../src/store/store.js';
import { STORE_FILE } from '../../src/store/store-file.js';
import { openVault } from '../../src/store/vault.js';
import { CLI, LATER_OPTIMIZED } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { filledStore, turnAt } from '../support/filled-store.js';
import { DISTINCTIVE, fileConfig } from '../support/kek-dir.js';
import { newVarDir } from '../support/http-var-dir.js';
import type { Ran } from '../support/run-command.js';

const WRITER = fileURLToPath(new URL('../support/store-writer.js', import.meta.url));

const commands = new CommandProcess();
after(() => commands.end());

/** Runs `situs` on the store in a folder. */
function runSitus(varDir: string, ...words: readonly string[]): Promise<Ran> {
  return commands.run(words, { SITUS_VAR: varDir });
}

async function withStore<T>(varDir: string, use: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await Store.open(varDir);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Everything in the store besides what says how often it was written. */
function recordsOf(varDir: string): Promise<readonly unknown[]> {
  return withStore(varDir, (store) => store.list(['thing']));
}

function leftovers(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => /(?:^|\/)\.[^/]+\./.test(name));
}

test('a backup beside a writer is one moment of the store, and restores', async (context) => {
  const varDir = newVarDir(context);
  const backups = newVarDir(context);
  const writer = spawn(process.execPath, [...LATER_OPTIMIZED, WRITER, varDir, 'w'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => writer.kill('SIGKILL'));
  const told: string[] = [];
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    told.push(...text.split('\n').filter((id) => /^w-\d+$/.test(id)));
  });
  await once(writer.stdout, 'data');
  for (let time = 0; time < 2; time += 1) {
    const before = told.slice(0, -1);
    const file = join(backups, `b${time}.mdb`);
    const { code, out, err } = await runSitus(varDir, 'store', 'backup', file);
    assert.equal(code, 0, err);
    assert.match(out, /records, \d+ bytes/);
    const target = newVarDir(context);
    assert.equal((await runSitus(target, 'store', 'restore', file)).code, 0);
    const ids = new Set((await recordsOf(target)).map((record) => (record as { id: string }).id));
    assert.ok(
      before.every((id) => ids.has(id)),
      'what was told before the backup is in it',
    );
    // Ids are given in order and one commit holds a run of them: a moment has no gaps.
    const last = [...ids].reduce((most, id) => Math.max(most, Number(id.slice(2))), 0);
    assert.equal(last - ids.size <= 16, true);
  }
  assert.deepEqual(readdirSync(backups).sort(), ['b0.mdb', 'b1.mdb', 'datasets']);
  assert.equal(statSync(join(backups, 'b0.mdb')).mode & 0o777, 0o600);
});

test('a backup in a folder has a name of its own, and none is replaced', async (context) => {
  const varDir = await filledStore(context, 20);
  const backups = join(newVarDir(context), 'new');
  const { out } = await runSitus(varDir, 'store', 'backup', `${backups}/`);
  assert.match(out.split('\n')[0]!, /new\/situs-store-\d{8}T\d{6}Z\.mdb$/);
  const file = out.split('\n')[0]!;
  const whole = readFileSync(file);
  const { code, err } = await runSitus(varDir, 'store', 'backup', file);
  assert.equal(code, 1);
  assert.match(err, /exists; a backup does not replace one/);
  assert.deepEqual(readFileSync(file), whole);
});

test('a backup names the key its secrets need and holds neither', async (context) => {
  const varDir = newVarDir(context);
  await withStore(varDir, async (store) => {
    const vault = await openVault(fileConfig(varDir), store);
    await store.write((transaction) =>
      transaction.put(['s'], {
        v: 1,
        sealed: vault.seal(DISTINCTIVE, { account: 'a', merchant: 'm', field: 'f' }),
      }),
    );
  });
  const {
    keys: [kek],
  } = JSON.parse(readFileSync(join(varDir, 'kek'), 'utf8')) as {
    keys: [{ id: string; key: string }];
  };
  const file = join(newVarDir(context), 'b.mdb');
  const { out } = await runSitus(varDir, 'store', 'backup', file);
  assert.match(out, new RegExp(`need the key-encryption key ${kek.id}`));
  const bytes = readFileSync(file);
  assert.equal(bytes.includes(DISTINCTIVE), false);
  assert.equal(bytes.includes(kek.key), false);
  assert.equal(bytes.includes(Buffer.from(kek.key, 'base64')), false);
  const target = newVarDir(context);
  const restored = await runSitus(target, 'store', 'restore', file);
  assert.equal(restored.code, 0);
  assert.match(restored.err, new RegExp(`${kek.id} is not in .*will not start`));
});

test('nothing is restored over records unless forced, and then they are kept', async (context) => {
  const [varDir, target] = [await filledStore(context, 20), await filledStore(context, 3)];
  const file = join(newVarDir(context), 'b.mdb');
  await runSitus(varDir, 'store', 'backup', file);
  const refused = await runSitus(target, 'store', 'restore', file);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /holds records; --force/);
  assert.equal((await recordsOf(target)).length, 3);
  assert.equal((await runSitus(target, 'store', 'restore', file, '--force')).code, 0);
  assert.equal((await recordsOf(target)).length, 20);
  const kept = newVarDir(context);
  mkdirSync(storeDir(kept));
  copyFileSync(join(storeDir(target), REPLACED_FILE), join(storeDir(kept), STORE_FILE));
  assert.equal((await recordsOf(kept)).length, 3);
});

test('a store that a process has open is not replaced, not even forced', async (context) => {
  const [varDir, target] = [await filledStore(context, 20), await filledStore(context, 3)];
  const file = join(newVarDir(context), 'b.mdb');
  await runSitus(varDir, 'store', 'backup', file);
  const writer = spawn(process.execPath, [...LATER_OPTIMIZED, WRITER, target, 'w'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(writer.stdout, 'data');
  writer.stdout.resume();
  const { code, err } = await runSitus(target, 'store', 'restore', file, '--force');
  assert.equal(code, 1);
  assert.match(err, new RegExp(`process ${writer.pid} has the store open`));
  const ended = once(writer, 'exit');
  writer.kill('SIGKILL');
  await ended;
  // A killed process holds nothing.
  assert.equal((await runSitus(target, 'store', 'restore', file, '--force')).code, 0);
});

test('what is no sound backup is refused and changes nothing', async (context) => {
  const [varDir, target] = [await filledStore(context, 2_000), await filledStore(context, 3)];
  const dir = newVarDir(context);
  const file = join(dir, 'b.mdb');
  await runSitus(varDir, 'store', 'backup', file);
  const broken = (name: string, spoil: (path: string) => void): string => {
    const path = join(dir, name);
    copyFileSync(file, path);
    spoil(path);
    return path;
  };
  for (const path of [
    broken('half', (each) => truncateSync(each, Math.floor(statSync(each).size / 2))),
    broken('page', (each) => truncateSync(each, statSync(each).size - 4_096)),
    broken('empty', (each) => truncateSync(each, 0)),
    broken('text', (each) => writeFileSync(each, 'not a store')),
    join(dir, 'missing'),
  ]) {
    const { code, err } = await runSitus(target, 'store', 'restore', path, '--force');
    assert.equal(code, 1, path);
    assert.match(err, /not sound; nothing was changed|there is no/);
    assert.equal((await recordsOf(target)).length, 3);
  }
  assert.deepEqual(leftovers(target), []);
});

test('an interrupted restore and backup leave nothing half-written', async (context) => {
  const [varDir, target] = [await filledStore(context, 20_000), await filledStore(context, 3)];
  const dir = newVarDir(context);
  const file = join(dir, 'b.mdb');
  await runSitus(varDir, 'store', 'backup', file);
  const interrupt = async (waitMs: number, ...args: readonly string[]): Promise<void> => {
    const child = spawn(process.execPath, [...LATER_OPTIMIZED, CLI, 'store', ...args], {
      env: { ...process.env, SITUS_VAR: args[0] === 'backup' ? varDir : target },
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(child, 'exit');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    try {
      // As Ctrl-C does: the whole group.
      process.kill(-child.pid!, 'SIGINT');
    } catch {
      // It has ended.
    }
    await ended;
  };
  for (const waitMs of [150, 350]) {
    await interrupt(waitMs, 'restore', file, '--force');
    assert.ok([3, 20_000].includes((await recordsOf(target)).length));
    const second = join(dir, 'second.mdb');
    await interrupt(waitMs, 'backup', second);
    if (existsSync(second)) {
      assert.equal((await runSitus(target, 'store', 'verify', second)).code, 0);
      rmSync(second);
    }
    assert.deepEqual([...leftovers(target), ...leftovers(dir)], []);
  }
});

test('a damaged record is named and counted, and everything else is backed up', async (context) => {
  const [varDir, target] = [await filledStore(context, 20), await filledStore(context, 3)];
  for (const at of ['3', '7']) await turnAt(varDir, ['thing', at]);
  const file = join(newVarDir(context), 'b.mdb');
  const made = await runSitus(varDir, 'store', 'backup', file);
  assert.equal(made.code, 3, made.err);
  assert.match(
    made.err,
    /the record thing\/3 in the store is damaged\n.*thing\/7.*\n2 damaged records/s,
  );
  const verified = await runSitus(varDir, 'store', 'verify', file);
  assert.equal(verified.code, 3);
  assert.match(verified.err, /2 damaged records/);
  const refused = await runSitus(newVarDir(context), 'store', 'restore', file);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /holds damaged records; nothing was changed. --force restores it/);
  assert.equal((await runSitus(target, 'store', 'restore', file, '--force')).code, 0);
  assert.equal((await recordsOf(target)).length, 18);
});

test('what is no file is told by its name, and nothing is made', async (context) => {
  const varDir = newVarDir(context);
  const before = readdirSync(varDir);
  for (const [path, told] of [
    ['nowhere', /there is no .*nowhere\n$/],
    ['.', /no file of a backup\n$/],
  ] as const) {
    for (const command of ['verify', 'restore']) {
      const { code, err } = await runSitus(varDir, 'store', command, join(varDir, path));
      assert.equal(code, 1);
      assert.match(err, told);
    }
  }
  assert.deepEqual(readdirSync(varDir), before);
});
