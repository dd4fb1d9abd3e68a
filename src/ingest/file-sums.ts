/**
 * SHA-256 of large files as they were last read, so that unchanged files need not be read again. A
 * file is unchanged if its size, inode, modification time and change time are the same; no program
 * can set the change time.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, jsonFile } from '../base/json-object.js';
import { fileSha256, putFile } from '../dataset/stamp.js';

/** Name of the file with the sums, in the folder of parts. */
export const SUMS_FILE = 'sums.json';
/** Smaller files are always read again. */
const BYTES_MIN = 1 << 16;
/** A file that changed more recently than this could change again without a different time. */
const SETTLED_MS = 5_000;

/** Identifies the state of a file; "" where it might change without being noticed. */
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

  /** `folder` is where the sums are kept; without one, they are not. */
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
    // If the file has changed while it was read, its sum is not kept.
    if (state !== '' && stateOf(file, this.now()) === state) {
      this.#known.set(file, [state, sha256]);
      this.#used.set(file, [state, sha256]);
    }
    return sha256;
  }

  /** Writes the sums that were asked for, if the folder exists. */
  write(): void {
    if (this.folder === null || !existsSync(this.folder)) return;
    putFile(join(this.folder, SUMS_FILE), `${JSON.stringify(Object.fromEntries(this.#used))}\n`);
  }
}
