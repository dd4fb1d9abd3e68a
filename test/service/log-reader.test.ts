/** A server whose log loses its reader goes on answering. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { buildRecipe, CLI, type Built } from '../support/built-dataset.js';
import { MAIN } from '../support/program.js';

const KEY = 'a-key-of-the-log-reader-test';

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

async function portOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /:(\d+)$/.exec(line);
    if (found?.[1] !== undefined) return found[1];
  }
  throw new Error('the server did not start');
}

for (const [name, args] of [
  ['npm start', [MAIN]],
  ['situs serve', [CLI, 'serve']],
] as const) {
  test(`${name}: nobody reads the log or the output any more`, async (context) => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        SITUS_VAR: built.varDir,
        HOST: '127.0.0.1',
        PORT: '0',
        SITUS_LOG: 'debug',
        SITUS_BOOTSTRAP_KEY: KEY,
      },
    });
    context.after(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    // Before the first line of the log, so that the server meets a closed pipe.
    child.stderr.destroy();
    const port = await portOf(child);
    child.stdout.destroy();
    for (let asked = 0; asked < 3; asked += 1) {
      const response = await fetch(`http://127.0.0.1:${port}/request/v60?postalcode=91010`, {
        headers: { 'X-API-KEY': KEY },
      });
      assert.equal(response.status, 200);
    }
    // The signal is logged before anything else happens.
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.equal(code, 0);
  });
}
