/** Key-encryption keys. They wrap data keys and are never in the store. */
import { createHash } from 'node:crypto';

/** A key-encryption key with its id. */
export interface Kek {
  /** Derived from the key, so that the same key has the same id wherever it comes from. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** Key-encryption keys at hand. */
export interface KekSource {
  /** The one that seals. */
  current(): Kek;
  /** The one of an id, current or previous. @throws Error when it is not at hand. */
  find(id: string): Kek;
  /** All of them, the current one first. */
  all(): readonly Kek[];
}

export const KEK_BYTES = 32;
const ID_CHARS = 16;

/** Gives a key its id. */
export function kekOf(key: Uint8Array): Kek {
  const hash = createHash('sha256').update('situs kek id 1').update(key);
  return { id: hash.digest('hex').slice(0, ID_CHARS), key };
}

/** What to say when a key is gone. */
export function missingKek(id: string, place: string): Error {
  return new Error(
    `secrets in the store are sealed with the key-encryption key ${id}, which is not in ${place}` +
      '; put the key back (it was never in the store or its backups)',
  );
}
