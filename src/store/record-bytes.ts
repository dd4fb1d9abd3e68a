/**
 * Records as bytes: four that say that a checksum follows, the CRC-32 of key and record, and the
 * record in msgpack. Records of earlier versions are msgpack alone, which never begins like that;
 * they are checked from the next time they are written.
 */
import zlib from 'node:zlib';
import { Encoder } from 'msgpackr';
import { DamagedRecord } from './fault.js';
import type { StoreKey } from './format.js';

/** 0xc1 is no msgpack. */
const MARK = [0xc1, 0x53, 0x69, 0x74] as const;
/** With one of its bytes changed it is still no record of an earlier version. */
const MARK_BYTES_MIN = 3;
const SUM_AT = MARK.length;
const BODY_AT = SUM_AT + 4;

const POLYNOMIAL = 0xedb88320;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0);
  return sum;
});

// As LMDB's own: bytes within a record outlive the page they were read from.
const encoder = new Encoder({ copyBuffers: true });

/** Node.js has it from 20.15 on, many times as fast. */
const { crc32 } = zlib as { readonly crc32?: (bytes: Uint8Array, before?: number) => number };

function crcOf(bytes: Uint8Array, before = 0): number {
  if (crc32 !== undefined) return crc32(bytes, before);
  let sum = ~before;
  for (let at = 0; at < bytes.length; at += 1) {
    sum = (sum >>> 8) ^ TABLE[(sum ^ bytes[at]!) & 0xff]!;
  }
  return ~sum >>> 0;
}

/** Bound to its key: a record that turns up under another one is not taken for that one's. */
function sumOf(key: StoreKey, body: Uint8Array): number {
  return crcOf(body, crcOf(Buffer.from(key.join('\0'))));
}

function isMarked(bytes: Uint8Array): boolean {
  return MARK.filter((byte, at) => bytes[at] === byte).length >= MARK_BYTES_MIN;
}

/** A record as it is stored under a key. */
export function packRecord(key: StoreKey, record: unknown): Buffer {
  const body = encoder.encode(record);
  const bytes = Buffer.allocUnsafe(BODY_AT + body.length);
  bytes.set(MARK);
  bytes.writeUInt32LE(sumOf(key, body), SUM_AT);
  bytes.set(body, BODY_AT);
  return bytes;
}

/** A value as every version reads it. */
export function packPlain(value: unknown): Buffer {
  return encoder.encode(value);
}

function decoded(key: StoreKey, body: Uint8Array): unknown {
  try {
    return encoder.decode(body);
  } catch (error) {
    throw new DamagedRecord(key, error);
  }
}

/**
 * The record that is stored under a key.
 * @throws DamagedRecord when it is not what was stored there.
 */
export function unpackRecord(key: StoreKey, bytes: Buffer): unknown {
  if (!isMarked(bytes)) return decoded(key, bytes);
  const body = bytes.subarray(BODY_AT);
  if (
    MARK.some((byte, at) => bytes[at] !== byte) || bytes.length < BODY_AT ||
    bytes.readUInt32LE(SUM_AT) !== sumOf(key, body)
  ) {
    throw new DamagedRecord(key);
  }
  return decoded(key, body);
}
