/** A vault with one key, the same in every process, for stores that need no file of keys. */
import { kekOf, type Kek } from '../../src/store/kek-file.js';
import { Vault } from '../../src/store/vault.js';

const KEK: Kek = kekOf(Buffer.alloc(32, 7));

export const EVENT_VAULT = new Vault(
  { current: () => KEK, find: () => KEK, all: () => [KEK] },
  Buffer.alloc(32, 9),
);
