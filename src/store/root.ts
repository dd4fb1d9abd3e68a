/** What a store is built on: records as bytes, in the order of their keys. */
import type { StoreKey } from './format.js';
import type { StoredValue } from './record-bytes.js';

/** A range of keys; without `start` from the first, without `end` to the last. */
export interface RecordRange {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly exclusiveStart?: boolean;
  readonly limit?: number;
  /** In descending order; `start` is then above `end`. */
  readonly reverse?: boolean;
}

/** A range with its ends in the form of a table's keys. */
interface RangeOf<Key> {
  start?: Key;
  end?: Key;
  exclusiveStart?: boolean;
  limit?: number;
  reverse?: boolean;
}

/** A range for a table whose keys `write` encodes. */
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

/** Bytes of records after which a page ends. */
export const PAGE_BYTES = 16 * 1_048_576;

/** The first of some records, until they have `PAGE_BYTES`; none only where there are none. */
export function* pageOf(records: Iterable<RecordBytes>): Iterable<RecordBytes> {
  let bytes = 0;
  for (const record of records) {
    yield record;
    bytes += record.value.length;
    if (bytes >= PAGE_BYTES) return;
  }
}

export interface RootWriteOptions {
  /**
   * Waits for the outcome of the write without a limit. Used where a retry would do something
   * twice; other writes fail after a while with an unknown outcome.
   */
  readonly certain?: boolean;
}

/** Reads are immediate, from local data; a write resolves when it is durable. */
export interface Root {
  get(key: StoreKey): StoredValue | undefined;
  /** As `get`, but the memory is reused: the record must not be used after another read. */
  peek(key: StoreKey): StoredValue | undefined;
  /** The value that the running commit has put for a key, while it is in memory. */
  unstored(key: StoreKey): StoredValue | null;
  /**
   * As `unstored`, or else the value of the previous commit, if nothing was written since. A count
   * that each commit changes thus need not be read and checked again. Null where it has to be read.
   */
  known(key: StoreKey): StoredValue | null;
  range(range: RecordRange): Iterable<RecordBytes>;
  keys(range: RecordRange): Iterable<StoreKey>;
  /** To be called only by the action of a write, as `remove`. */
  put(key: StoreKey, value: StoredValue): void;
  remove(key: StoreKey): void;
  /**
   * Runs an action at most once, on the newest records, and resolves with its result when its
   * changes are durable. If it throws, only its own changes are undone, and this throws the same.
   * @throws StoreFault when it could not be written.
   */
  write<T>(action: () => T, options?: RootWriteOptions): Promise<T>;
  /** Increases with each commit of this handle, before its writers are notified. */
  readonly written: number;
  /** Makes reads see the newest local data. */
  refresh(): void;
  /** Bytes of pages with records. */
  bytes(): number;
  entries(): number;
  /** Other processes that have the store open. */
  users(): readonly number[];
  /** Copies everything into an empty folder, as of one moment. */
  copy(folder: string): Promise<void>;
  /** Milliseconds since the local data was known to be up to date; null where it always is. */
  age(): number | null;
  /** Calls `changed` after others have changed the local data, where there are notifications. */
  watch(changed: () => void): void;
  /** The process is about to end: from now on every wait for a write is limited. */
  leave(): void;
  close(): Promise<void>;
}
