/**
 * Prints the size of the source and how its files depend on each other, for docs/architecture.md.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { longFunctions } from '../test/support/function-lengths.js';
import { sourceNumbers } from '../test/support/source-numbers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const numbers = sourceNumbers();
const longest = Math.max(
  ...longFunctions(join(ROOT, 'tsconfig.json'), 1)
    .filter(({ file }) => /\/(?:src|workers)\//.test(file))
    .map((one) => one.lines),
);
const figures: readonly (readonly [string, number | string])[] = [
  ['files and lines of src', `${numbers.files}, ${numbers.lines}`],
  ['files that one other imports', numbers.oneImporter],
  ['files under 30 lines', numbers.short],
  ['base names that stand in several folders', numbers.repeated],
  ['files of test/support', numbers.support],
  ['longest function', `${longest} lines`],
  ['runtime dependencies', numbers.dependencies],
];
for (const [what, figure] of figures) process.stdout.write(`${what}: ${figure}\n`);
