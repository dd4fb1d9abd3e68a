/** Which files of installed packages a checkout never reads: other platforms' binaries, unread data. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What native files are chosen by. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** Of the running Node. */
  readonly abi: string;
  /** Where a platform has more than one C library. */
  readonly libc: 'glibc' | 'musl' | null;
}

/** Of Node 20, 22 and 24: a change between them needs no new installation. */
const ABIS: readonly string[] = ['115', '127', '137'];
const SERVER_BINARY = /^uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/;
const LIBC_BINARY = /^node\.\w+\.(glibc|musl)\.node$/;
/** Scopes whose packages are of one platform each, with a binary for each C library. */
const LIBC_SCOPES = ['@lmdb', '@msgpackr-extract'];
/** What tells where data are from and on which terms stays with them. */
const PAPERS = /^(?:package\.json|(?:LICEN[CS]E|README|NOTICE)[\w.-]*)$/i;
/** As a source by itself, or behind what is taken where it was fetched. */
const DATA_FILE = /["|]package:([^"/|]+)\/([^"|]+)/g;

/** The machine that this runs on. */
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

/** Maps to packages' sources, most of which are not with them. */
function sourceMaps(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  // What tests keep is no package, and several times as much.
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.cache')
    .flatMap(({ name }) => filesBelow(join(modules, name)))
    .filter((path) => path.endsWith('.map'));
}

/** The bundler once more, under the name of its command: a build starts that of its platform. */
function bundlerLinks(modules: string): readonly string[] {
  return [join(modules, 'esbuild', 'bin', 'esbuild')].filter((path) => existsSync(path));
}

/** What checks the manifests in packaging: the schemas of the kinds that may be in them. */
const SCHEMAS = /^_schemas\/IoK8sApi(?:Apps|Autoscaling|Core|Networking|Policy)V\d+[A-Z]\w*\.js$/;

/** Kinds that are used nowhere here, alpha and beta ones, and types of all. */
function unreadSchemas(modules: string): readonly string[] {
  const dir = join(modules, 'kubernetes-models');
  return filesBelow(dir).filter((path) => {
    const below = path.slice(dir.length + 1);
    return !SCHEMAS.test(below) && !PAPERS.test(below);
  });
}

/** Files that recipes name, by package. */
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
 * Paths of files in `node_modules` of a checkout that nothing on this machine reads. Only the
 * checkout's own folder is looked at: what it is installed beside may belong to others.
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

/** Terms of a package's code, and of what it is made of; some have them in no file but the README. */
const TERMS = /^(?:LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|AUTHORS)(?:[-.].*)?$/i;
const README = /^README[\w.-]*$/i;
/** What compilers, authors and readers of a package look at. */
const FOR_OTHERS = new RegExp(
  [
    String.raw`\.(?:[cm]?ts|c|cc|cpp|h|gypi?|md|markdown|html|css|png|svg|ya?ml|sh)$`,
    String.raw`\.(?:test|spec)\.[cm]?js$`,
    '(?:^|/)(?:tests?|__tests__|bench|benchmarks?|examples?)/',
    String.raw`(?:^|/)\.[^/]+$`,
  ].join('|'),
);

/**
 * Paths of files of a package that is installed at `path` in a checkout, and of none within it, that
 * nothing reads where it runs. What tells of data stays with them.
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
