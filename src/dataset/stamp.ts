/**
 * The stamp of a release: `verified.json` beside its files says that exactly these bytes were
 * checked completely. It holds size and SHA-256 of each file, and a checksum of itself, so that a
 * damaged stamp is recognized. Whoever opens a release compares its bytes with the stamp and need
 * not check every record again.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  constants,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CHECKSUM_FILE, DATA_FILE, MANIFEST_FILE, LOCK_BYTES, LOCK_FILE } from './manifest.js';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';

export const STAMP_FILE = 'verified.json';

/** The files of a release; other files in its folder are no part of it. */
export const RELEASE_FILES = [MANIFEST_FILE, CHECKSUM_FILE, DATA_FILE] as const;
type ReleaseFile = (typeof RELEASE_FILES)[number];

/** Raised when the check is extended, so that releases with an older stamp are checked again. */
const STAMP_VERSION = 1;
/** Bytes of a file that are read at a time. */
export const PIECE_BYTES = 1 << 20;

interface FileStamp {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly sha256: string;
}

export interface Stamp {
  readonly v: typeof STAMP_VERSION;
  readonly files: Readonly<Record<ReleaseFile, FileStamp>>;
}

/** Called with the bytes of a file that were read, and with the whole number. */
export type BytesRead = (done: number, total: number) => void;

/** SHA-256 of a file in hexadecimal, read in pieces. */
export function fileSha256(file: string, read: BytesRead = () => undefined): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const fd = openSync(file, 'r');
  try {
    const total = statSync(file).size;
    let done = 0;
    for (let count = readSync(fd, piece); count > 0; count = readSync(fd, piece)) {
      hash.update(piece.subarray(0, count));
      done += count;
      read(done, Math.max(done, total));
    }
  } finally {
    closeSync(fd);
  }
  return hash.digest('hex');
}

function sumOf(stamp: Stamp): string {
  return createHash('sha256').update(JSON.stringify(stamp)).digest('hex');
}

/** The stamp of a sound release, with the checksums that the check found. */
export function stampOf(dir: string, sums: Readonly<Record<ReleaseFile, string>>): Stamp {
  const file = (name: ReleaseFile): FileStamp => {
    const { size: bytes, mtimeMs: modifiedMs } = statSync(join(dir, name));
    return { bytes, modifiedMs, sha256: sums[name] };
  };
  return {
    v: STAMP_VERSION,
    files: {
      [MANIFEST_FILE]: file(MANIFEST_FILE),
      [CHECKSUM_FILE]: file(CHECKSUM_FILE),
      [DATA_FILE]: file(DATA_FILE),
    },
  };
}

/** Writes a small file so that it is on the disk completely or not at all. */
export function putFile(path: string, text: string): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    writeFileSync(temporary, text, { flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Writes the stamp beside the files. Not possible where the folder cannot be written. */
export function writeStamp(dir: string, stamp: Stamp): void {
  try {
    putFile(join(dir, STAMP_FILE), `${JSON.stringify({ ...stamp, sum: sumOf(stamp) })}\n`);
  } catch {
    // Without a stamp, the release is checked again when it is opened next.
  }
}

/** The stamp of a release; null when it has no valid one. */
export function readStamp(dir: string): Stamp | null {
  try {
    const { sum, ...stamp } = JSON.parse(readFileSync(join(dir, STAMP_FILE), 'utf8')) as Stamp & {
      readonly sum: string;
    };
    return stamp.v === STAMP_VERSION && sum === sumOf(stamp) ? stamp : null;
  } catch {
    return null;
  }
}

/** Whether the files still have the sizes and times of the stamp. */
export function stampHolds(dir: string): boolean {
  const stamp = readStamp(dir);
  if (stamp === null) return false;
  return RELEASE_FILES.every((name) => {
    const found = statSync(join(dir, name), { throwIfNoEntry: false });
    const { bytes, modifiedMs } = stamp.files[name];
    return found?.size === bytes && found.mtimeMs === modifiedMs;
  });
}

/**
 * Copies the release in `dir` into `copyTo`, which has the release's name.
 * @throws errors of the file system.
 */
export async function copyRelease(dir: string, copyTo: string): Promise<void> {
  await mkdir(copyTo, { recursive: true, mode: 0o700 });
  for (const name of RELEASE_FILES) {
    const target = join(copyTo, name);
    // Where the file system can share blocks between files, nothing is copied.
    await copyFile(join(dir, name), target, constants.COPYFILE_FICLONE);
    await chmod(target, 0o400);
  }
  // LMDB maps this file and would leave holes in it. Where the disk is full, writing to a hole
  // kills the process, so the file is written here.
  await writeFile(join(copyTo, LOCK_FILE), Buffer.alloc(LOCK_BYTES), { mode: 0o600 });
}
