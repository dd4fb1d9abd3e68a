/**
 * Records as bytes: four bytes that announce a checksum, the CRC-32 of key and record, and the
 * record in msgpack. Records of earlier versions are only msgpack, which never begins with these
 * bytes; they get a checksum when they are written next.
 */
import zlib from 'node:zlib';
import { Encoder } from 'msgpackr';
import { DamagedRecord } from './fault.js';
import type { StoreKey } from './format.js';
import { PACKED, packSmall, plainLength } from './record-pack.js';
import { unpackSmall } from './record-unpack.js';

/** A record as it is stored, or one that is to be stored. */
export type StoredValue = Buffer | NewRecord;

/** msgpack does not use 0xc1. */
const MARK = [0xc1, 0x53, 0x69, 0x74] as const;
const MARK_NUMBER = 0xc1536974;
/**
 * If this many of the four bytes are right, one is damaged, and the record is not an earlier
 * version's.
 */
const MARK_BYTES_MIN = 3;
const SUM_AT = MARK.length;
const BODY_AT = SUM_AT + 4;

const POLYNOMIAL = 0xedb88320;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0);
  return sum;
});
/** Tables to process four bytes at a time, which takes less than half the time. */
const ahead = (table: Uint32Array): Uint32Array =>
  table.map((sum) => (sum >>> 8) ^ TABLE[sum & 0xff]!);
const TABLE_1 = ahead(TABLE);
const TABLE_2 = ahead(TABLE_1);
const TABLE_3 = ahead(TABLE_2);

// Set as in lmdb's own encoder, because bytes in a record outlive the page they were read from.
const encoder = new Encoder({ copyBuffers: true });

/** Available in Node.js from 20.15 on, and many times as fast for more than a few bytes. */
const { crc32 } = zlib as { readonly crc32?: (bytes: Uint8Array, before?: number) => number };
const LITTLE_BYTES = 512;

/** The CRC of bytes that follow others with the CRC `before`. */
function crcOf(bytes: Uint8Array, before: number, from = 0): number {
  const end = bytes.length;
  if (crc32 !== undefined && end - from > LITTLE_BYTES) {
    return crc32(bytes.subarray(from, end), before);
  }
  let sum = ~before;
  let at = from;
  for (; at + 3 < end; at += 4) {
    sum ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    sum =
      TABLE_3[sum & 0xff]! ^
      TABLE_2[(sum >>> 8) & 0xff]! ^
      TABLE_1[(sum >>> 16) & 0xff]! ^
      TABLE[sum >>> 24]!;
  }
  for (; at < end; at += 1) sum = (sum >>> 8) ^ TABLE[(sum ^ bytes[at]!) & 0xff]!;
  return ~sum >>> 0;
}

/** The CRC of a key, as the bytes of its parts in UTF-8 with a zero between them. */
function keySum(key: StoreKey): number {
  const text = key.join('\0');
  let sum = ~0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) return crcOf(Buffer.from(text), 0);
    sum = (sum >>> 8) ^ TABLE[(sum ^ code) & 0xff]!;
  }
  return ~sum >>> 0;
}

/** The key is part of the sum, so that a record that is found under another key is not accepted. */
function sumOf(key: StoreKey, bytes: Uint8Array): number {
  return crcOf(bytes, keySum(key), BODY_AT);
}

function isMarked(bytes: Buffer): boolean {
  if (bytes.length >= BODY_AT && bytes.readUInt32BE() === MARK_NUMBER) return true;
  return MARK.filter((byte, at) => bytes[at] === byte).length >= MARK_BYTES_MIN;
}

/** Packs a record behind room for its checksum. */
function packedLarge(record: unknown): Buffer {
  const body = encoder.encode(record);
  const bytes = Buffer.allocUnsafe(BODY_AT + body.length);
  bytes.set(body, BODY_AT);
  return bytes;
}

/** The bytes of a record under a key. */
export function packRecord(key: StoreKey, record: unknown): Buffer {
  return storedBytes(key, record, packSmall(record, BODY_AT));
}

/**
 * The bytes of a record under a key, with its checksum. `packSmall` has packed it up to `end`, or
 * could not where that is negative.
 */
function storedBytes(key: StoreKey, record: unknown, end: number): Buffer {
  const bytes = end < 0 ? packedLarge(record) : Buffer.allocUnsafe(end);
  if (end >= 0) PACKED.copy(bytes, BODY_AT, BODY_AT, end);
  bytes.writeUInt32BE(MARK_NUMBER, 0);
  bytes.writeUInt32LE(sumOf(key, bytes), SUM_AT);
  return bytes;
}

/** A record that is not stored yet. Its bytes are made when they are first needed. */
export class NewRecord {
  readonly record: unknown;
  readonly #key: StoreKey;
  #bytes: Buffer | null = null;

  constructor(key: StoreKey, record: unknown) {
    this.#key = key;
    this.record = record;
  }

  /** Makes the bytes now; returns the length without shapes, as `plainBytes` does. */
  pack(): number {
    const end = packSmall(this.record, BODY_AT);
    const plain = plainLength(end, BODY_AT);
    this.#bytes = storedBytes(this.#key, this.record, end);
    return plain;
  }

  get bytes(): Buffer {
    this.#bytes ??= packRecord(this.#key, this.record);
    return this.#bytes;
  }
}

/** The bytes of a stored or new record. */
export function bytesOf(value: StoredValue): Buffer {
  return value instanceof NewRecord ? value.bytes : value;
}

/** The bytes of a value in the form that every version reads. */
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
 * The record that bytes under a key stand for.
 * @throws DamagedRecord when they differ from what was stored there.
 */
export function unpackRecord(key: StoreKey, bytes: Buffer): unknown {
  if (!isMarked(bytes)) return decoded(key, bytes);
  if (
    bytes.length < BODY_AT ||
    bytes.readUInt32BE() !== MARK_NUMBER ||
    bytes.readUInt32LE(SUM_AT) !== sumOf(key, bytes)
  ) {
    throw new DamagedRecord(key);
  }
  return (
    unpackSmall(bytes, BODY_AT, bytes.length, key[0] ?? '') ?? decoded(key, bytes.subarray(BODY_AT))
  );
}

/**
 * As `unpackRecord`, but null for a damaged record if `passedOver` is given, which is then called.
 */
export function unpackSound(
  key: StoreKey,
  value: Buffer,
  passedOver?: (key: StoreKey) => void,
): unknown {
  try {
    return unpackRecord(key, value);
  } catch (error) {
    if (!(error instanceof DamagedRecord) || passedOver === undefined) throw error;
    passedOver(key);
    return null;
  }
}

/**
 * A view of the memory that LMDB reads all records into. LMDB sets `length` on its own view each
 * time, and V8 handles such an object slowly, so this one is used instead.
 */
export class PlainView {
  #memory: Buffer = Buffer.alloc(0);

  of({ buffer, byteOffset, byteLength, length }: Buffer): Buffer {
    const { buffer: known, byteOffset: knownAt, length: knownLength } = this.#memory;
    if (buffer !== known || byteOffset !== knownAt || byteLength !== knownLength) {
      this.#memory = Buffer.from(buffer, byteOffset, byteLength);
    }
    return this.#memory.subarray(0, length);
  }
}
