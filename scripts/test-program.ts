/**
 * Bundles the service and the command into a few files, for processes that tests start. Loading 300
 * modules each time would take half of the processor time of a start. Tests of what is shipped (the
 * package, the images, npm run test:one) start the compiled files.
 */
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMPILED } from './compiled.js';

const FOLDER = join('node_modules', '.cache', 'situs-test-program');
/** Compiled modules of the project. */
const OWN = /[\\/]dist[\\/]src[\\/].*\.js$/;
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
/** CommonJS modules in the bundle call this. */
const REQUIRE =
  "import { createRequire as requiring } from 'node:module';\n" +
  'const require = requiring(import.meta.url);';
/** The path by which the command imports the service. */
const SERVICE = /^\.\.\/main\.js$/;
const OWN_URL = /\bimport\.meta\.url\b/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;
/**
 * The file that starts itself again as a listener, by its own path, which must be that of the
 * bundle.
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
  onLoad(which: { readonly filter: RegExp }, load: typeof contentsOf): void;
}

/**
 * A module's text with the place that it was compiled to, so that it finds workers and data there,
 * wherever the bundle is.
 */
function contentsOf({ path }: Loading): { readonly contents: string } {
  const text = readFileSync(path, 'utf8');
  if (STARTING_ITSELF.test(path)) return { contents: text };
  const contents = text
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

const PLACED = {
  name: 'placed',
  setup: ({ onLoad, onResolve }: Loaders): void => {
    onLoad({ filter: OWN }, contentsOf);
    onResolve({ filter: PACKAGE }, outside);
    // Kept apart, or the bundler would split what the command and the service share into a hundred
    // files.
    onResolve({ filter: SERVICE }, () => ({ path: './main.js', external: true }));
  },
};

/**
 * Bundles the compiled files below `root`. Returns the folder with `main.js` and `cli.js`; null
 * where the bundler is not installed.
 */
export async function makeTestProgram(root: string): Promise<string | null> {
  if (!existsSync(join(root, 'node_modules', 'esbuild'))) return null;
  const { build, stop } = createRequire(import.meta.url)('esbuild') as Bundler;
  const folder = join(root, FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Without this, Node.js would parse each file to find out whether it is an ES module.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  await Promise.all(
    ['main', 'cli'].map((name) =>
      build({
        absWorkingDir: root,
        outdir: folder,
        bundle: true,
        splitting: true,
        platform: 'node',
        format: 'esm',
        entryPoints: [join(COMPILED, 'src', `${name}.js`)],
        banner: { js: REQUIRE },
        logLevel: 'warning',
        plugins: [PLACED],
      }),
    ),
  );
  await stop();
  return folder;
}
