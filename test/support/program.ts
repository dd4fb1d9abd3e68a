/** The programs that tests start as processes of their own. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a whole run has made each a file (scripts/test-program.ts); else as they were compiled. */
const FOLDER =
  process.env['SITUS_TEST_PROGRAM'] ?? fileURLToPath(new URL('../../src', import.meta.url));

/** The service. */
export const MAIN = join(FOLDER, 'main.js');
/** The command `situs`. */
export const CLI = join(FOLDER, 'cli.js');

/**
 * Options of node for processes that live no longer than a test: as scripts/run-tests.ts has this one
 * optimize its functions late, where it does.
 */
export const LATER_OPTIMIZED: readonly string[] = process.execArgv.filter((option) =>
  option.startsWith('--interrupt-budget='),
);
