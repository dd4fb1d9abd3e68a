/**
 * Bundles the service, the command and each worker into a file of its own, for processes that tests
 * start. Loading 300 modules each time would take half of the processor time of a start. Tests of
 * what is shipped (the package, the images, npm run test:one) start the compiled files.
 */
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  BUNDLE_ENDING,
  BUNDLE_HEAD,
  BUNDLE_TAIL,
  writeLoader,
  writeLoading,
} from './code-cache.js';
import { COMPILED } from './compiled.js';

const FOLDER = join('node_modules', '.cache', 'situs-test-program');
/** Compiled modules of the project. */
const OWN = /[\\/]dist[\\/](?:src|workers)[\\/].*\.js$/;
/**
 * Packages that every start loads, and that are bundled: finding each of their modules takes longer
 * than running it. Excluded are packages that another package loads too, which would then exist
 * twice, and those that find files by their own place.
 */
const INLINE: ReadonlySet<string> = new Set([
  'ipaddr.js',
  'leven',
  'minisearch',
  'negotiator',
  'papaparse',
  'range-parser',
  'stemmer',
]);
/** Matches modules that are named without a path. */
const PACKAGE = /^[^./]/;
/** The path by which the command imports the service, which stays a file of its own. */
const SERVICE = /^\.\.\/main\.js$/;
/** The line that names the interpreter; a bundle is no file that starts by itself. */
const FIRST_LINE = /^#!.*/;
const OWN_URL = /\bimport\.meta\.url\b/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;
/** A compiled worker, as a module names it: by its path from the module's own. */
const WORKER_URL = /\bnew URL\('(?:\.\.\/)+workers\/(\w+\.js)', import\.meta\.url\)/g;
/** The folder of workers, below the compiled files and below the bundles. */
const WORKERS = 'workers';
/**
 * The file that starts itself again as a listener, by its own path, which must be that of the
 * bundle's loader.
 */
const STARTING_ITSELF = /[\\/]dist[\\/]src[\\/]main\.js$/;

interface Loading {
  readonly path: string;
}

/** The part of the bundler that is used; it is not installed everywhere. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Ends the bundler's process. */
  stop(): Promise<void>;
}

interface Asked extends Loading {
  readonly kind: string;
}

interface Loaders {
  onResolve(
    which: { readonly filter: RegExp },
    resolve: (asked: Asked) => { readonly path: string; readonly external: true } | undefined,
  ): void;
  onLoad(
    which: { readonly filter: RegExp },
    load: (loading: Loading) => { readonly contents: string },
  ): void;
}

/** The path of the running program, as a CommonJS module knows it. */
const PROGRAM_URL = "require('node:url').pathToFileURL(__filename).href";

/**
 * A module's text with the place that it was compiled to, so that it finds data there, wherever the
 * bundle is. The workers are those of the bundles' folder.
 */
function contentsOf(workers: URL, { path }: Loading): { readonly contents: string } {
  const text = readFileSync(path, 'utf8');
  if (STARTING_ITSELF.test(path)) return { contents: text.replaceAll(OWN_URL, PROGRAM_URL) };
  const contents = text
    .replace(FIRST_LINE, '')
    .replaceAll(WORKER_URL, (_url, file: string) => `new URL('${new URL(file, workers).href}')`)
    .replaceAll(OWN_URL, JSON.stringify(pathToFileURL(path).href))
    .replaceAll(OWN_FOLDER, JSON.stringify(dirname(path)));
  return { contents };
}

/** Leaves other packages to be loaded when the bundle runs. */
function outside({
  path,
  kind,
}: Asked): { readonly path: string; readonly external: true } | undefined {
  return kind === 'entry-point' || INLINE.has(path) ? undefined : { path, external: true };
}

interface Plugin {
  readonly name: string;
  readonly setup: (loaders: Loaders) => void;
}

/** Bundles modules as if they were where they were compiled to; `folder` gets the bundles. */
function placed(folder: string): Plugin {
  const workers = pathToFileURL(join(folder, WORKERS, '/'));
  return {
    name: 'placed',
    setup: ({ onLoad, onResolve }) => {
      onLoad({ filter: OWN }, (loading) => contentsOf(workers, loading));
      onResolve({ filter: PACKAGE }, outside);
      onResolve({ filter: SERVICE }, () => ({ path: './main.js', external: true }));
    },
  };
}

/** The bundled files: each one's path below the compiled files, and below the folder of bundles. */
function entriesOf(root: string): readonly (readonly [string, string])[] {
  return [
    ...['main.js', 'cli.js'].map((file) => [join('src', file), file] as const),
    ...readdirSync(join(root, COMPILED, WORKERS))
      .filter((file) => file.endsWith('.js'))
      .map((file) => [join(WORKERS, file), join(WORKERS, file)] as const),
  ];
}

/**
 * Bundles the compiled files below `root`. Returns the folder with `main.js` and `cli.js`; null
 * where the bundler is not installed.
 */
export async function makeTestProgram(root: string): Promise<string | null> {
  if (!existsSync(join(root, 'node_modules', 'esbuild'))) return null;
  const { build, stop } = createRequire(import.meta.url)('esbuild') as Bundler;
  const folder = join(root, FOLDER);
  mkdirSync(join(folder, WORKERS), { recursive: true });
  writeLoading(folder);
  const plugins = [placed(folder)];
  await Promise.all(
    entriesOf(root).map(([entry, file]) => {
      writeLoader(folder, join(folder, file));
      return build({
        absWorkingDir: root,
        outfile: join(folder, file + BUNDLE_ENDING),
        bundle: true,
        platform: 'node',
        format: 'cjs',
        // A script has no import() without an option of Node.js that is not stable.
        supported: { 'dynamic-import': false },
        minifyWhitespace: true,
        banner: { js: BUNDLE_HEAD },
        footer: { js: BUNDLE_TAIL },
        entryPoints: [join(COMPILED, entry)],
        logLevel: 'warning',
        plugins,
      });
    }),
  );
  await stop();
  return folder;
}
