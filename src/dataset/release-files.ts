/** The files of a release, laid into a folder of their own for one server. */
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCK_BYTES, LOCK_FILE } from './manifest.js';
import { RELEASE_FILES } from './stamp.js';

/** Copies the release in `dir` into `copyTo`, which bears its name. @throws what the disk says. */
export async function copyRelease(dir: string, copyTo: string): Promise<void> {
  await mkdir(copyTo, { recursive: true, mode: 0o700 });
  for (const name of RELEASE_FILES) {
    const target = join(copyTo, name);
    // A file system that can shares the blocks and copies nothing.
    await copyFile(join(dir, name), target, constants.COPYFILE_FICLONE);
    await chmod(target, 0o400);
  }
  // LMDB maps this file with holes in it, and is killed where the disk has no room to fill them.
  await writeFile(join(copyTo, LOCK_FILE), Buffer.alloc(LOCK_BYTES), { mode: 0o600 });
}
