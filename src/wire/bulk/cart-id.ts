/** Ids of carts that bring none: the same row of the same job has the same, whoever answers it. */
import { createHash } from 'node:crypto';

/** Bits that make a UUID one whose content is the program's affair (RFC 9562, version 8). */
const VERSION = '8';
const VARIANT = 0x8;
const VARIANT_MASK = 0x3;

/** A UUID of the hash of job, line and row. */
export function rowCartId(job: string, line: number, row: string | Uint8Array): string {
  const hash = createHash('sha256').update(`${job}\n${line}\n`).update(row).digest('hex');
  const variant = (VARIANT | (parseInt(hash.charAt(16), 16) & VARIANT_MASK)).toString(16);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-${VERSION}${hash.slice(13, 16)}`
    + `-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
