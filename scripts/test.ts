/**
 * npm test: every test file. npm run test:one -- FILE…: some, named by source or by compiled file.
 * Options, such as --test-name-pattern=…, go to node --test.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, compiledOf } from './compiled.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ONE = '--one';
/** Many tests wait for a process, a clock or a disk, so that two share even a single core well. */
const AT_ONCE_MIN = 2;

function everyFile(): readonly string[] {
  const below = join(COMPILED, 'test');
  return readdirSync(join(ROOT, below), { recursive: true }).map(String)
    .filter((path) => path.endsWith('.test.js')).sort().map((path) => join(below, path));
}

/** Runs the files and returns the exit code. */
function runTests(options: readonly string[], files: readonly string[]): number {
  const { status } = spawnSync(process.execPath, [
    '--test', `--test-concurrency=${Math.max(AT_ONCE_MIN, availableParallelism())}`,
    ...options, ...files,
  ], { cwd: ROOT, stdio: 'inherit' });
  return status ?? 1;
}

function main(args: readonly string[]): number {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== ONE);
  if (!args.includes(ONE)) return runTests(options, everyFile());
  const files = args.filter((arg) => !arg.startsWith('-')).map((arg) => compiledOf(ROOT, arg));
  const missing = files.find((file) => !existsSync(join(ROOT, file)));
  if (files.length === 0 || missing !== undefined) {
    process.stderr.write(missing === undefined
      ? 'npm run test:one -- FILE…, e.g. test/tax/rate.test.ts\n' : `there is no ${missing}\n`);
    return 2;
  }
  return runTests(['--enable-source-maps', ...options], files);
}

process.exitCode = main(process.argv.slice(2));
