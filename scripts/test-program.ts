/**
 * The service and the command as a few files, for processes that tests start: these load 300 modules
 * each time, which takes half of the processor time of a start. Tests of what is shipped (the package,
 * the images, npm run test:one) start the compiled files.
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
 * Packages that every start loads, and that are part of the files: to find each of their modules
 * takes longer than to run it. None that another package loads too, which would then be there twice,
 * nor one that finds files by where it is.
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
/** What is not named by its place. */
const PACKAGE = /^[^./]/;
/** Those of the other form of modules call it. */
const REQUIRE =
  "import { createRequire as requiring } from 'node:module';\n" +
  'const require = requiring(import.meta.url);';
/** As the command loads it. */
const SERVICE = /^\.\.\/main\.js$/;
const OWN_URL = /\bimport\.meta\.url\b/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;
/** Starts itself again as a listener, by where it is: that is to be this program too. */
const STARTING_ITSELF = /[\\/]dist[\\/]src[\\/]main\.js$/;

interface Loading {
  readonly path: string;
}

/** What is used of the bundler, which is not installed everywhere. */
interface Bundler {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Ends its process. */
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

/** A module finds workers and data from where it was compiled to, wherever the bundle is. */
function contentsOf({ path }: Loading): { readonly contents: string } {
  const text = readFileSync(path, 'utf8');
  if (STARTING_ITSELF.test(path)) return { contents: text };
  const contents = text
    .replaceAll(OWN_URL, JSON.stringify(pathToFileURL(path).href))
    .replaceAll(OWN_FOLDER, JSON.stringify(dirname(path)));
  return { contents };
}

/** Other packages are loaded by those who run the files. */
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
    // What the command shares with the service would be divided into a hundred files, for both.
    onResolve({ filter: SERVICE }, () => ({ path: './main.js', external: true }));
  },
};

/**
 * Makes them of the compiled files below `root`, and gives the folder with `main.js` and `cli.js`;
 * null where the bundler is not installed.
 */
export async function makeTestProgram(root: string): Promise<string | null> {
  if (!existsSync(join(root, 'node_modules', 'esbuild'))) return null;
  const { build, stop } = createRequire(import.meta.url)('esbuild') as Bundler;
  const folder = join(root, FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Node.js would look for the form of each file in its text.
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
