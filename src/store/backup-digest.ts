/**
 * The checksum of a backup: a line of text behind its last page, which LMDB does not look at. A
 * store's file is made of whole pages, so a file with anything behind them has to have that line.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync, closeSync, fstatSync, openSync, readSync, truncateSync,
} from 'node:fs';

/** Pages are a multiple of it on every system. */
const PAGE_BYTES_MIN = 4_096;
const SIZE_DIGITS = 15;
const READ_BYTES = 1_048_576;

function lineOf(sha256: string, bytes: number): Buffer {
  const size = String(bytes).padStart(SIZE_DIGITS, '0');
  return Buffer.from(`\nsitus store backup 1 sha256 ${sha256} ${size}\n`);
}

const LINE_BYTES = lineOf('0'.repeat(64), 0).length;

/** SHA-256 in hex of the first bytes of a file. */
function sumOf(file: number, bytes: number): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(Math.min(READ_BYTES, bytes));
  for (let at = 0; at < bytes;) {
    const read = readSync(file, buffer, 0, Math.min(buffer.length, bytes - at), at);
    if (read === 0) break;
    hash.update(buffer.subarray(0, read));
    at += read;
  }
  return hash.digest('hex');
}

/** Writes the checksum of a file of whole pages behind it. */
export function appendDigest(path: string): void {
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
export function checkDigest(path: string): boolean {
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
export function stripDigest(path: string): boolean {
  if (!checkDigest(path)) return false;
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  closeSync(file);
  truncateSync(path, size - LINE_BYTES);
  return true;
}
