/** The file that holds the store. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';

/** The file in the store's folder that holds everything. */
export const STORE_FILE = 'data.mdb';

/** What LMDB marks its first page with. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const HEAD_BYTES = MAGIC_AT + 4;

/**
 * Refuses what LMDB did not write: opening such a file would end the process. An empty file is
 * what a first start that was killed leaves, and is filled by the next.
 * @throws Error when the file is no store.
 */
export function checkStoreFile(path: string): void {
  if (!existsSync(path)) return;
  const head = Buffer.alloc(HEAD_BYTES);
  const file = openSync(path, 'r');
  try {
    const bytes = readSync(file, head);
    if (bytes === 0) return;
    if (bytes === HEAD_BYTES && head.readUInt32LE(MAGIC_AT) === MAGIC) return;
  } finally {
    closeSync(file);
  }
  throw new Error(`${path} is not a store, or is damaged`);
}
