/** Options of a store, the transaction that a write works with, and the error that undoes it. */
import type { StoreKey } from './format.js';

/** The operations of a transaction. */
export interface StoreTransaction {
  get(key: StoreKey): unknown;
  /**
   * A record that an action of this commit has put, as it was given, while it is in memory; null
   * for any other. Putting it again with additions replaces it, at no extra cost.
   */
  unstored(key: StoreKey): unknown;
  /**
   * As `unstored`, or else a record that this process put in the previous commit, if nothing was
   * written since; null for one that has to be read.
   */
  known(key: StoreKey): unknown;
  /** As `Store.list`, within this transaction. */
  list(prefix: StoreKey, limit?: number): readonly unknown[];
  /** The record with the highest key that begins with these parts; undefined when there is none. */
  last(prefix: StoreKey): unknown;
  /** The keys that begin with these parts, in order: all, or the first ones. */
  keys(prefix: StoreKey, limit?: number): readonly StoreKey[];
  /** Stores a record, or a `NewRecord` of this key, which was packed to get its length. */
  put(key: StoreKey, record: object): void;
  remove(key: StoreKey): void;
  /**
   * Moves the bytes of a damaged record away, so that another can take its place, and reports it.
   * With `counted`, also reports that the record is a count, which is counted again.
   */
  setAside(key: StoreKey, counted?: boolean): void;
}

export interface WriteOptions {
  /**
   * Only notifies those who keep API keys or merchants in memory. For records that change all the
   * time and that nobody keeps a copy of.
   */
  readonly quiet?: boolean;
  /**
   * Waits for the outcome without a limit; other writes fail after a while with an unknown outcome.
   */
  readonly certain?: boolean;
}

/** A record with its key. */
export interface StoreEntry {
  readonly key: StoreKey;
  readonly record: unknown;
}

/** Thrown inside a transaction to undo it. The message is for the caller of the API. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
  /** The limit in bytes or as a number, as the message states it. */
  readonly limit: number;

  constructor(message: string, limit: number) {
    super(message);
    this.limit = limit;
  }
}

/** Options for opening a store. */
export interface StoreOptions {
  /** Address of its database; null or absent where it is in the folder. */
  readonly url?: string | null | undefined;
  /** Replaced in tests. */
  readonly bytesMax?: number;
  /**
   * Called for what does not stop the store: each damaged record once, and exceptions of watchers.
   */
  readonly failed?: (error: unknown) => void;
}
