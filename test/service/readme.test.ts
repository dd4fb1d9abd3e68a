/** Every command of the README, run, with the output it prints there. */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { activateRelease, currentRelease, releasesDir } from '../../src/dataset/release.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildOnce, CLI, publishersFiles } from '../support/built-dataset.js';
import { LATER_OPTIMIZED, MAIN } from '../support/program.js';

const KEY = 'a-key-for-the-readme-test';
const RELEASE = /\d{4}-\d{2}-\d{2}-[0-9a-f]{12}/g;
const BUILD = /^npx situs dataset build /;

const readme = readFileSync(join(packageRoot(), 'README.md'), 'utf8');
const sources = publishersFiles();

interface Example {
  readonly command: string;
  readonly output: string;
}

function examples(): readonly Example[] {
  const blocks = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].map((found) => found[1]!);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...output] = text.split('\n');
        return { command, output: output.join('\n').trim() };
      }),
  );
}

let varDir: string;
let server: ChildProcess;
let port: string;

/** Puts a build that other tests need too into the folder, active, and tells what it printed. */
function take(args: readonly string[]): string {
  const kept = buildOnce(args);
  const name = currentRelease(kept.varDir);
  assert.ok(name !== null, 'nothing is active after the command');
  cpSync(join(releasesDir(kept.varDir), name), join(releasesDir(varDir), name), {
    recursive: true,
  });
  activateRelease(varDir, name);
  return kept.output;
}

before(async () => {
  varDir = mkdtempSync(join(tmpdir(), 'situs-readme-'));
  // As a first start does, which the test of the package waits for with less of the recipe.
  take(['dataset', 'build', '--recipe', 'default', '--activate']);
  server = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    cwd: packageRoot(),
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, SITUS_VAR: varDir, PORT: '0', SITUS_BOOTSTRAP_KEY: KEY },
  });
  for await (const line of createInterface({ input: server.stdout! })) {
    const found = /^Situs answers on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line);
    if (found === null) continue;
    port = found[1]!;
    break;
  }
});

after(async () => {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
  rmSync(varDir, { recursive: true, force: true });
});

/** The command as it is run here: this build, this port, this key. */
function adapted(command: string): string {
  return command
    .replace(/^npx situs /, `'${process.execPath}' '${CLI}' `)
    .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
    .replace('YOUR-KEY', KEY)
    .replace('../shared/data', sources ?? '');
}

/** Runs a line of the README. */
async function outputOf(command: string): Promise<string> {
  if (!BUILD.test(command)) {
    const { stdout } = await promisify(execFile)('bash', ['-c', adapted(command)], {
      cwd: packageRoot(),
      env: { ...process.env, SITUS_VAR: varDir },
    });
    return stdout;
  }
  const words = command.split(' ').slice(2);
  return take(words.map((word) => (word === '../shared/data' ? (sources ?? '') : word)));
}

function withoutRelease(text: string): string {
  return text.replace(RELEASE, 'RELEASE').trim();
}

let needsSources = false;
for (const { command, output } of examples()) {
  needsSources ||= command.includes('--sources');
  const late = needsSources && command.includes('situs');
  const skip = late && sources === null ? "the publishers' files are not at hand" : false;
  test(command, { skip }, async () => {
    assert.equal(withoutRelease(await outputOf(command)), withoutRelease(output));
  });
}

test('the two commands of the start are those of the package', () => {
  assert.match(readme, /```sh\nnpm ci\nnpm start\n```/);
  const { scripts } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  assert.match(scripts['start'] ?? '', /main\.js$/);
  assert.ok(scripts['prepare']);
});

test("the README's links lead somewhere", () => {
  for (const [, path] of readme.matchAll(/\]\((docs\/[^)#]+)[^)]*\)/g)) {
    assert.ok(readFileSync(join(packageRoot(), path!), 'utf8').length > 0, path);
  }
});
