/**
 * Actions that share a transaction. Their changes are kept here until the last action has run, and
 * are then put into the store together. A count that each action changes is thus packed and stored
 * once, and an action that throws is undone by forgetting its changes. LMDB's own nested
 * transactions would copy every page that an action touches.
 */
import type { StoreKey } from './format.js';
import { bytesOf, type StoredValue } from './record-bytes.js';

/** What a batch puts its changes into, within a transaction. */
export interface BatchPlace {
  get(key: StoreKey): Buffer | undefined;
  /** The record's memory is reused, so it must not be used after another read. */
  peek(key: StoreKey): Buffer | undefined;
  put(key: StoreKey, value: Buffer): void;
  remove(key: StoreKey): void;
}

/** The outcome of an action: its result, or what it threw. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'threw'; readonly error: unknown };

interface Change {
  readonly key: StoreKey;
  /** Null where the record is removed. */
  readonly value: StoredValue | null;
}

/**
 * A longer key is put into the store at once, so that the action whose key is too long gets the
 * error.
 */
const NAME_CHARS_MAX = 400;

/** A key as a text of its own; with the lengths, no two keys have the same. */
function newName(key: StoreKey): string {
  let name = '';
  for (const part of key) name += `${part.length}:${part}`;
  return name;
}

function isSame(key: StoreKey, other: StoreKey): boolean {
  if (key.length !== other.length) return false;
  for (let at = 0; at < key.length; at += 1) if (key[at] !== other[at]) return false;
  return true;
}

/**
 * The last key of each kind with its name, because one action after another changes the same
 * counts.
 */
const lastNames = new Map<string, { readonly key: StoreKey; readonly name: string }>();
const KINDS_MAX = 64;

/** Changes of a commit, by the names of their keys. */
type Left = ReadonlyMap<string, Change>;
const NOTHING_LEFT: Left = new Map();
/** A commit with more changes is not remembered: reading again is a small part of its cost. */
const LEFT_MAX = 256;

function nameOf(key: StoreKey): string {
  const kind = key[0] ?? '';
  const last = lastNames.get(kind);
  if (last !== undefined && isSame(key, last.key)) return last.name;
  const name = newName(key);
  if (last !== undefined || lastNames.size < KINDS_MAX) lastNames.set(kind, { key, name });
  return name;
}

export class Batch {
  readonly #place: BatchPlace;
  /** Changes that are not in the store yet. */
  #changes = new Map<string, Change>();
  /** Changes of the running action in `#changes`, with the previous values, in order. */
  readonly #undo: { readonly name: string; readonly was: Change | undefined }[] = [];
  /** Changes of the running action that are in the store, with the previous values. */
  readonly #before = new Map<string, Change>();

  /** Changes of the previous commit; empty if anything was written since. */
  #left: Left;

  constructor(place: BatchPlace, left = NOTHING_LEFT) {
    this.#place = place;
    this.#left = left;
  }

  /**
   * Runs an action. If it throws, only its own changes are undone.
   * @throws Error when they cannot be.
   */
  run<T>(action: () => T): Outcome<T> {
    try {
      return { kind: 'done', result: action() };
    } catch (error) {
      for (const { name, was } of this.#undo.reverse()) {
        if (was === undefined) this.#changes.delete(name);
        else this.#changes.set(name, was);
      }
      for (const [name, change] of this.#before) {
        this.#changes.delete(name);
        this.#set(change);
      }
      return { kind: 'threw', error };
    } finally {
      this.#undo.length = 0;
      this.#before.clear();
    }
  }

  get(key: StoreKey): StoredValue | undefined {
    const changed = this.#changes.get(nameOf(key));
    return changed === undefined ? this.#place.get(key) : (changed.value ?? undefined);
  }

  /** The record's memory is reused, so it must not be used after another read. */
  peek(key: StoreKey): StoredValue | undefined {
    const changed = this.#changes.get(nameOf(key));
    return changed === undefined ? this.#place.peek(key) : (changed.value ?? undefined);
  }

  /** The value for a key that this batch has not stored yet; null where there is none. */
  unstored(key: StoreKey): StoredValue | null {
    return this.#changes.get(nameOf(key))?.value ?? null;
  }

  /**
   * The value for a key from this batch or from the previous commit; null where it has to be read.
   */
  known(key: StoreKey): StoredValue | null {
    const name = nameOf(key);
    return (this.#changes.get(name) ?? this.#left.get(name))?.value ?? null;
  }

  /** Changes a record, or removes it. */
  change(key: StoreKey, value: StoredValue | null): void {
    const name = nameOf(key);
    this.#undo.push({ name, was: this.#changes.get(name) });
    this.#changes.set(name, { key, value });
    if (name.length > NAME_CHARS_MAX) this.flush();
  }

  /** Puts all changes into the store, so that ranges of it include them. */
  flush(): void {
    for (const { name, was } of this.#undo) {
      const key = this.#changes.get(name)?.key;
      if (key === undefined || this.#before.has(name)) continue;
      this.#before.set(name, was ?? { key, value: this.#place.get(key) ?? null });
    }
    this.#undo.length = 0;
    for (const change of this.#changes.values()) this.#set(change);
    // The store is now newer than the remembered commit.
    if (this.#changes.size > 0) this.#left = NOTHING_LEFT;
    this.#changes.clear();
  }

  /** Puts the remaining changes into the store after the last action, and returns them. */
  end(): Left {
    const left = this.#changes;
    this.#changes = new Map();
    for (const change of left.values()) this.#set(change);
    return left.size > LEFT_MAX ? NOTHING_LEFT : left;
  }

  #set({ key, value }: Change): void {
    if (value === null) this.#place.remove(key);
    else this.#place.put(key, bytesOf(value));
  }
}

/**
 * Remembers the changes of the last transaction for the next one. LMDB numbers transactions without
 * gaps: if the next one has the next number, no other process has written in between.
 */
export class CommitMemory {
  /** Number of transactions that have begun. */
  #begun = 0;
  #last: { readonly begun: number; readonly id: number; readonly left: Left } | null = null;

  /**
   * Called when a transaction with this number of LMDB begins. Returns the changes that are still
   * valid.
   */
  begin(id: number): Left {
    const last = this.#last;
    this.#last = null;
    const isNext = last !== null && last.begun === this.#begun && last.id + 1 === id;
    this.#begun += 1;
    return isNext ? last.left : NOTHING_LEFT;
  }

  /**
   * Called when all actions of a transaction have run; the function that it returns is called when
   * the transaction is on the disk.
   */
  ran(id: number, left: Left): () => void {
    const begun = this.#begun;
    return () => {
      this.#last = { begun, id, left };
    };
  }
}
