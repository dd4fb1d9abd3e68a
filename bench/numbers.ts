/** Prints how large the source is and how it hangs together: the table in docs/architecture.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { longFunctions } from '../test/support/function-lengths.js';
import { importsOf } from '../test/support/http-source-rules.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHORT_LINES = 30;

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join(folder, name));
}

function linesOf(path: string): number {
  return readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;
}

/** How many files import each, by path. */
function importers(files: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of files) {
    const imported = importsOf(readFileSync(join(ROOT, path), 'utf8'))
      .filter((from) => from.startsWith('.'))
      .map((from) => normalize(join(dirname(path), from)).replace(/\.js$/, '.ts'));
    for (const one of new Set(imported)) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  return counts;
}

function repeatedNames(files: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const path of files) counts.set(basename(path), (counts.get(basename(path)) ?? 0) + 1);
  return [...counts.values()].filter((count) => count > 1).length;
}

const source = filesBelow('src');
const counts = importers([...source, ...filesBelow('workers')]);
const lines = source.map(linesOf);
const longest = Math.max(
  ...longFunctions(join(ROOT, 'tsconfig.json'), 1)
    .filter(({ file }) => /\/(?:src|workers)\//.test(file))
    .map((one) => one.lines),
);
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: object;
};
const figures: readonly (readonly [string, number | string])[] = [
  ['files and lines of src', `${source.length}, ${lines.reduce((sum, each) => sum + each, 0)}`],
  ['files that one other imports', source.filter((path) => counts.get(path) === 1).length],
  [`files under ${SHORT_LINES} lines`, lines.filter((each) => each < SHORT_LINES).length],
  ['base names that stand in several folders', repeatedNames(source)],
  ['longest function', `${longest} lines`],
  ['runtime dependencies', Object.keys(dependencies).length],
];
for (const [what, figure] of figures) process.stdout.write(`${what}: ${figure}\n`);
