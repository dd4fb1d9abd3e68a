/**
 * Whether the file of a release has every page that its own head counts. LMDB maps the file and
 * reads pages by number: one beyond the end of the file ends the process. This tells a file that
 * was cut; what was changed within its pages only their checksum tells.
 *
 * An LMDB file begins with two pages of its state, of which the one with the later transaction
 * counts. Offsets are those of 64-bit machines, little-endian.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
/** Offset of the page size in the first page; it is stored with the table of free pages. */
const PAGE_BYTES_AT = 48;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const HEAD_BYTES = 160;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;

interface Head {
  readonly pageBytes: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

function headAt(fd: number, at: number): Head | null {
  const bytes = Buffer.alloc(HEAD_BYTES);
  if (readSync(fd, bytes, 0, HEAD_BYTES, at) < HEAD_BYTES) return null;
  if (bytes.readUInt32LE(MAGIC_AT) !== MAGIC) return null;
  const pageBytes = bytes.readUInt32LE(PAGE_BYTES_AT);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return null;
  if ((pageBytes & (pageBytes - 1)) !== 0) return null;
  return {
    pageBytes,
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}

/**
 * The problem of an LMDB file's length as a sentence, or null.
 * @throws Error when the file cannot be read at all.
 */
export function pageProblem(file: string): string | null {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const first = headAt(fd, 0);
    const second = first === null ? null : headAt(fd, first.pageBytes);
    if (first === null || second === null) return 'the data file has no readable beginning';
    const { pageBytes, lastPage } = second.transaction > first.transaction ? second : first;
    const needed = (lastPage + 1n) * BigInt(pageBytes);
    return BigInt(size) < needed
      ? `the data file was cut: it has ${size} of at least ${needed} bytes`
      : null;
  } finally {
    closeSync(fd);
  }
}
