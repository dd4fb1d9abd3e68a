/** The embedded store: an LMDB environment in a folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Batch, type BatchPlace, CommitMemory, type Outcome } from './batch.js';
import { StoreFault, writeError } from './fault.js';
import { hasRoom, makeFolder } from './folder.js';
import type { StoreKey } from './format.js';
import { PlainView, type StoredValue } from './record-bytes.js';
import { type RecordBytes, type RecordRange, rangeOf, type Root } from './root.js';
import { LastCommit, LOCK_FILE } from './last-commit.js';
import { type Environment, inTransaction, openEnvironment } from './lmdb-environment.js';
import { bytesIn, checkStoreFile, type RootStats, STORE_FILE } from './store-file.js';

/** A key as an array: LMDB returns one of a single part as that part. */
function partsOf(key: StoreKey): StoreKey {
  return ([] as StoreKey).concat(key);
}

/** A copy of a key, since lmdb's type is a mutable array. */
const lmdbKey = (key: StoreKey): string[] => [...key];

function resultOf<T>(outcome: Outcome<T> | null): T {
  if (outcome?.kind === 'done') return outcome.result;
  throw outcome === null ? new Error('a write whose action was not run') : outcome.error;
}

/** Actions that wait for the next transaction. */
interface Waiting {
  /** Each action keeps its result, or what it threw, for its caller. */
  readonly actions: ((batch: Batch) => void)[];
  /** Resolves when the transaction is durable. */
  readonly done: Promise<void>;
}

/** Stores that this process has open, by folder. */
const OPEN = new Map<string, Set<LmdbRoot>>();

export class LmdbRoot implements Root {
  readonly #path: string;
  readonly #root: Environment;
  readonly #last: LastCommit;
  readonly #place: BatchPlace = {
    get: (key) => this.#root.get([...key]),
    peek: (key) => this.#peek(key),
    put: (key, value) => {
      this.#root.putSync([...key], value);
    },
    remove: (key) => {
      this.#root.removeSync([...key]);
    },
  };
  /** Number of transactions under way. */
  #writing = 0;
  #next: Waiting | null = null;
  #written = 0;
  readonly #view = new PlainView();
  /** Set while actions run. */
  #batch: Batch | null = null;
  readonly #memory = new CommitMemory();

  private constructor(path: string, root: Environment, last: LastCommit) {
    this.#path = path;
    this.#root = root;
    this.#last = last;
    OPEN.set(path, (OPEN.get(path) ?? new Set()).add(this));
  }

  /**
   * Opens the store in a folder, or makes it.
   * @throws Error when the folder cannot be made, a newer program wrote the store, or its file is
   * damaged, incomplete or lost; StoreFault when there is no room to make one.
   */
  static async open(path: string): Promise<LmdbRoot> {
    makeFolder(path, 'SITUS_VAR', 0o700);
    checkStoreFile(join(path, STORE_FILE));
    // LMDB maps its lock file with holes in it. Where the disk is full, writing to a hole kills the
    // process.
    if (!existsSync(join(path, LOCK_FILE)) && !hasRoom(path)) throw new StoreFault('unwritable');
    await LmdbRoot.#rest(path);
    const last = new LastCommit(path);
    try {
      const root = await openEnvironment(path, last);
      return new LmdbRoot(path, root, last);
    } catch (error) {
      last.end();
      throw error;
    }
  }

  /**
   * Waits until no other handle of this process writes. Opening takes the write lock at once and
   * blocks this thread; a write of another handle that needs this thread for its action would then
   * wait for ever.
   */
  static async #rest(path: string): Promise<void> {
    const handles = (): readonly LmdbRoot[] => [...(OPEN.get(path) ?? [])];
    while (handles().some((root) => root.#writing > 0)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get(key: StoreKey): StoredValue | undefined {
    return this.#batch === null ? this.#root.get([...key]) : this.#batch.get(key);
  }

  peek(key: StoreKey): StoredValue | undefined {
    return this.#batch === null ? this.#peek(key) : this.#batch.peek(key);
  }

  unstored(key: StoreKey): StoredValue | null {
    return this.#batch?.unstored(key) ?? null;
  }

  known(key: StoreKey): StoredValue | null {
    return this.#batch?.known(key) ?? null;
  }

  *range(range: RecordRange): Iterable<RecordBytes> {
    this.#batch?.flush();
    for (const { key, value } of this.#root.getRange(rangeOf(range, lmdbKey))) {
      yield { key: partsOf(key), value };
    }
  }

  keys(range: RecordRange): Iterable<StoreKey> {
    this.#batch?.flush();
    const keys: StoreKey[] = [];
    for (const key of this.#root.getKeys(rangeOf(range, lmdbKey))) keys.push(partsOf(key));
    return keys;
  }

  put(key: StoreKey, value: StoredValue): void {
    this.#change(key, value);
  }

  remove(key: StoreKey): void {
    this.#change(key, null);
  }

  get written(): number {
    return this.#written;
  }

  async write<T>(action: () => T): Promise<T> {
    let outcome: Outcome<T> | null = null;
    this.#writing += 1;
    try {
      this.#next ??= this.#transaction();
      const { actions, done } = this.#next;
      actions.push((batch) => {
        outcome = batch.run(action);
      });
      await done;
    } catch (error) {
      throw await writeError(error);
    } finally {
      this.#writing -= 1;
    }
    return resultOf(outcome);
  }

  refresh(): void {
    // Reads within one turn of the event loop share a snapshot, which without this could be an old
    // one.
    this.#root.resetReadTxn();
  }

  bytes(): number {
    return bytesIn(this.#root.getStats());
  }

  entries(): number {
    const { entryCount = 0 }: RootStats = this.#root.getStats();
    return entryCount;
  }

  users(): readonly number[] {
    this.#root.readerCheck();
    const lines = this.#root.readerList().split('\n');
    const pids = lines.map((line) => Number(/^\s*(\d+)\s/.exec(line)?.[1] ?? 0));
    return [...new Set(pids)].filter((pid) => pid > 0 && pid !== process.pid);
  }

  async copy(folder: string): Promise<void> {
    await this.#root.backup(folder, true);
  }

  age(): null {
    return null;
  }

  /** No write waits for other servers here. */
  leave(): void {}

  /** There are no notifications, so changes are found by their counts. */
  watch(): void {}

  async close(): Promise<void> {
    // The caller of a write that failed has been told.
    await Promise.resolve(this.#root.flushed).catch(() => undefined);
    await this.#root.close();
    if (OPEN.get(this.#path)?.delete(this) === true) this.#last.end();
  }

  #peek(key: StoreKey): Buffer | undefined {
    const found = this.#root.getBinaryFast([...key]);
    return found === undefined ? undefined : this.#view.of(found);
  }

  #change(key: StoreKey, value: StoredValue | null): void {
    if (this.#batch === null) throw new Error('a store is written by the action of a write');
    this.#batch.change(key, value);
  }

  /** Begins a transaction that runs all actions which are waiting by then. */
  #transaction(): Waiting {
    const actions: Waiting['actions'] = [];
    const taken = (): void => {
      if (this.#next?.actions === actions) this.#next = null;
    };
    const run = inTransaction(this.#root, this.#last, (id) => {
      taken();
      const batch = new Batch(this.#place, this.#memory.begin(id));
      this.#batch = batch;
      try {
        for (const action of actions) action(batch);
        return this.#memory.ran(id, batch.end());
      } finally {
        this.#batch = null;
      }
    });
    const done = run
      .then((remember) => {
        this.#written += 1;
        remember();
      })
      .finally(taken);
    return { actions, done };
  }
}
