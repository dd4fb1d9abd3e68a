/** The package as npm makes it, installed as somebody would who has nothing but it. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisMachine, unread } from '../../scripts/slim.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { keptFolder, linkAs, npmVersion, registryEnvironment } from './kept-folders.js';

export interface Packed {
  readonly tarball: string;
  readonly bytes: number;
  /** Paths below the package's root. */
  readonly files: readonly string[];
}

/** What npm says where the registry cannot be reached. */
export const NO_REGISTRY =
  /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;
const SLIM = fileURLToPath(new URL('../../scripts/slim.js', import.meta.url));
const QUIET = ['--no-audit', '--no-fund', '--loglevel', 'error'];

function npm(cwd: string, args: readonly string[]): string {
  return execFileSync('npm', args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: registryEnvironment(),
  }).toString('utf8');
}

/** What the package is made of: any change makes another one. */
export function packedContent(): readonly string[] {
  const root = packageRoot();
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  return ['package.json', 'README.md', 'LICENSE', ...files.filter((name) => !name.startsWith('!'))]
    .map((name) => join(root, name))
    .filter((path) => existsSync(path));
}

/**
 * Packs this build, unless it has been packed as it is; the scripts of the package, which would build
 * again, do not run.
 */
export function pack(): Packed {
  const folder = keptFolder(
    { args: ['npm pack'], content: packedContent(), listed: [], texts: [npmVersion()] },
    (path) => {
      mkdirSync(path);
      const options = ['--ignore-scripts', '--json', '--pack-destination', path];
      writeFileSync(join(path, 'told.json'), npm(packageRoot(), ['pack', ...options]));
    },
  );
  const told = readFileSync(join(folder, 'told.json'), 'utf8');
  const [packed] = Object.values(JSON.parse(told) as object) as {
    filename: string;
    size: number;
    files: { path: string }[];
  }[];
  if (packed === undefined) throw new Error(`npm pack told nothing: ${told}`);
  return {
    tarball: join(folder, packed.filename),
    bytes: packed.size,
    files: packed.files.map(({ path }) => path),
  };
}

interface Locked {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** The program of the command, below the folder of the package. */
function commandOf(own: string): string {
  const { bin } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  return bin['situs']!;
}

/** What npm would do, with the packages of this checkout: the package beside those it needs. */
function layOut(folder: string, tarball: string): void {
  const root = packageRoot();
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Locked;
  for (const [path, { dev }] of Object.entries(packages)) {
    if (path === '' || dev === true || !existsSync(join(root, path))) continue;
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'situs');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  const command = commandOf(own);
  mkdirSync(join(modules, '.bin'), { recursive: true });
  execFileSync('chmod', ['+x', join(own, command)]);
  symlinkSync(join('..', 'situs', command), join(modules, '.bin', 'situs'));
}

/** What npm chooses the packages by that the package needs. */
function manifestOf(tarball: string): string {
  return execFileSync('tar', ['-xzOf', tarball, 'package/package.json']).toString('utf8');
}

/**
 * Has npm install a tarball in an empty folder, with all that it needs. What it needs is what npm
 * installed with an earlier tarball of the same manifest, where there was one, without what a checkout
 * removes of it: npm finds it there, and unpacks the package alone.
 */
function installByNpm(folder: string, tarball: string): void {
  const install = (): string =>
    npm(folder, ['install', '--prefer-offline', '--fetch-retries=0', ...QUIET, tarball]);
  const modules = join(folder, 'node_modules');
  let isWhole = false;
  const kept = keptFolder(
    {
      args: ['what the package needs'],
      content: [fileURLToPath(import.meta.url), SLIM],
      listed: [],
      texts: [manifestOf(tarball), npmVersion()],
    },
    (path) => {
      install();
      isWhole = true;
      const needed = join(path, 'node_modules');
      linkAs(modules, needed);
      for (const own of ['situs', '.package-lock.json', join('.bin', 'situs')])
        rmSync(join(needed, own), { recursive: true });
      for (const file of unread(path, thisMachine())) rmSync(file);
    },
  );
  if (isWhole) return;
  linkAs(join(kept, 'node_modules'), modules);
  install();
}

/** Installs a tarball in an empty folder: by npm, or from this checkout without the registry. */
export function install(folder: string, tarball: string): 'npm' | 'laid out' {
  writeFileSync(join(folder, 'package.json'), '{"name":"buyer","private":true}\n');
  try {
    installByNpm(folder, tarball);
    return 'npm';
  } catch (error) {
    if (!NO_REGISTRY.test(String(error))) throw error;
    layOut(folder, tarball);
    return 'laid out';
  }
}

/**
 * Has npm install for all below a folder what it installed in another, which is moved: what the
 * package needs is then within it, as `npm install -g` lays it out. Returns the command's path. The
 * packages are the same ones, and to unpack them npm writes a quarter of a gigabyte each time.
 */
export function installGlobally(installed: string, folder: string): string {
  const modules = join(installed, 'node_modules');
  const own = join(folder, 'unpacked', 'situs');
  mkdirSync(dirname(own), { recursive: true });
  renameSync(join(modules, 'situs'), own);
  renameSync(modules, join(own, 'node_modules'));
  // A folder's scripts would build it, which is for the project's own.
  const options = ['--prefix', folder, '--ignore-scripts', '--offline', ...QUIET];
  npm(folder, ['install', '-g', ...options, own]);
  return join(folder, 'bin', 'situs');
}
