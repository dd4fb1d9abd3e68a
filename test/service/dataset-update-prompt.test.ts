/** The question of `situs dataset update` before it activates, asked at a pseudo-terminal. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test, type TestContext } from 'node:test';
import { CLI } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';
import { UpdateWorld } from '../support/update-world.js';
import { skipForWantOf } from '../support/wanting.js';

const world = new UpdateWorld();
/** A pseudo-terminal around a command, whose exit code it gives (util-linux). */
const TERMINAL = 'script';
const CTRL_C = '\x03';
const CTRL_D = '\x04';

before(() => world.start());
after(() => world.stop());

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' ');
}

/** Types an answer once the question is there. */
async function answered(
  context: TestContext,
  typed: string,
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const words = quoted([process.execPath, CLI, ...world.words('--quiet')]);
  const child = spawn(TERMINAL, ['-q', '-e', '-c', words, '/dev/null'], {
    env: { ...process.env, SITUS_VAR: world.varDir },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  context.after(() => child.kill('SIGKILL'));
  let shown = '';
  child.stdout.on('data', (piece: Buffer) => {
    shown += piece.toString();
  });
  await eventually(() => /let \S+ answer\? \[y\/N\]/.test(shown) || child.exitCode !== null);
  child.stdin.write(typed);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, shown };
}

test('at a terminal it asks: all but yes waits, also the end of what is typed', async (context) => {
  const { stdout, error } = spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' });
  if (error !== undefined || !stdout.includes('util-linux')) {
    skipForWantOf(context, 'there is no program script (util-linux)');
    return;
  }
  for (const typed of ['\n', 'yesterday\n', CTRL_D, CTRL_C]) {
    const { code, shown } = await answered(context, typed);
    assert.equal(code, 4, shown);
    assert.match(shown, /is built and verified, and waits/);
    assert.equal(world.active, null);
  }
  const { code, shown } = await answered(context, 'Yes\n');
  assert.equal(code, 0, shown);
  assert.ok(world.active !== null && shown.includes(`${world.active} answers`), shown);
});
