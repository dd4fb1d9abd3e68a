/**
 * Secrets in the store. Credentials are sealed here before they are stored, and opened when they
 * are read; nothing else in the program uses a key-encryption key.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { StoreKey } from './format.js';
import type { Kek, KekSource } from './kek-file.js';
import { openKekSource, type KekConfig } from './kek-source.js';
import {
  lengthPrefixed,
  openSealed,
  parseSealed,
  sealText,
  type Sealed,
  type SealPlace,
} from './sealed.js';
import type { Store, StoreTransaction } from './store.js';

export { parseSealed, type SealPlace } from './sealed.js';

/** The key for `Vault.index`, sealed like any other secret and therefore kept through rotations. */
const INDEX_KEY: StoreKey = ['vault', 'index'];
const INDEX_PLACE: SealPlace = { account: '', merchant: '', field: 'index key' };
const INDEX_KEY_BYTES = 32;

export class Vault {
  readonly #source: KekSource;
  readonly #indexKey: Buffer;

  constructor(source: KekSource, indexKey: Buffer) {
    this.#source = source;
    this.#indexKey = indexKey;
  }

  /**
   * Seals a secret for one place. To be called inside the transaction that stores the result, so
   * that no rotation can drop the key in between.
   */
  seal(text: string, place: SealPlace): Sealed {
    return sealText(this.#source.current(), text, place);
  }

  /**
   * Opens a sealed secret.
   * @throws Error when it was altered, belongs to another place, or its key is not available.
   */
  open(sealed: Sealed, place: SealPlace): string {
    return openSealed(this.#source.find(sealed.kek), sealed, place);
  }

  /**
   * A keyed hash of a secret in base64url. It is the same for the same account and text as long as
   * the store exists. By it a secret can be found, or seen to be taken, without opening any.
   */
  index(text: string, account: string): string {
    return createHmac('sha256', this.#indexKey)
      .update(lengthPrefixed(account, text))
      .digest('base64url');
  }
}

/** Makes the key for the index unless there is one; returns the stored one. */
function keepIndexKey(transaction: StoreTransaction, kek: Kek): unknown {
  const found = transaction.get(INDEX_KEY);
  if (found !== undefined) return found;
  const text = randomBytes(INDEX_KEY_BYTES).toString('base64');
  const record = { v: 1, sealed: sealText(kek, text, INDEX_PLACE) };
  transaction.put(INDEX_KEY, record);
  return record;
}

/** The sealed key for the index; null where the store has never sealed anything. */
function storedIndexKey(store: Pick<StoreTransaction, 'get'>): Sealed | null {
  const record = store.get(INDEX_KEY);
  return record === undefined ? null : indexSealed(record);
}

function indexSealed(record: unknown): Sealed {
  if (typeof record !== 'object' || record === null || !('sealed' in record)) {
    throw new Error('damaged index key in the store');
  }
  return parseSealed(record.sealed);
}

/**
 * Opens the keys that a store needs, and its sealed key for the index, null where there is none.
 * @throws Error as `openKekSource` does.
 */
export async function openKeys(
  config: KekConfig,
  store: Store,
): Promise<{ readonly source: KekSource; readonly known: Sealed | null }> {
  for (let known = storedIndexKey(store); ; ) {
    try {
      return { source: openKekSource(config, known?.kek ?? null), known };
    } catch (error) {
      // A rotation may have dropped the key meanwhile. Then the store names another one by now,
      // which a transaction reads even where local data is behind.
      const now = await store.write(storedIndexKey, { quiet: true }).catch(() => known);
      if (now?.kek === known?.kek) throw error;
      known = now;
    }
  }
}

/**
 * Opens the vault of a store. Where the store has no secrets, a first key-encryption key is made.
 * @throws Error when the store's key-encryption key is missing, damaged or readable by others.
 */
export async function openVault(config: KekConfig, store: Store): Promise<Vault> {
  const { source, known } = await openKeys(config, store);
  const record =
    known === null
      ? await store.write((transaction) => keepIndexKey(transaction, source.current()))
      : { v: 1, sealed: known };
  const sealed = indexSealed(record);
  const text = openSealed(source.find(sealed.kek), sealed, INDEX_PLACE);
  return new Vault(source, Buffer.from(text, 'base64'));
}
