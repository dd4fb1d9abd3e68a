/** What a store lies on: records as bytes, in the order of their keys. */
import type { StoreKey } from './format.js';
import type { StoredValue } from './record-bytes.js';

/** A stretch of keys; without a start or an end from the first or to the last. */
export interface RecordRange {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly exclusiveStart?: boolean;
  readonly limit?: number;
  /** From the last to the first; `start` is then behind `end`. */
  readonly reverse?: boolean;
}

/** A range with its ends as a table has them. */
interface RangeOf<Key> {
  start?: Key;
  end?: Key;
  exclusiveStart?: boolean;
  limit?: number;
  reverse?: boolean;
}

/** The range for a table whose keys are written by `write`. */
export function rangeOf<Key>(
  { start, end, ...rest }: RecordRange,
  write: (key: StoreKey) => Key,
): RangeOf<Key> {
  return {
    ...rest,
    ...(start === undefined ? {} : { start: write(start) }),
    ...(end === undefined ? {} : { end: write(end) }),
  };
}

export interface RecordBytes {
  readonly key: StoreKey;
  readonly value: Buffer;
}

export interface RootWriteOptions {
  /**
   * Waits for what became of the write however long that takes, where others are told after a
   * while that nobody knows; for what would be done twice if it were tried again.
   */
  readonly certain?: boolean;
}

/** Reading is immediate, from what is at hand; writing resolves when it is durable. */
export interface Root {
  get(key: StoreKey): StoredValue | undefined;
  /** For whoever is done with it before anything else is read: its memory is used again. */
  peek(key: StoreKey): StoredValue | undefined;
  /** What the commit under way was given for a key, where it waits in memory to be put. */
  unstored(key: StoreKey): StoredValue | null;
  /**
   * The same, and what the commit before left, where nothing was written since: a count that each
   * commit changes need not be read and checked again. Null where it is to be read.
   */
  known(key: StoreKey): StoredValue | null;
  range(range: RecordRange): Iterable<RecordBytes>;
  keys(range: RecordRange): Iterable<StoreKey>;
  /** To be called by the action of a write alone, as `remove`. */
  put(key: StoreKey, value: StoredValue): void;
  remove(key: StoreKey): void;
  /**
   * Runs an action once at most, on the newest records, and resolves with its result once what it
   * changed is durable. What it throws undoes it alone, and is thrown here.
   * @throws StoreFault when it could not be written.
   */
  write<T>(action: () => T, options?: RootWriteOptions): Promise<T>;
  /** Goes up with what this handle wrote, before whoever wrote it is told. */
  readonly written: number;
  /** From now on reading sees the newest of what is at hand. */
  refresh(): void;
  /** Bytes of the pages that hold records. */
  bytes(): number;
  entries(): number;
  /** Other processes that have it open. */
  users(): readonly number[];
  /** Copies everything into an empty folder, as of one moment. */
  copy(folder: string): Promise<void>;
  /** Milliseconds since what is at hand was known to be the newest; null where it always is. */
  age(): number | null;
  /** Calls `changed` once others have changed what is at hand, where that is told. */
  watch(changed: () => void): void;
  /** The process is about to end: from now on no write waits for ever. */
  leave(): void;
  close(): Promise<void>;
}
