/** Plans in which processes test files run, and in which order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Times } from './file-times.js';
import { type Company, divided, Sharing } from './together.js';

/** The test files of one process. */
export interface Unit {
  /** The file below the root, or a name for several. */
  readonly name: string;
  /** Files below the root. */
  readonly files: readonly string[];
  /** Whether the process uses the HTTP server of Node.js instead of the native one. */
  readonly overNode: boolean;
}

/** The ending of names of units and files that run over that server in addition. */
export const OVER_NODE_ENDING = ', over the HTTP server of Node.js';

/** How many files share one process at most; with more, a processor would be idle at the end. */
const TOGETHER_MAX: Readonly<Record<Exclude<Company, 'alone'>, number>> = {
  calculating: 36,
  serving: 24,
  starting: 14,
};

/**
 * These tests build the datasets that take long. They begin first, so that others find the datasets
 * built.
 */
const BUILDERS: readonly string[] = ['default', 'reference'];
const BUILDER_FILES: ReadonlySet<string> = new Set(
  BUILDERS.map((recipe) => join('service', `${recipe}.test.js`)),
);

function isBuilder(file: string): boolean {
  return [...BUILDER_FILES].some((builder) => file.endsWith(builder));
}

const ASKS_THEM = new RegExp(`'(?:${BUILDERS.join('|')})'`);
const BUILT = /\b(?:buildOnce|buildRecipe|openRecipe)\(/;

/**
 * Tests that take long on every machine. Each gets a process of its own. Until their times are
 * known they begin before the others, the longest first.
 */
const LONG: readonly string[] = [
  'store/on-postgres',
  'service/fleet-files',
  'service/fleet-torture',
  'service/package',
  'packaging/docker-steps',
  'packaging/debian',
  'service/fleet-upgrade',
  'service/fleet-datasets',
  'service/bulk-command',
  'service/torn-dataset',
  'service/update-kills',
  'service/bulk-flow',
  'service/abort',
  'service/torn-torture',
  'service/stalls-torture',
  'service/job-kills',
  'service/torture',
  'service/stream-nats',
  'service/stream-nats-once',
  'service/dataset-update-all',
  'service/postgres',
  'service/stream-release',
  'store/backup',
  'merchant/slow-provider',
  'limit/nodes',
  'http/hostile-json',
].map((name) => join(...name.split('/')));

/** The time assumed for files whose time is not known yet. */
const LONG_MS = 100_000;
const UNKNOWN_MS = 10_000;
/**
 * The rank of files that use the datasets of the builders: they begin when those exist, and early
 * enough not to delay the end.
 */
const ASKING_MS = 50_000;

/** The position of a file in LONG; -1 where it is not listed. */
function placeInLong(file: string): number {
  return LONG.findIndex((long) => file.endsWith(`${long}.test.js`));
}

function isLong(file: string): boolean {
  return placeInLong(file) >= 0;
}

/** Whether a file uses a dataset that the builders build. */
function asksThem(path: string): boolean {
  const text = readFileSync(path, 'utf8');
  return BUILT.test(text) && ASKS_THEM.test(text);
}

/** Units of files that run over the same server, and the milliseconds by which they are ordered. */
function rankedUnits(
  root: string,
  sharing: Sharing,
  files: readonly string[],
  times: Times,
  overNode: boolean,
): readonly (readonly [Unit, number])[] {
  const isOwn = (file: string): boolean =>
    isLong(file) || isBuilder(file) || asksThem(join(root, file));
  const companies = new Map(
    files.map((file): [string, Company] => [
      file,
      isOwn(file) ? 'alone' : sharing.companyOf(join(root, file)),
    ]),
  );
  const those = (company: Company): readonly string[] =>
    files.filter((file) => companies.get(file) === company);
  const parts = (['starting', 'serving', 'calculating'] as const).flatMap((company) =>
    divided(those(company), TOGETHER_MAX[company]),
  );
  const alone = those('alone').map((file) => [file]);
  const ending = overNode ? OVER_NODE_ENDING : '';
  const units = [...parts, ...alone].map(
    (part): Unit => ({
      name:
        (part.length === 1 ? part[0]! : `${part.length} files in one process, from ${part[0]} on`) +
        ending,
      files: part,
      overNode,
    }),
  );
  const rank = ({ name, files: [file = '', ...more] }: Unit): number => {
    if (isBuilder(file)) return Infinity;
    if (asksThem(join(root, file))) return ASKING_MS;
    const unknownMs = more.length > 0 ? LONG_MS : UNKNOWN_MS;
    return (
      times.get(name)?.clockMs ??
      (isLong(file) ? LONG_MS + LONG.length - placeInLong(file) : unknownMs)
    );
  };
  return units.map((unit) => [unit, rank(unit)]);
}

/**
 * The units of a run in the order in which they begin. `tests` is the folder of compiled tests;
 * `overNodeToo` are files that also run over the HTTP server of Node.js.
 */
export function planOf(
  root: string,
  tests: string,
  files: readonly string[],
  times: Times,
  overNodeToo: readonly string[] = [],
): readonly Unit[] {
  const sharing = new Sharing(join(root, tests));
  return [
    ...rankedUnits(root, sharing, files, times, false),
    ...rankedUnits(root, sharing, overNodeToo, times, true),
  ]
    .sort(([, a], [, b]) => (a === b ? 0 : b - a))
    .map(([unit]) => unit);
}
