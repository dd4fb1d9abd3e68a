/** Gives a release that came from elsewhere, and was checked, its place among the others. */
import { chmodSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKSUM_FILE, MANIFEST_FILE } from './manifest.js';
import { adoptSignatures } from './signature.js';
import { RELEASE_FILES, stampHolds } from './stamp.js';

/** Takes the permission to write a release: nobody changes one on purpose. */
export function protectRelease(dir: string): void {
  for (const name of RELEASE_FILES) {
    try {
      chmodSync(join(dir, name), 0o444);
    } catch {
      // Another's files, or a file system without modes: only an accident is made less likely.
    }
  }
}

/** The two small files of a release, which tell of the bytes of the large one. */
function sumIn(dir: string): string {
  return [MANIFEST_FILE, CHECKSUM_FILE]
    .map((name) => readFileSync(join(dir, name), 'latin1'))
    .join('\0');
}

/**
 * Moves an unpacked release to `dir`. One that is there with the same bytes stays, and gets the
 * signatures too; the same dataset in other bytes makes way, since a signature is of bytes. It is
 * left beside the unpacked one, whose folder is the caller's to remove.
 */
export function putRelease(unpacked: string, dir: string): void {
  protectRelease(unpacked);
  try {
    // Fails where one is there, which another process may have put there a moment ago.
    renameSync(unpacked, dir);
  } catch (error) {
    if (!existsSync(dir)) throw error;
    if (stampHolds(dir) && sumIn(dir) === sumIn(unpacked)) return adoptSignatures(dir, unpacked);
    renameSync(dir, `${unpacked}.replaced`);
    renameSync(unpacked, dir);
  }
}
