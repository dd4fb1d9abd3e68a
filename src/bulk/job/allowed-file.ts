/** Files that jobs may read where they are: those of one folder, and nothing that leads out. */
import { createHash } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { FileIdentity } from './byte-source.js';

/** Characters of a name. */
const FILE_NAME_CHARS_MAX = 1_024;

/** A file that may be read. */
interface AllowedFile {
  readonly path: string;
  readonly identity: FileIdentity;
}

function isName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= FILE_NAME_CHARS_MAX &&
    !isAbsolute(name) &&
    !/[\\\0]/.test(name) &&
    name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/**
 * Finds a file by its name in the folder. Null when there is none: a name that leads out, a
 * symbolic link anywhere on the way and a folder are as if they were not there.
 */
export async function allowedFile(folder: string, name: string): Promise<AllowedFile | null> {
  if (!isName(name)) return null;
  try {
    const path = join(await realpath(folder), name);
    if ((await realpath(path)) !== path) return null;
    const found = await lstat(path);
    return found.isFile()
      ? { path, identity: { bytes: found.size, modifiedMs: found.mtimeMs } }
      : null;
  } catch {
    // It is not there, or may not be looked at.
    return null;
  }
}

/** Account names that can be folder names as they are: every file system keeps them apart. */
const PLAIN = /^(?!account-)[a-z0-9][a-z0-9._-]{0,99}$/;
const HASH_CHARS = 32;

/** Name of the folder of an account: the account itself, or its hash where that is no name. */
function accountFolder(account: string): string {
  if (PLAIN.test(account)) return account;
  const hash = createHash('sha256').update(account, 'utf8').digest('hex');
  return `account-${hash.slice(0, HASH_CHARS)}`;
}

/** Where the files of an account are. */
export function filesOf(filesDir: string, account: string): string {
  return join(filesDir, accountFolder(account));
}
