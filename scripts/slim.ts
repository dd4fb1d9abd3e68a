/**
 * Finds files of installed packages that a checkout never reads: binaries for other platforms, and
 * unused data.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The properties by which native files are chosen. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** The module ABI of the running Node. */
  readonly abi: string;
  /** The C library, on platforms with more than one; null elsewhere. */
  readonly libc: 'glibc' | 'musl' | null;
}

/** The ABIs of Node 20, 22 and 24, so that a change between them needs no new installation. */
const ABIS: readonly string[] = ['115', '127', '137'];
const SERVER_BINARY = /^uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/;
const LIBC_BINARY = /^node\.\w+\.(glibc|musl)\.node$/;
/** Scopes whose packages are for one platform each, with a binary for each C library. */
const LIBC_SCOPES = ['@lmdb', '@msgpackr-extract'];
/** Files that state where data come from and under which terms; they stay beside the data. */
const PAPERS = /^(?:package\.json|(?:LICEN[CS]E|README|NOTICE)[\w.-]*)$/i;
/** Matches the name of a package's file in a recipe, alone or after another source. */
const DATA_FILE = /["|]package:([^"/|]+)\/([^"|]+)/g;

/** The machine on which this runs. */
export function thisMachine(): Machine {
  const { platform, arch, versions } = process;
  const { header } = process.report.getReport() as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  const libc = header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  return { platform, arch, abi: versions.modules, libc: platform === 'linux' ? libc : null };
}

function filesBelow(dir: string): readonly string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function otherServers(modules: string, machine: Machine): readonly string[] {
  const dir = join(modules, 'uWebSockets.js');
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => {
      const found = SERVER_BINARY.exec(name);
      if (found === null) return false;
      const [, platform, arch, abi] = found;
      return (
        platform !== machine.platform ||
        arch !== machine.arch ||
        !(ABIS.includes(abi!) || abi === machine.abi)
      );
    })
    .map((name) => join(dir, name));
}

function otherLibc(modules: string, { libc }: Machine): readonly string[] {
  if (libc === null) return [];
  return LIBC_SCOPES.flatMap((scope) => filesBelow(join(modules, scope))).filter((path) => {
    const found = LIBC_BINARY.exec(path.slice(path.lastIndexOf('/') + 1));
    return found !== null && found[1] !== libc;
  });
}

/** Copies of a package's code for bundlers, which Node does not read. */
function bundlerCopies(modules: string): readonly string[] {
  const scope = join(modules, '@opentelemetry');
  if (!existsSync(scope)) return [];
  return readdirSync(scope).flatMap((name) =>
    ['esm', 'esnext'].flatMap((copy) => filesBelow(join(scope, name, 'build', copy))),
  );
}

/** Source maps of packages, most of which do not contain the sources. */
function sourceMaps(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  // The cache of tests is no package, and several times as large.
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.cache')
    .flatMap(({ name }) => filesBelow(join(modules, name)))
    .filter((path) => path.endsWith('.map'));
}

/** A copy of the bundler under the name of its command; a build starts the one of its platform. */
function bundlerLinks(modules: string): readonly string[] {
  return [join(modules, 'esbuild', 'bin', 'esbuild')].filter((path) => existsSync(path));
}

/** Schemas of the kinds that may be in the manifests in packaging, which tests check. */
const SCHEMAS = /^_schemas\/IoK8sApi(?:Apps|Autoscaling|Core|Networking|Policy)V\d+[A-Z]\w*\.js$/;

/** Schemas of other kinds, of alpha and beta versions, and all types. */
function unreadSchemas(modules: string): readonly string[] {
  const dir = join(modules, 'kubernetes-models');
  return filesBelow(dir).filter((path) => {
    const below = path.slice(dir.length + 1);
    return !SCHEMAS.test(below) && !PAPERS.test(below);
  });
}

/** The files that recipes name, for each package. */
function dataFiles(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const files = new Map<string, Set<string>>();
  for (const recipe of filesBelow(join(root, 'datasets', 'recipes'))) {
    for (const [, name, path] of readFileSync(recipe, 'utf8').matchAll(DATA_FILE)) {
      files.set(name!, (files.get(name!) ?? new Set()).add(path!));
    }
  }
  return files;
}

function unreadData(root: string, modules: string): readonly string[] {
  return [...dataFiles(root)].flatMap(([name, read]) => {
    const dir = join(modules, name);
    return filesBelow(dir).filter((path) => {
      const below = path.slice(dir.length + 1);
      return !read.has(below) && !PAPERS.test(below);
    });
  });
}

/**
 * Paths of files in `node_modules` of a checkout that nothing on this machine reads. No other
 * folder is searched, since packages installed elsewhere may belong to others.
 */
export function unread(root: string, machine: Machine): readonly string[] {
  const modules = join(root, 'node_modules');
  return [
    ...new Set([
      ...otherServers(modules, machine),
      ...otherLibc(modules, machine),
      ...unreadData(root, modules),
      ...bundlerCopies(modules),
      ...unreadSchemas(modules),
      ...sourceMaps(modules),
      ...bundlerLinks(modules),
    ]),
  ];
}

/**
 * Files with the terms of a package's code and its parts; some packages state them only in the
 * README.
 */
const TERMS = /^(?:LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|AUTHORS)(?:[-.].*)?$/i;
const README = /^README[\w.-]*$/i;
/** Files for compilers, authors and readers of a package. */
const FOR_OTHERS = new RegExp(
  [
    String.raw`\.(?:[cm]?ts|c|cc|cpp|h|gypi?|md|markdown|html|css|png|svg|ya?ml|sh)$`,
    String.raw`\.(?:test|spec)\.[cm]?js$`,
    '(?:^|/)(?:tests?|__tests__|bench|benchmarks?|examples?)/',
    String.raw`(?:^|/)\.[^/]+$`,
  ].join('|'),
);

/**
 * Paths of files that nothing reads when the package runs that is installed at `path` in a
 * checkout; files of packages within it are not included. All files of a package with data stay.
 */
export function unreadToRun(root: string, path: string): readonly string[] {
  if (dataFiles(root).has(basename(path))) return [];
  const dir = join(root, path);
  const own = filesBelow(dir).filter((path) => !path.slice(dir.length).includes('/node_modules/'));
  const hasTerms = own.some((path) => TERMS.test(path.slice(dir.length + 1)));
  return own.filter((path) => {
    const below = path.slice(dir.length + 1);
    if (TERMS.test(below.slice(below.lastIndexOf('/') + 1))) return false;
    return FOR_OTHERS.test(below) && (hasTerms || !README.test(below));
  });
}
