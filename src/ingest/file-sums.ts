/**
 * SHA-256 of large files as they were when last read, so that what has not changed since is not
 * read from end to end again. A file is the one that was read where size, inode and the times of
 * its bytes and of its entry are the same: the latter no program can set back.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, jsonFile } from '../base/json-object.js';
import { fileSha256, putFile } from '../dataset/stamp.js';

/** Name of the file that keeps them, in the folder of parts. */
export const SUMS_FILE = 'sums.json';
/** Smaller files are read anyway. */
const BYTES_MIN = 1 << 16;
/** What changed as lately could change again within one tick of the disk's clock. */
const SETTLED_MS = 5_000;

/** Tells one state of a file from any other, "" where it may yet change unseen. */
function stateOf(file: string, now: number): string {
  const { size, ino, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  if (size < BYTES_MIN || now - Number(ctimeNs / 1_000_000n) < SETTLED_MS) return '';
  return [size, ino, mtimeNs, ctimeNs].join('-');
}

function readSums(path: string): Map<string, readonly [state: string, sha256: string]> {
  const value = jsonFile(path);
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(
    entries.filter(
      (entry): entry is [string, [string, string]] =>
        Array.isArray(entry[1]) && entry[1].every((text) => typeof text === 'string'),
    ),
  );
}

export class FileSums {
  readonly #known: Map<string, readonly [state: string, sha256: string]>;
  readonly #used = new Map<string, readonly [state: string, sha256: string]>();

  /** `folder` keeps them; nothing is kept where there is none. */
  constructor(
    readonly folder: string | null,
    readonly now: () => number = Date.now,
  ) {
    this.#known = folder === null ? new Map() : readSums(join(folder, SUMS_FILE));
  }

  /** SHA-256 of a file in hexadecimal. */
  of(file: string): string {
    const state = this.folder === null ? '' : stateOf(file, this.now());
    const [known, kept] = this.#known.get(file) ?? ['', ''];
    const sha256 = state !== '' && state === known ? kept : fileSha256(file);
    // A file that changed while it was read is read again.
    if (state !== '' && stateOf(file, this.now()) === state) {
      this.#known.set(file, [state, sha256]);
      this.#used.set(file, [state, sha256]);
    }
    return sha256;
  }

  /** Keeps those that were asked for, where the folder is there. */
  write(): void {
    if (this.folder === null || !existsSync(this.folder)) return;
    putFile(join(this.folder, SUMS_FILE), `${JSON.stringify(Object.fromEntries(this.#used))}\n`);
  }
}
