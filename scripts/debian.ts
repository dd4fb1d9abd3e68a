/**
 * Makes the Debian package of this checkout for the platform on which it runs: `npm run debian --
 * FOLDER` (dist/debian unless given) prints its path.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisMachine, unread, unreadToRun } from './slim.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = 'usr/lib/situs';
const KIB = 1024;
/** Files of `packaging`, their destination and mode. The settings file may contain secrets. */
const FILES: readonly (readonly [from: string, to: string, mode: number])[] = [
  ['situs.service', 'usr/lib/systemd/system/situs.service', 0o644],
  ['debian/default', 'etc/default/situs', 0o600],
  ['debian/situs', 'usr/bin/situs', 0o755],
  ['debian/sysusers.conf', 'usr/lib/sysusers.d/situs.conf', 0o644],
  ['debian/conffiles', 'DEBIAN/conffiles', 0o644],
  ['debian/postinst', 'DEBIAN/postinst', 0o755],
  ['debian/prerm', 'DEBIAN/prerm', 0o755],
  ['debian/postrm', 'DEBIAN/postrm', 0o755],
];

interface Locked {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>
  >;
}

function output(command: string, args: readonly string[], cwd = ROOT): string {
  return execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] }).toString(
    'utf8',
  );
}

/** Writes the files that npm would publish below `dir`. */
function layOutProgram(dir: string, scratch: string): void {
  const told = output('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch]);
  const [packed] = Object.values(JSON.parse(told) as object) as { readonly filename: string }[];
  mkdirSync(dir, { recursive: true });
  output('tar', [
    '-xzf',
    join(scratch, packed!.filename),
    '-C',
    dir,
    '--strip-components=1',
    '--no-same-owner',
  ]);
}

/**
 * Copies this checkout's modules that the service needs, without files that a running service never
 * reads.
 */
function layOutModules(dir: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Locked;
  const left = new Set(unread(ROOT, thisMachine()));
  for (const [path, { dev, devOptional }] of Object.entries(packages)) {
    const from = join(ROOT, path);
    if (path === '' || dev === true || devOptional === true || !existsSync(from)) continue;
    const more = new Set(unreadToRun(ROOT, path));
    cpSync(from, join(dir, path), {
      recursive: true,
      filter: (each) => !left.has(each) && !more.has(each) && !each.endsWith('/node_modules'),
    });
  }
}

function layOutFiles(stage: string): void {
  for (const [from, to, mode] of FILES) {
    mkdirSync(dirname(join(stage, to)), { recursive: true });
    cpSync(join(ROOT, 'packaging', from), join(stage, to));
    chmodSync(join(stage, to), mode);
  }
  const papers = join(stage, 'usr/share/doc/situs');
  mkdirSync(papers, { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(papers, 'copyright'));
  for (const name of readdirSync(join(stage, PROGRAM, 'docs'))) {
    symlinkSync(`/${PROGRAM}/docs/${name}`, join(papers, name));
  }
}

function kibBelow(dir: string): number {
  return readdirSync(dir, { recursive: true })
    .map(String)
    .reduce((sum, path) => sum + Math.ceil(lstatSync(join(dir, path)).size / KIB), 0);
}

function writeControl(stage: string, version: string, architecture: string): void {
  const values: Readonly<Record<string, string>> = {
    VERSION: version,
    ARCHITECTURE: architecture,
    KIB: String(kibBelow(stage)),
  };
  const text = readFileSync(join(ROOT, 'packaging/debian/control'), 'utf8');
  writeFileSync(
    join(stage, 'DEBIAN/control'),
    text.replaceAll(/@(\w+)@/g, (_, name: string) => values[name]!),
  );
}

/** Makes the package in `folder` and returns its path. */
function makePackage(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const architecture = output('dpkg', ['--print-architecture']).trim();
  const scratch = mkdtempSync(join(tmpdir(), 'situs-debian-'));
  try {
    const stage = join(scratch, 'stage');
    layOutProgram(join(stage, PROGRAM), scratch);
    layOutModules(join(stage, PROGRAM));
    layOutFiles(stage);
    writeControl(stage, version, architecture);
    // Independent of the umask: everybody may read, and only the owner may write.
    output('chmod', ['-R', 'u+rwX,go+rX,go-w', join(stage, 'usr'), join(stage, 'DEBIAN')]);
    chmodSync(stage, 0o755);
    for (const name of ['etc', 'etc/default']) chmodSync(join(stage, name), 0o755);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `situs_${version}_${architecture}.deb`);
    // The default level takes four times as long, and saves one percent more.
    output('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z5', '--build', stage, path]);
    return path;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

process.stdout.write(`${makePackage(resolve(process.argv[2] ?? join(ROOT, 'dist', 'debian')))}\n`);
