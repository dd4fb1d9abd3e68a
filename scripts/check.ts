/**
 * npm run check: checks the style of every file with Biome, then the project's own rules, such as
 * the width of comments, which no formatter breaks. Options are passed to Biome, such as --write.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './compiled.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STYLE = join('scripts', 'style');
const RULES = join(COMPILED, 'test', 'architecture', 'imports.test.js');
/** Biome is no dependency of the service. It is installed from npm's cache if it is there. */
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--silent'];

/** Runs a command in the root with the output of this process, and returns whether it succeeded. */
function isDone(command: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status === 0;
}

const biome = join(STYLE, 'node_modules', '.bin', 'biome');
const isSound =
  isDone('npm', [...INSTALL, '--prefix', STYLE]) &&
  isDone(biome, ['check', '--error-on-warnings', ...process.argv.slice(2)]) &&
  isDone(process.execPath, ['--test', '--test-reporter=dot', RULES]);
process.exitCode = isSound ? 0 : 1;
