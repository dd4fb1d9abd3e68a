/**
 * Backups of the store, each a file that LMDB writes while the store is in use, with a checksum at
 * its end.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  appendFileSync,
  fstatSync,
  readSync,
  truncateSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  makeProcessFolder,
  removeLeftFolders,
  removeProcessFolder,
} from '../base/process-folder.js';
import { makeFolder, syncToDisk } from './folder.js';
import type { StoreKey } from './format.js';
import { sealedCounts } from './rotation.js';
import { Store, storeDir } from './store.js';
import { isEmptyStoreFile, openIn, STORE_FILE, storeFileProblem } from './store-file.js';
import { createHash } from 'node:crypto';

/** A page has a multiple of this size on every system. */
const PAGE_BYTES_MIN = 4_096;
const SIZE_DIGITS = 15;
const READ_BYTES = 1_048_576;

/**
 * The checksum of a backup: a line of text after the last page, where LMDB does not look. A store's
 * file consists of whole pages, so a file with anything after them must have this line.
 */
function lineOf(sha256: string, bytes: number): Buffer {
  const size = String(bytes).padStart(SIZE_DIGITS, '0');
  return Buffer.from(`\nsitus store backup 1 sha256 ${sha256} ${size}\n`);
}

const LINE_BYTES = lineOf('0'.repeat(64), 0).length;

/** SHA-256 in hex of the first bytes of a file. */
function sumOf(file: number, bytes: number): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(Math.min(READ_BYTES, bytes));
  for (let at = 0; at < bytes; ) {
    const read = readSync(file, buffer, 0, Math.min(buffer.length, bytes - at), at);
    if (read === 0) break;
    hash.update(buffer.subarray(0, read));
    at += read;
  }
  return hash.digest('hex');
}

/** Appends the checksum to a file that consists of whole pages. */
function appendDigest(path: string): void {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    appendFileSync(path, lineOf(sumOf(file, size), size));
  } finally {
    closeSync(file);
  }
}

/**
 * Compares a backup with its checksum; false where it has none, as in backups of earlier versions.
 * @throws Error when the bytes differ from the checksum.
 */
function checkDigest(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size % PAGE_BYTES_MIN === 0) return false;
    const bytes = size - LINE_BYTES;
    const line = Buffer.alloc(LINE_BYTES);
    if (bytes > 0) readSync(file, line, 0, LINE_BYTES, bytes);
    if (bytes > 0 && line.equals(lineOf(sumOf(file, bytes), bytes))) return true;
  } finally {
    closeSync(file);
  }
  throw new Error('the file is damaged: its checksum is that of other bytes');
}

/**
 * Removes the checksum from a copy of a backup, so that only whole pages remain.
 * @throws Error as `checkDigest`.
 */
function stripDigest(path: string): boolean {
  if (!checkDigest(path)) return false;
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  closeSync(file);
  truncateSync(path, size - LINE_BYTES);
  return true;
}

/** The name under which a forced restore keeps the store that it replaces. */
export const REPLACED_FILE = 'data.mdb.replaced';
const BACKUP_MODE = 0o600;

export interface BackupFacts {
  readonly records: number;
  readonly bytes: number;
  /** Ids of the key-encryption keys that are needed to open its secrets. */
  readonly keks: readonly string[];
  /** False where it has no checksum, so that damage cannot be found. */
  readonly checked: boolean;
  /** Keys of records that were damaged before the backup; everything else is there. */
  readonly damaged: readonly StoreKey[];
}

/** Prefix of temporary folders for a store that one process reads or writes. */
const TEMPORARY = '.situs-store.';

/** A temporary folder below `folder`, on the same disk, so that files can be renamed out of it. */
export function temporaryIn(folder: string, setting: string, mode?: number): string {
  makeFolder(folder, setting, mode);
  removeLeftFolders(folder, TEMPORARY);
  return makeProcessFolder(folder, TEMPORARY);
}

/** Removes temporary stores that killed commands have left in a folder and below it. */
export function removeLeftStores(varDir: string): void {
  removeLeftFolders(varDir, TEMPORARY);
  removeLeftFolders(storeDir(varDir), TEMPORARY);
}

async function countRecords(store: Store, damaged: StoreKey[]): Promise<number> {
  let after: readonly string[] | null = null;
  for (let count = 0; ; ) {
    const batch: ReturnType<Store['scan']> = store.scan(after, 1_000, (key) => damaged.push(key));
    const bad = batch.find(
      ({ key, record }) => (record === undefined || record === null) && !damaged.includes(key),
    );
    if (bad !== undefined) throw new Error('a record is empty');
    count += batch.length;
    after = batch.at(-1)?.key ?? null;
    if (after === null) return count;
    await new Promise(setImmediate);
  }
}

/**
 * Reads every record of a store in `<varDir>/store`.
 * @throws Error when it is not complete, apart from damaged records.
 */
async function factsOf(varDir: string, checked: boolean): Promise<BackupFacts> {
  const file = join(storeDir(varDir), STORE_FILE);
  const bytes = statSync(file).size;
  if (bytes === 0) throw new Error('the file is empty');
  const store = await Store.open(varDir);
  try {
    const damaged: StoreKey[] = [];
    const records = await countRecords(store, damaged);
    // If a key, or a page that leads to one, is damaged, its records are not found by scanning.
    if (records !== store.entries()) {
      throw new Error(`the store is damaged: ${records} of ${store.entries()} records are found`);
    }
    const keks = [...(await sealedCounts(store, () => undefined)).keys()];
    return { records, bytes, keks, checked, damaged };
  } finally {
    await store.close();
  }
}

/**
 * Makes a backup. If that fails or is interrupted, nothing of it is left.
 * @throws Error when the file exists or cannot be written.
 */
export async function backupStore(
  varDir: string,
  file: string,
  begun: (temporary: string) => void = () => undefined,
): Promise<BackupFacts> {
  if (existsSync(file)) throw new Error(`${file} exists; a backup does not replace one`);
  const temporary = temporaryIn(dirname(file), 'FILE');
  begun(temporary);
  try {
    const copied = storeDir(temporary);
    mkdirSync(copied);
    const store = await Store.open(varDir);
    try {
      await store.copy(copied);
    } finally {
      await store.close();
    }
    const facts = await factsOf(temporary, true);
    const made = join(copied, STORE_FILE);
    appendDigest(made);
    chmodSync(made, BACKUP_MODE);
    syncToDisk(made, 'r+');
    // Unlike a rename, a link does not replace a file that has appeared meanwhile.
    linkSync(made, file);
    syncToDisk(dirname(file));
    return facts;
  } finally {
    removeProcessFolder(temporary);
  }
}

/**
 * Reads a complete backup by means of a copy on the store's disk. A damaged file may end this
 * process.
 * @throws Error when it is not sound.
 */
export async function verifyBackup(varDir: string, file: string): Promise<BackupFacts> {
  const temporary = temporaryIn(varDir, 'SITUS_VAR', 0o700);
  try {
    mkdirSync(storeDir(temporary), { mode: 0o700 });
    const copied = join(storeDir(temporary), STORE_FILE);
    copyFileSync(file, copied);
    return await factsOf(temporary, stripDigest(copied));
  } finally {
    removeProcessFolder(temporary);
  }
}

/**
 * Why the store must not be replaced: a process has it open, or it holds records and `force` is not
 * given. Null when it may be replaced.
 */
export async function obstacle(varDir: string, force: boolean): Promise<string | null> {
  const file = join(storeDir(varDir), STORE_FILE);
  if (isEmptyStoreFile(file)) return null;
  const problem = storeFileProblem(file);
  if (problem !== null) return force ? null : `${problem}; --force replaces it`;
  const store = await Store.open(varDir);
  try {
    const users = store.users();
    if (users.length > 0) {
      return `${openIn(users)}: stop the server first`;
    }
    const held = store.scan(null, 100).some(({ key }) => key[0] !== 'meta');
    return held && !force
      ? `the store in ${storeDir(varDir)} holds records; --force replaces it`
      : null;
  } finally {
    await store.close();
  }
}

/**
 * Replaces the store by a backup with a single rename. The caller has verified the backup and
 * called `obstacle`. The old store is kept as REPLACED_FILE.
 * @throws Error when the backup differs from its checksum.
 */
export function restoreStore(
  varDir: string,
  file: string,
  begun: (temporary: string) => void = () => undefined,
): void {
  const folder = storeDir(varDir);
  const place = join(folder, STORE_FILE);
  const temporary = temporaryIn(folder, 'SITUS_VAR', 0o700);
  begun(temporary);
  try {
    const copied = join(temporary, STORE_FILE);
    copyFileSync(file, copied);
    stripDigest(copied);
    chmodSync(copied, BACKUP_MODE);
    syncToDisk(copied, 'r+');
    if (existsSync(place)) {
      rmSync(join(folder, REPLACED_FILE), { force: true });
      linkSync(place, join(folder, REPLACED_FILE));
    }
    renameSync(copied, place);
    syncToDisk(folder);
  } finally {
    removeProcessFolder(temporary);
  }
}
