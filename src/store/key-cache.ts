/** Finds keys without touching the disk. */
import { KEY_PREFIX, parseKeyRecord, type KeyRecord } from './format.js';
import { isKeyText, keyId } from './keys.js';
import type { Store } from './store.js';

/** Keys remembered by their text, to spare the hash of each request. */
const RECENT_MAX = 10_000;

const NO_KEY = '-'.repeat(10);

/**
 * The keys of a store. Unknown, malformed and disabled keys take the same way, a hash and
 * one failed look-up, so that their times do not tell them apart.
 */
export class KeyCache {
  readonly #store: Store;
  #byId = new Map<string, KeyRecord>();
  readonly #byText = new Map<string, KeyRecord>();

  constructor(store: Store) {
    this.#store = store;
    this.#load();
    store.watchKeys(() => this.#load());
  }

  /** The key's record, or null when it is malformed, unknown or disabled. */
  find(text: string): KeyRecord | null {
    const recent = this.#byText.get(text);
    if (recent !== undefined) return recent;
    const wellFormed = isKeyText(text);
    const record = this.#byId.get(keyId(wellFormed ? text : NO_KEY));
    if (record === undefined || !wellFormed || !record.active) return null;
    if (this.#byText.size >= RECENT_MAX) this.#byText.clear();
    this.#byText.set(text, record);
    return record;
  }

  /** The key's record even when it is disabled; null when it is malformed or unknown. */
  findAny(text: string): KeyRecord | null {
    return isKeyText(text) ? this.#byId.get(keyId(text)) ?? null : null;
  }

  /** The key's record by its id; null when it is unknown or disabled. */
  findId(id: string): KeyRecord | null {
    const record = this.#byId.get(id);
    return record?.active === true ? record : null;
  }

  #load(): void {
    const byId = new Map<string, KeyRecord>();
    for (const value of this.#store.list([KEY_PREFIX])) {
      const record = parseKeyRecord(value);
      byId.set(record.id, record);
    }
    this.#byId = byId;
    this.#byText.clear();
  }
}
