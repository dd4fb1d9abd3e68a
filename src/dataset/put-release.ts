/** Places a release that came from elsewhere, and was checked, among the datasets. */
import { chmodSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKSUM_FILE, MANIFEST_FILE } from './manifest.js';
import { adoptSignatures } from './signature.js';
import { RELEASE_FILES, stampHolds } from './stamp.js';

/** Makes the files of a release read-only, since no one changes them on purpose. */
export function protectRelease(dir: string): void {
  for (const name of RELEASE_FILES) {
    try {
      chmodSync(join(dir, name), 0o444);
    } catch {
      // Not possible for files of another user, or on some file systems. It only guards against
      // accidents.
    }
  }
}

/** The two small files of a release, which contain the checksums of the large one. */
function sumIn(dir: string): string {
  return [MANIFEST_FILE, CHECKSUM_FILE]
    .map((name) => readFileSync(join(dir, name), 'latin1'))
    .join('\0');
}

/**
 * Moves an unpacked release to `dir`. A release there with the same bytes stays, and only gets the
 * new signatures. One with other bytes is replaced, since signatures hold for bytes; it is moved
 * beside the unpacked one, in a folder that the caller removes.
 */
export function putRelease(unpacked: string, dir: string): void {
  protectRelease(unpacked);
  try {
    // Fails where a release is there. Another process may have placed it just now.
    renameSync(unpacked, dir);
  } catch (error) {
    if (!existsSync(dir)) throw error;
    if (stampHolds(dir) && sumIn(dir) === sumIn(unpacked)) return adoptSignatures(dir, unpacked);
    renameSync(dir, `${unpacked}.replaced`);
    renameSync(unpacked, dir);
  }
}
