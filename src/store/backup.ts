/**
 * Backups of the store: one file each, made by LMDB while the store is used, never by copying, with
 * its checksum behind it.
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

/** Pages are a multiple of it on every system. */
const PAGE_BYTES_MIN = 4_096;
const SIZE_DIGITS = 15;
const READ_BYTES = 1_048_576;

/**
 * The checksum of a backup: a line of text behind its last page, which LMDB does not look at. A
 * store's file is made of whole pages, so a file with anything behind them has to have that line.
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

/** Writes the checksum of a file of whole pages behind it. */
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
 * Compares a backup with its checksum; false where it has none, as those of earlier versions.
 * @throws Error when it is not what was written.
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

/** Makes a checked copy of a backup a file of whole pages. @throws Error as `checkDigest`. */
function stripDigest(path: string): boolean {
  if (!checkDigest(path)) return false;
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  closeSync(file);
  truncateSync(path, size - LINE_BYTES);
  return true;
}

/** What a restore with `force` keeps of the store it replaces, beside it. */
export const REPLACED_FILE = 'data.mdb.replaced';
const BACKUP_MODE = 0o600;

export interface BackupFacts {
  readonly records: number;
  readonly bytes: number;
  /** Ids of the key-encryption keys without which its secrets cannot be opened. */
  readonly keks: readonly string[];
  /** False where there is no checksum: damage to it cannot be told. */
  readonly checked: boolean;
  /** Keys of records that were damaged before; everything else is there. */
  readonly damaged: readonly StoreKey[];
}

/** What folders are called in which a store lies while it is read or written; for one process. */
const TEMPORARY = '.situs-store.';

/** A folder below one, which a rename can move files out of. */
export function temporaryIn(folder: string, setting: string, mode?: number): string {
  makeFolder(folder, setting, mode);
  removeLeftFolders(folder, TEMPORARY);
  return makeProcessFolder(folder, TEMPORARY);
}

/** Removes the copies that commands which were killed have left in and below a folder. */
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
    if (after === null || batch.length < 1_000) return count;
    await new Promise(setImmediate);
  }
}

/**
 * Reads every record of a store in `<varDir>/store`.
 * @throws Error when it is not whole, but for damaged records.
 */
async function factsOf(varDir: string, checked: boolean): Promise<BackupFacts> {
  const file = join(storeDir(varDir), STORE_FILE);
  const bytes = statSync(file).size;
  if (bytes === 0) throw new Error('the file is empty');
  const store = await Store.open(varDir);
  try {
    const damaged: StoreKey[] = [];
    const records = await countRecords(store, damaged);
    // Where a key or a page that leads to one is damaged, records are not found.
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
 * Makes a backup; nothing is left of one that fails or is interrupted.
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
    // Unlike a rename, a link never replaces a file that came to be meanwhile.
    linkSync(made, file);
    syncToDisk(dirname(file));
    return facts;
  } finally {
    removeProcessFolder(temporary);
  }
}

/**
 * Reads a whole backup without changing it, as a copy on the same disk as the store. A damaged file
 * may end the process that reads it.
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
 * Tells why a store must not be replaced: a process has it open, or it holds records and `force`
 * is not given. Null when it may.
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
 * Puts a backup in the store's place by one rename. The caller has verified it and asked for
 * obstacles. What was there is kept as REPLACED_FILE.
 * @throws Error when it is not what its checksum was made of.
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
