/** The rules that the source keeps to, as a function of one file's text. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface SourceFile {
  /** Path below the repository, e.g. "src/http/uws.ts". */
  readonly path: string;
  readonly text: string;
}

const LINES_MAX = 300;
const COLUMNS_MAX = 100;

/** Layers from the lowest up; imports point down or stay within a folder. */
export const LAYERS: readonly (readonly string[])[] = [
  ['config.ts', 'failure.ts', 'log.ts', 'setting.ts', 'settings.ts', 'base'],
  ['tax', 'address', 'geo'],
  ['dataset', 'store', 'provider'],
  ['distribution'],
  ['engine'],
  ['ingest'],
  ['wire'],
  ['pool', 'pool.ts'],
  ['http', 'event'],
  ['limit'],
  ['listener'],
  ['api'],
  ['bulk'],
  ['describe'],
  ['monitor'],
  ['worker.ts'],
  [
    'app.ts',
    'opened.ts',
    'shared.ts',
    'parts.ts',
    'service-watch.ts',
    'serve.ts',
    'main.ts',
    'cli',
    'cli.ts',
  ],
];

/** Siblings that may use each other within one layer. */
const PEERS: readonly (readonly string[])[] = [
  ['config.ts', 'log.ts', 'setting.ts', 'settings.ts'],
  ['tax', 'address', 'geo'],
  ['pool', 'pool.ts'],
  ['main.ts', 'serve.ts', 'app.ts', 'opened.ts', 'shared.ts', 'parts.ts', 'service-watch.ts'],
  ['cli', 'cli.ts', 'app.ts', 'main.ts'],
];

const PURE = /^src\/(?:tax|address|geo)\//;
const QUOTED = '[\'"]([^\'"]+)[\'"]';
const IMPORT = new RegExp(
  [
    String.raw`^\s*(?:import|export)\s[^'"]*?from\s+${QUOTED}`,
    String.raw`^\s*import\s+${QUOTED}`,
    String.raw`\bimport\(\s*${QUOTED},?\s*\)`,
  ].join('|'),
  'gm',
);

/** Text without comments and without what stands in quotes, so that rules see code alone. */
export function codeOf(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|[^:'"`\\])\/\/.*$/gm, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}

/** What a file imports, as written. */
export function importsOf(text: string): readonly string[] {
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
  return [...bare.matchAll(IMPORT)].map(([, from, effect, lazy]) => from ?? effect ?? lazy ?? '');
}

/** The file that a relative import leads to. */
export function target(path: string, specifier: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of specifier.replace(/\.js$/, '.ts').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** The folder or top file below src/ that a path belongs to. */
function unit(path: string): string {
  return path.split('/')[1] ?? '';
}

/** Which layer a path below src/ is in, counted from the lowest; -1 for none. */
export function layer(path: string): number {
  return LAYERS.findIndex((units) => units.includes(unit(path)));
}

function isUpward(from: string, to: string): boolean {
  const [here, there] = [unit(from), unit(to)];
  if (here === there) return false;
  if (PEERS.some((peers) => peers.includes(here) && peers.includes(there))) return false;
  return layer(to) >= layer(from);
}

function importProblems({ path, text }: SourceFile): readonly string[] {
  const problems: string[] = [];
  for (const specifier of importsOf(text)) {
    if (specifier === 'uWebSockets.js' && path !== 'src/http/uws.ts') {
      problems.push('only src/http/uws.ts imports uWebSockets.js');
    }
    if (PURE.test(path) && specifier.startsWith('node:')) problems.push(`imports ${specifier}`);
    if (!specifier.startsWith('.') || !path.startsWith('src/')) continue;
    const to = target(path, specifier);
    if (!to.startsWith('src/')) {
      problems.push(`imports ${to} outside src`);
      continue;
    }
    if (layer(to) < 0) problems.push(`imports ${to}, which is in no layer`);
    else if (unit(to) === 'ingest' && !/^src\/(?:ingest\/|cli)/.test(path)) {
      problems.push('only the command line and workers import ingest');
    } else if (isUpward(path, to)) problems.push(`imports upward: ${to}`);
  }
  return problems;
}

const CODE_RULES: readonly {
  readonly applies: RegExp;
  readonly found: RegExp;
  readonly problem: string;
}[] = [
  {
    applies: /^(?!src\/config\.ts$)(?:src|workers)\//,
    found: /\bprocess\.env\b/,
    problem: 'only src/config.ts reads process.env',
  },
  {
    applies: PURE,
    found: /\bnew Date\b|\bDate\.|\bMath\.random\b|\bperformance\b/,
    problem: 'the rules touch no clock and no randomness',
  },
  { applies: /^(?:src|workers)\//, found: /^export default\b/m, problem: 'default export' },
  { applies: /./, found: /[:<,|]\s*any\b|\bas any\b/, problem: 'any' },
  { applies: /./, found: /\bas unknown as\b/, problem: 'a cast through unknown' },
];

/** Lines that are too wide. */
export function widthProblemsOf({ text }: SourceFile): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      line.length > COLUMNS_MAX ? [`line ${index + 1} has ${line.length} columns`] : [],
    );
}

/** Everything else wrong with a file, in words. */
export function problemsOf(file: SourceFile): readonly string[] {
  const { path, text } = file;
  const problems = [...importProblems(file)];
  if (path.startsWith('src/') && layer(path) < 0) problems.push('is in no layer');
  const lines = text.replace(/\n$/, '').split('\n');
  if (lines.length > LINES_MAX) problems.push(`has ${lines.length} lines`);
  const code = codeOf(text);
  for (const { applies, found, problem } of CODE_RULES) {
    if (applies.test(path) && found.test(code)) problems.push(problem);
  }
  if (/@ts-(?:ignore|nocheck)/.test(text)) problems.push('a silenced compiler');
  return problems;
}

/** The package's root: the tests run from a build folder of any name below it. */
export function packageRoot(from: string): string {
  return existsSync(join(from, 'package.json')) ? from : packageRoot(dirname(from));
}
