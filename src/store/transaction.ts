/** What a store is opened with, what a write does its work with, the error that undoes it. */
import type { StoreKey } from './format.js';

/** What a transaction may do. */
export interface StoreTransaction {
  get(key: StoreKey): unknown;
  /**
   * A record that this commit put, by this or an earlier action, where it is still in memory, as it
   * was given; null for all others. Putting it again with more costs no second record.
   */
  unstored(key: StoreKey): unknown;
  /**
   * The same, and what this process put in the commit before, where nothing was written since; null
   * for all that is to be read.
   */
  known(key: StoreKey): unknown;
  /** As of this transaction; see `Store.list`. */
  list(prefix: StoreKey, limit?: number): readonly unknown[];
  /** The record with the last key that begins with these parts; undefined when there is none. */
  last(prefix: StoreKey): unknown;
  /** The keys that begin with these parts, in order: all, or the first so many. */
  keys(prefix: StoreKey, limit?: number): readonly StoreKey[];
  /** Takes a record, or a `NewRecord` of this key that was packed to tell how long it is. */
  put(key: StoreKey, record: object): void;
  remove(key: StoreKey): void;
  /**
   * Puts the bytes of a damaged record away, so that another can take its place, and tells of it;
   * with `counted` also that the record is a count, and is made anew.
   */
  setAside(key: StoreKey, counted?: boolean): void;
}

export interface WriteOptions {
  /**
   * Nobody is told of the change but those who keep API keys or merchants: counters change all the
   * time and nothing is kept of them.
   */
  readonly quiet?: boolean;
  /** Waits for what became of the write, however long; others are told that nobody knows. */
  readonly certain?: boolean;
}

/** A record with its key. */
export interface StoreEntry {
  readonly key: StoreKey;
  readonly record: unknown;
}

/**
 * Thrown inside a transaction, which it undoes: nothing of the write is kept. The message is for
 * the caller of the API.
 */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
  /** As stated: bytes or a number. */
  readonly limit: number;

  constructor(message: string, limit: number) {
    super(message);
    this.limit = limit;
  }
}

/** How a store is opened. */
export interface StoreOptions {
  /** Address of the database that holds it; null or absent where it is in the folder. */
  readonly url?: string | null | undefined;
  /** Replaced in tests. */
  readonly bytesMax?: number;
  /** Told of what is passed over: a damaged record, once, and what went wrong at a change. */
  readonly failed?: (error: unknown) => void;
}
