/**
 * Keeps a commit from taking the place of the one before it. All processes that have a store open
 * share the number of its last commit, in LMDB's lock file. A process that opens the store while
 * another one commits may set this number back (ITS#9496 of LMDB): it writes there what it has read
 * from the store's file before. The next transaction would then begin without the last commit, and
 * replace it. So each transaction compares its number with the store's file before it writes.
 */
import { closeSync, openSync, readSync, realpathSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newestCommit, STORE_FILE } from './store-file.js';

/** LMDB's own file beside the records. */
export const LOCK_FILE = 'lock.mdb';
/** Where the lock file has the number of the last commit, behind its magic number and format. */
const LAST_AT = 8;
const LAST_BYTES = 8;

/**
 * The files that the number is compared in, open. The lock file must not be closed while LMDB has
 * it open in this process, since the system would release LMDB's locks on it.
 */
class CommitFiles {
  readonly #path: string;
  #store: number | null = null;
  #lock: number | null = null;
  readonly #last = Buffer.alloc(LAST_BYTES);

  constructor(path: string) {
    this.#path = path;
  }

  /** See `LastCommit.isIn`. */
  isIn(id: number): boolean {
    this.#store ??= openSync(join(this.#path, STORE_FILE), 'r');
    const newest = newestCommit(this.#store);
    if (newest === null || BigInt(id) === newest + 1n) return true;
    this.#correct(BigInt(id) - 1n, newest);
    return false;
  }

  /** Nobody commits meanwhile, since the transaction has LMDB's lock for writing. */
  #correct(from: bigint, to: bigint): void {
    this.#lock ??= openSync(join(this.#path, LOCK_FILE), 'r+');
    readSync(this.#lock, this.#last, 0, LAST_BYTES, LAST_AT);
    if (this.#last.readBigUInt64LE() !== from) return;
    this.#last.writeBigUInt64LE(to);
    writeSync(this.#lock, this.#last, 0, LAST_BYTES, LAST_AT);
  }

  close(): void {
    for (const file of [this.#store, this.#lock]) if (file !== null) closeSync(file);
  }
}

/** The files of the stores that this process has open, by folder, and how many handles use them. */
const OPEN = new Map<string, { readonly files: CommitFiles; handles: number }>();

/**
 * The check of one handle of a store. Begun before LMDB opens the store, ended after it closed. All
 * handles of a process are to be of one thread.
 */
export class LastCommit {
  readonly #path: string;
  readonly #files: CommitFiles;

  /** `folder` exists. */
  constructor(folder: string) {
    this.#path = realpathSync(folder);
    const open = OPEN.get(this.#path) ?? { files: new CommitFiles(this.#path), handles: 0 };
    open.handles += 1;
    OPEN.set(this.#path, open);
    this.#files = open.files;
  }

  /**
   * Whether a transaction of this number, which has written nothing yet, began with the last
   * commit. If not, it must not write: the number that all processes share is corrected, and
   * another transaction will have the commit.
   * @throws Error when the files cannot be read.
   */
  isIn(id: number): boolean {
    return this.#files.isIn(id);
  }

  /** To be called once. */
  end(): void {
    const open = OPEN.get(this.#path);
    if (open === undefined) return;
    open.handles -= 1;
    if (open.handles > 0) return;
    OPEN.delete(this.#path);
    open.files.close();
  }
}
