/** A secret as it is kept: encrypted with a key of its own, which a key-encryption key wraps. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isObject } from '../base/json-object.js';
import type { Kek } from './kek-file.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** NIST SP 800-38D recommends 96 random bits, one nonce per encryption. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Bytes of the length that precedes a text. */
const LENGTH_BYTES = 4;

/** What a secret belongs to. A sealed secret cannot be opened for anything else. */
export interface SealPlace {
  readonly account: string;
  readonly merchant: string;
  readonly field: string;
}

/** A sealed secret, as a member of a record of any kind; rotation recognizes it by its shape. */
export interface Sealed {
  readonly v: 1;
  /** Id of the key-encryption key. */
  readonly kek: string;
  /** The data key, encrypted. */
  readonly wrapped: Uint8Array;
  readonly wrapNonce: Uint8Array;
  readonly wrapTag: Uint8Array;
  /** The secret, encrypted with the data key. */
  readonly text: Uint8Array;
  readonly nonce: Uint8Array;
  readonly tag: Uint8Array;
}

interface Box {
  readonly bytes: Uint8Array;
  readonly nonce: Uint8Array;
  readonly tag: Uint8Array;
}

/** Texts as bytes, each after its length, so that different lists of texts have different bytes. */
export function lengthPrefixed(...texts: readonly string[]): Uint8Array {
  let size = 0;
  for (const text of texts) size += LENGTH_BYTES + Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const text of texts) {
    const length = bytes.write(text, at + LENGTH_BYTES);
    bytes.writeUInt32BE(length, at);
    at += LENGTH_BYTES + length;
  }
  return bytes;
}

function placeBytes({ account, merchant, field }: SealPlace): Uint8Array {
  return lengthPrefixed('situs secret 1', account, merchant, field);
}

function wrapBytes(kek: string): Uint8Array {
  return lengthPrefixed('situs data key 1', kek);
}

function encrypt(key: Uint8Array, bytes: Uint8Array, bound: Uint8Array, nonce: Uint8Array): Box {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(bound);
  const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return { bytes: text, nonce, tag: cipher.getAuthTag() };
}

function decrypt(key: Uint8Array, { bytes, nonce, tag }: Box, bound: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bound);
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes), decipher.final()]);
}

type Wrap = Pick<Sealed, 'kek' | 'wrapped' | 'wrapNonce' | 'wrapTag'>;

function wrap(kek: Kek, dataKey: Uint8Array, fresh: Uint8Array): Wrap {
  const { bytes, nonce, tag } = encrypt(kek.key, dataKey, wrapBytes(kek.id), fresh);
  return { kek: kek.id, wrapped: bytes, wrapNonce: nonce, wrapTag: tag };
}

function unwrap(kek: Kek, sealed: Sealed): Buffer {
  try {
    return decrypt(
      kek.key,
      { bytes: sealed.wrapped, nonce: sealed.wrapNonce, tag: sealed.wrapTag },
      wrapBytes(sealed.kek),
    );
  } catch {
    throw new Error(`a data key does not open with the key-encryption key ${kek.id}`);
  }
}

/** Encrypts a secret for one place, with a new data key. */
export function sealText(kek: Kek, text: string, place: SealPlace): Sealed {
  // All random bytes are drawn in one call, since each call takes as long as encrypting.
  const drawn = randomBytes(KEY_BYTES + 2 * NONCE_BYTES);
  const dataKey = drawn.subarray(0, KEY_BYTES);
  const textNonce = drawn.subarray(KEY_BYTES, KEY_BYTES + NONCE_BYTES);
  const wrapNonce = drawn.subarray(KEY_BYTES + NONCE_BYTES);
  const plain = Buffer.from(text, 'utf8');
  const { bytes, nonce, tag } = encrypt(dataKey, plain, placeBytes(place), textNonce);
  const wrapped = wrap(kek, dataKey, wrapNonce);
  dataKey.fill(0);
  // Written as one literal, because spreading would make a new hidden class each time and is slow.
  return {
    v: 1,
    kek: wrapped.kek,
    wrapped: wrapped.wrapped,
    wrapNonce: wrapped.wrapNonce,
    wrapTag: wrapped.wrapTag,
    text: bytes,
    nonce,
    tag,
  };
}

/**
 * Decrypts a secret.
 * @throws Error when it was altered, belongs to another place, or another key wraps it.
 */
export function openSealed(kek: Kek, sealed: Sealed, place: SealPlace): string {
  const dataKey = unwrap(kek, sealed);
  try {
    const { text: bytes, nonce, tag } = sealed;
    return decrypt(dataKey, { bytes, nonce, tag }, placeBytes(place)).toString('utf8');
  } catch {
    throw new Error('a sealed secret was changed or belongs to another record');
  } finally {
    dataKey.fill(0);
  }
}

/**
 * The same secret with its data key wrapped by another key-encryption key.
 * @throws Error when `from` does not wrap it.
 */
export function rewrap(sealed: Sealed, from: Kek, to: Kek): Sealed {
  const dataKey = unwrap(from, sealed);
  try {
    return { ...sealed, ...wrap(to, dataKey, randomBytes(NONCE_BYTES)) };
  } finally {
    dataKey.fill(0);
  }
}

function isBytes(value: unknown, length?: number): value is Uint8Array {
  return value instanceof Uint8Array && (length === undefined || value.length === length);
}

/** Whether a value is a sealed secret. */
export function isSealed(value: unknown): value is Sealed {
  return (
    isObject(value) &&
    value['v'] === 1 &&
    typeof value['kek'] === 'string' &&
    isBytes(value['wrapped'], KEY_BYTES) &&
    isBytes(value['wrapNonce'], NONCE_BYTES) &&
    isBytes(value['wrapTag'], TAG_BYTES) &&
    isBytes(value['text']) &&
    isBytes(value['nonce'], NONCE_BYTES) &&
    isBytes(value['tag'], TAG_BYTES)
  );
}

/** Reads a sealed secret in a record. @throws Error when it has another shape. */
export function parseSealed(value: unknown): Sealed {
  if (!isSealed(value)) throw new Error('damaged sealed secret in the store');
  return value;
}
