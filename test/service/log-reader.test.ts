/** A server whose log loses its reader, or has one that stands still, goes on answering. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test, type TestContext } from 'node:test';
import { buildRecipe, CLI, type Built } from '../support/built-dataset.js';
import { MAIN } from '../support/program.js';

const KEY = 'a-key-of-the-log-reader-test';

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

async function portOf(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  for (;;) {
    const [line] = (await once(lines, 'line')) as [string];
    const found = /:(\d+)$/.exec(line);
    if (found?.[1] !== undefined) return found[1];
  }
}

function start(context: TestContext, args: readonly string[], settings: object = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      SITUS_VAR: built.varDir,
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_BOOTSTRAP_KEY: KEY,
      ...settings,
    },
  });
  context.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  return child;
}

async function ask(port: string, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/request/v60?postalcode=91010`, {
    headers: { 'X-API-KEY': KEY, ...headers },
  });
  assert.equal(response.status, 200);
  await response.arrayBuffer();
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 0);
}

for (const [name, args] of [
  ['npm start', [MAIN]],
  ['situs serve', [CLI, 'serve']],
] as const) {
  test(`${name}: nobody reads the log or the output any more`, async (context) => {
    const child = start(context, args, { SITUS_LOG: 'debug' });
    // Before the first line of the log, so that the server meets a closed pipe.
    child.stderr!.destroy();
    const port = await portOf(child);
    child.stdout!.destroy();
    for (let asked = 0; asked < 3; asked += 1) await ask(port);
    // The signal is logged before anything else happens.
    await stop(child);
  });
}

test('whoever reads the log of requests stands still: all are answered, and the end is one', {
  timeout: 60_000,
}, async (context) => {
  const child = start(context, [MAIN], { SITUS_REQUEST_LOG: '-' });
  // Only what the system holds for a reader is taken.
  const port = await portOf(child);
  child.stdout!.pause();
  const id = 'a'.repeat(128);
  for (let asked = 0; asked < 1_500; asked += 1) await ask(port, { 'X-Request-Id': id });
  await stop(child);
});
