/** What a crash of the server leaves on the disk: nothing of its memory, however it was started. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { buildRecipe, CLI } from '../support/built-dataset.js';
import { LATER_OPTIMIZED, MAIN } from '../support/program.js';

const KEY = 'a-key-for-the-core-dump-test';
const DUMP_BYTES_MAX = 1_048_576;

const FILTER = '/proc/self/coredump_filter';
const LINUX = process.platform === 'linux';
/** A name in the working folder, and no program. */
const DUMPS_HERE =
  LINUX && /^core\b[^|/]*$/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim());

interface Started {
  readonly child: ChildProcess;
  readonly dir: string;
}

/** Starts a server in a folder of its own, with core files of any size. */
async function start(
  context: TestContext,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Started> {
  const built = buildRecipe('fixture');
  const dir = mkdtempSync(join(tmpdir(), 'situs-core-'));
  const line = 'ulimit -c unlimited 2>/dev/null; exec "$0" "$@"';
  const command = [process.execPath, ...LATER_OPTIMIZED, ...args];
  const child = spawn('/bin/sh', ['-c', line, ...command], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      SITUS_VAR: built.varDir,
      PORT: '0',
      SITUS_BOOTSTRAP_KEY: KEY,
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      ...environment,
    },
  });
  context.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
    // The server writes below it to its end.
    built.remove();
  });
  for await (const said of createInterface({ input: child.stdout! })) {
    if (said.startsWith('Situs answers on')) break;
  }
  return { child, dir };
}

function filterOf({ child }: Started): number {
  return parseInt(readFileSync(`/proc/${String(child.pid)}/coredump_filter`, 'utf8'), 16);
}

for (const [name, args] of [
  ['npm start', [MAIN]],
  ['situs serve', [CLI, 'serve']],
] as const) {
  test(`the memory of ${name} is left out of core dumps`, { skip: !LINUX }, async (context) => {
    const started = await start(context, args);
    assert.equal(filterOf(started), 0);
    if (!DUMPS_HERE) return context.diagnostic('dumps go elsewhere here: none was looked at');
    const { child, dir } = started;
    child.kill('SIGABRT');
    await once(child, 'exit');
    for (const file of readdirSync(dir)) {
      const path = join(dir, file);
      assert.ok(statSync(path).size < DUMP_BYTES_MAX, `${file}: ${statSync(path).size} bytes`);
      assert.equal(readFileSync(path).includes(KEY), false);
    }
    context.diagnostic(`files left: ${readdirSync(dir).join(', ') || 'none'}`);
  });

  test(`core dumps of ${name} are whole where that is asked for`, { skip: !LINUX }, async (t) => {
    const started = await start(t, args, { SITUS_CORE_DUMPS: '1' });
    assert.equal(filterOf(started), parseInt(readFileSync(FILTER, 'utf8'), 16));
  });
}
