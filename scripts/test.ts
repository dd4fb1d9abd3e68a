/**
 * npm test: every test file. npm run test:one -- FILE…: some, named by source or by compiled file.
 * Options, such as --test-name-pattern=…, go to node --test. With SITUS_TEST_AGAIN=1 files that
 * failed are run once more.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, compiledOf } from './compiled.js';
import { runTests } from './run-tests.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ONE = '--one';

function everyFile(): readonly string[] {
  const below = join(COMPILED, 'test');
  return readdirSync(join(ROOT, below), { recursive: true }).map(String)
    .filter((path) => path.endsWith('.test.js')).sort().map((path) => join(below, path));
}

function main(args: readonly string[]): number {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== ONE);
  const again = process.env['SITUS_TEST_AGAIN'] === '1';
  if (!args.includes(ONE)) return runTests({ root: ROOT, options, files: everyFile(), again });
  const files = args.filter((arg) => !arg.startsWith('-')).map((arg) => compiledOf(ROOT, arg));
  const missing = files.find((file) => !existsSync(join(ROOT, file)));
  if (files.length === 0 || missing !== undefined) {
    process.stderr.write(missing === undefined
      ? 'npm run test:one -- FILE…, e.g. test/tax/rate.test.ts\n' : `there is no ${missing}\n`);
    return 2;
  }
  return runTests({ root: ROOT, options: ['--enable-source-maps', ...options], files, again });
}

process.exitCode = main(process.argv.slice(2));
