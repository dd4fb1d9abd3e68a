/** In which processes test files run, and in which order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Times } from './file-times.js';
import { divided, Sharing } from './together.js';

/** A process of tests. */
export interface Unit {
  /** A file below the root, or what several are called. */
  readonly name: string;
  /** Files below the root. */
  readonly files: readonly string[];
}

/** Files in one process, of those that may share one: more would leave a processor idle at the end. */
const TOGETHER_MAX = 24;

/** They build the datasets that take long; begun first, so that others find them built. */
const BUILDERS: readonly string[] = ['default', 'reference'];
const BUILDER_FILES: ReadonlySet<string> =
  new Set(BUILDERS.map((recipe) => join('service', `${recipe}.test.js`)));
const ASKS_THEM = new RegExp(`'(?:${BUILDERS.join('|')})'`);
const BUILT = /\b(?:buildOnce|buildRecipe|openRecipe)\(/;

/** The units of a run, those first that are to begin first. `tests` is the folder of compiled tests. */
export function planOf(
  root: string, tests: string, files: readonly string[], times: Times,
): readonly Unit[] {
  const sharing = new Sharing(join(root, tests));
  const shared = files.filter((file) => sharing.allows(join(root, file)));
  const together = divided(shared, TOGETHER_MAX).map((part) => ({
    name: part.length === 1 ? part[0]! : `${part.length} files in one process, from ${part[0]} on`,
    files: part,
  }));
  const alone = files.filter((file) => !shared.includes(file))
    .map((file) => ({ name: file, files: [file] }));
  const rank = ({ name, files: [file = ''] }: Unit): number => {
    if ([...BUILDER_FILES].some((builder) => file.endsWith(builder))) return Infinity;
    const text = readFileSync(join(root, file), 'utf8');
    if (BUILT.test(text) && ASKS_THEM.test(text)) return -1;
    return times.get(name)?.clockMs ?? Number.MAX_VALUE;
  };
  return [...together, ...alone].map((unit) => ({ unit, rank: rank(unit) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : b.rank - a.rank)).map(({ unit }) => unit);
}

