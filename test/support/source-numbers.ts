/** How large the source is and how it hangs together. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf } from './http-source-rules.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
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

/** What is counted, as the table in docs/architecture.md names it. */
interface SourceNumbers {
  readonly files: number;
  readonly lines: number;
  /** Files that one other imports. */
  readonly oneImporter: number;
  /** Files under 30 lines. */
  readonly short: number;
  /** Base names that stand in several folders. */
  readonly repeated: number;
  readonly dependencies: number;
  /** Files of `test/support`. */
  readonly support: number;
}

/** Counts them. */
export function sourceNumbers(): SourceNumbers {
  const source = filesBelow('src');
  const counts = importers([...source, ...filesBelow('workers')]);
  const lines = source.map(linesOf);
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: object;
  };
  return {
    files: source.length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    oneImporter: source.filter((path) => counts.get(path) === 1).length,
    short: lines.filter((each) => each < SHORT_LINES).length,
    repeated: repeatedNames(source),
    dependencies: Object.keys(dependencies).length,
    support: filesBelow('test/support').length,
  };
}
