/** Copies of a store that commands make while they work, where those were killed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { SILENT } from '../../src/log.js';
import { storeDir } from '../../src/store/store.js';
import { CLI, LATER_OPTIMIZED } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { filledStore } from '../support/filled-store.js';
import { eventually } from '../support/http-eventually.js';
import { newVarDir } from '../support/http-var-dir.js';
import type { Ran } from '../support/run-command.js';

const commands = new CommandProcess();
after(() => commands.end());

/** Runs `situs` on the store in a folder. */
function runSitus(varDir: string, ...words: readonly string[]): Promise<Ran> {
  return commands.run(words, { SITUS_VAR: varDir });
}

function copiesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith('.'));
}

test('what killed commands have left goes with the next one and at a start', async (context) => {
  const varDir = await filledStore(context, 20_000);
  const dir = newVarDir(context);
  const file = join(dir, 'b.mdb');
  await runSitus(varDir, 'store', 'backup', file);
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, CLI, 'store', 'verify', file], {
    env: { ...process.env, SITUS_VAR: varDir },
    stdio: 'ignore',
    detached: true,
  });
  await eventually(() => copiesIn(varDir).length > 0);
  // Whoever kills a container kills all of it.
  process.kill(-child.pid!, 'SIGKILL');
  await once(child, 'close');
  const { pid: gone } = spawnSync(process.execPath, ['-e', '0']);
  const leave = (folder: string): string => {
    const left = join(folder, `.situs-store.${hostname()}-${gone}-0a`);
    mkdirSync(join(left, 'store'), { recursive: true });
    return left;
  };
  const alive = join(varDir, `.situs-store.${hostname()}-${process.ppid}-0a`);
  mkdirSync(alive);
  assert.equal((await runSitus(varDir, 'store', 'verify', file)).code, 0);
  const beside = leave(dir);
  assert.equal((await runSitus(varDir, 'store', 'backup', join(dir, 'c.mdb'))).code, 0);
  assert.ok(!existsSync(beside));
  assert.deepEqual(copiesIn(varDir), [basename(alive)], 'a process that lives may read it');
  const left = [leave(varDir), leave(storeDir(varDir))];
  const app = await App.start({
    config: loadConfig({ HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir }),
    log: SILENT,
  });
  await app.stop();
  assert.ok(left.every((folder) => !existsSync(folder)));
});

test('a folder that is none is told by what opens it', async (context) => {
  const file = join(newVarDir(context), 'file');
  writeFileSync(file, '');
  const config = loadConfig({ HOST: '127.0.0.1', PORT: '0', SITUS_VAR: file });
  await assert.rejects(App.start({ config, log: SILENT }), /SITUS_VAR says where.*not a folder/);
});
