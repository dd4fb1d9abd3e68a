/**
 * npm test runs every test file; npm run test:one -- FILE… runs some, named by source or compiled
 * file. Options, such as --test-name-pattern=…, are passed to node --test. With SITUS_TEST_AGAIN=1,
 * files that failed are run once more. npm test runs those of scripts/over-node-too.ts a second
 * time, with the HTTP server of Node.js instead of the native one; SITUS_TEST_TRANSPORT=node runs
 * all requested files that way only, and =native none.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/log.js';
import { keepCode } from './code-cache.js';
import { COMPILED, compiledOf } from './compiled.js';
import { OVER_NODE_TOO } from './over-node-too.js';
import { LATER_OPTIMIZED, runTests } from './run-tests.js';
import { useMemory } from './scratch.js';
import { makeTestProgram } from './test-program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ONE = '--one';

function everyFile(): readonly string[] {
  const below = join(COMPILED, 'test');
  return readdirSync(join(ROOT, below), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.test.js'))
    .sort()
    .map((path) => join(below, path));
}

/** Runs all files; if both servers are to be tested, some of them over that of Node.js too. */
function runBoth(options: readonly string[], again: boolean): number {
  const wanted = process.env['SITUS_TEST_TRANSPORT'] ?? 'both';
  // With options files do not share processes: a pattern of names would also be compared with
  // suites, which files are in a shared process.
  const together = options.length === 0 ? { together: join(COMPILED, 'test') } : {};
  const overNodeToo = wanted === 'both' ? OVER_NODE_TOO.map((file) => compiledOf(ROOT, file)) : [];
  return runTests({
    root: ROOT,
    options,
    again,
    files: everyFile(),
    overNode: wanted === 'node',
    overNodeToo,
    ...together,
  });
}

async function main(args: readonly string[]): Promise<number> {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== ONE);
  const again = process.env['SITUS_TEST_AGAIN'] === '1';
  if (!args.includes(ONE)) {
    const program = await makeTestProgram(ROOT);
    if (program !== null) {
      // What keeps the programs from starting is for tests to find out.
      await keepCode(program, [[], LATER_OPTIMIZED]).catch((error: unknown) =>
        process.stderr.write(`# the code of programs is not kept: ${messageOf(error)}\n`),
      );
      process.env['SITUS_TEST_PROGRAM'] = program;
    }
    // An interrupt ends the tests, after which this process ends in its own way.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => undefined);
    const remove = useMemory();
    try {
      return runBoth(options, again);
    } finally {
      remove();
    }
  }
  const files = args.filter((arg) => !arg.startsWith('-')).map((arg) => compiledOf(ROOT, arg));
  const missing = files.find((file) => !existsSync(join(ROOT, file)));
  if (files.length === 0 || missing !== undefined) {
    process.stderr.write(
      missing === undefined
        ? 'npm run test:one -- FILE…, e.g. test/tax/rate.test.ts\n'
        : `there is no ${missing}\n`,
    );
    return 2;
  }
  return runTests({
    root: ROOT,
    options: ['--enable-source-maps', ...options],
    files,
    again,
    overNode: process.env['SITUS_TEST_TRANSPORT'] === 'node',
  });
}

process.exitCode = await main(process.argv.slice(2));
