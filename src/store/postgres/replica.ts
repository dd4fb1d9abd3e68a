/**
 * A node's copy of a store in PostgreSQL: all records, in an LMDB environment that can be made
 * again at any time, and the commit that they are up to date with. Reading never waits.
 */
import { ABORT, type Database, open, type RootDatabase } from 'lmdb';
import type { Outcome } from '../batch.js';
import type { StoreKey } from '../format.js';
import { bytesOf, type StoredValue } from '../record-bytes.js';
import { bytesIn } from '../store-file.js';
import { type RecordBytes, type RecordRange, rangeOf } from '../root.js';
import type { Batch, Change, Position } from './change-log.js';
import { type DatabasePlace, leaveFolder, replicaFolder } from './place.js';

/*
 * Keys as bytes that sort as the keys do: their parts in UTF-8, separated by a zero byte. The two
 * lowest characters are written as two bytes each, so that no part contains a zero.
 */

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['\0', '\x01\x01'],
  ['\x01', '\x01\x02'],
]);
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['\x01\x01', '\0'],
  ['\x01\x02', '\x01'],
]);
const TO_ESCAPE = /[\0\x01]/;

/** Bytes of a key. */
export function keyBytes(key: StoreKey): Buffer {
  const isPlain = !key.some((part) => TO_ESCAPE.test(part));
  return Buffer.from(
    (isPlain
      ? key
      : key.map((part) => part.replace(/[\0\x01]/g, (each) => ESCAPED.get(each)!))
    ).join('\0'),
  );
}

/** The key that bytes stand for. */
export function keyOf(bytes: Uint8Array): StoreKey {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const parts = text.split('\0');
  if (!text.includes('\x01')) return parts;
  return parts.map((part) => part.replace(/\x01[\x01\x02]/g, (each) => PLAIN.get(each)!));
}

/** The bytes of a key as text, one character for each. */
function nameOf(bytes: Buffer): string {
  return bytes.toString('latin1');
}

const MAP_BYTES = 4 * 1024 ** 3;
/** Bytes of changes after which a commit takes no more actions; the rest wait for the next one. */
const COMMIT_BYTES_MAX = 16 * 1_048_576;
/**
 * Time of running actions after which a commit takes no more. It holds up this thread, and all
 * other nodes.
 */
const COMMIT_MS_MAX = 200;

/** Position of a replica that has to be read completely. */
const UNREAD: Position = { seq: -1, batch: '' };
const POSITION_KEY = 'position';

interface Attempt {
  /**
   * Outcomes in the order of the actions; only of the first ones if these changed much or took
   * long.
   */
  readonly outcomes: readonly Outcome<unknown>[];
  readonly changes: readonly Change[];
}

export class Replica {
  readonly #path: string;
  readonly #environment: RootDatabase<Buffer, string>;
  /** Records by the bytes of their keys. */
  readonly #records: Database<Buffer, Uint8Array>;
  readonly #state: Database<Buffer, string>;
  /** Changes of the running action, by the text of the key; null while none runs. */
  #changed: Map<string, Change> | null = null;
  /** Values that the actions of an attempt have put, until one of the actions is undone. */
  readonly #given = new Map<string, StoredValue>();

  constructor(varDir: string, storeId: string) {
    this.#path = replicaFolder(varDir, storeId);
    this.#environment = open<Buffer, string>({
      path: this.#path,
      mapSize: MAP_BYTES,
      maxDbs: 2,
      // Losing data is harmless: the database has everything, and after a crash of the machine the
      // replica is made again.
      noSync: true,
      overlappingSync: false,
      eventTurnBatching: false,
      encoding: 'binary',
    });
    this.#records = this.#environment.openDB({
      name: 'records',
      encoding: 'binary',
      keyEncoding: 'binary',
    });
    this.#state = this.#environment.openDB({ name: 'state', encoding: 'binary' });
  }

  get position(): Position {
    const bytes = this.#state.get(POSITION_KEY);
    if (bytes === undefined) return UNREAD;
    const { seq, batch }: Position = JSON.parse(bytes.toString());
    return { seq, batch };
  }

  get(key: StoreKey): Buffer | undefined {
    return this.#records.get(keyBytes(key));
  }

  *range(range: RecordRange): Iterable<RecordBytes> {
    for (const { key, value } of this.#records.getRange(rangeOf(range, keyBytes))) {
      yield { key: keyOf(key), value };
    }
  }

  *keys(range: RecordRange): Iterable<StoreKey> {
    for (const key of this.#records.getKeys(rangeOf(range, keyBytes))) yield keyOf(key);
  }

  /** The value that the running commit has put for a key; null where there is none. */
  unstored(key: StoreKey): StoredValue | null {
    if (this.#changed === null) return null;
    return this.#given.get(nameOf(keyBytes(key))) ?? null;
  }

  /** To be called only within an action, as `remove`. */
  put(key: StoreKey, value: StoredValue): void {
    const bytes = bytesOf(value);
    const name = this.#note(key, bytes);
    this.#records.putSync(name, bytes);
    this.#given.set(nameOf(name), value);
  }

  remove(key: StoreKey): void {
    const name = this.#note(key, null);
    this.#records.removeSync(name);
    this.#given.delete(nameOf(name));
  }

  bytes(): number {
    return bytesIn(this.#records.getStats());
  }

  entries(): number {
    const { entryCount = 0 }: { readonly entryCount?: number } = this.#records.getStats();
    return entryCount;
  }

  /** Makes reads see the latest changes. */
  refresh(): void {
    this.#records.resetReadTxn();
  }

  /**
   * Runs actions one after another and returns their changes; the replica itself stays unchanged.
   * Null where the replica is not at the given commit, for instance while it is read again.
   */
  attempt(seq: number, actions: readonly (() => unknown)[]): Attempt | null {
    const outcomes: Outcome<unknown>[] = [];
    const changes = new Map<string, Change>();
    let [bytes, isThere] = [0, false];
    this.#given.clear();
    const from = performance.now();
    this.#environment.transactionSync(() => {
      isThere = this.position.seq === seq;
      if (!isThere) return ABORT;
      for (const action of actions) {
        if (bytes > COMMIT_BYTES_MAX) break;
        if (outcomes.length > 0 && performance.now() - from > COMMIT_MS_MAX) break;
        const own = new Map<string, Change>();
        outcomes.push(this.#try(action, own));
        for (const [name, change] of own) {
          changes.set(name, change);
          bytes += change.key.length + (change.value?.length ?? 0);
        }
      }
      return ABORT;
    });
    this.refresh();
    return isThere ? { outcomes, changes: [...changes.values()] } : null;
  }

  /**
   * Applies commits that follow the replica's position; earlier ones are ignored.
   * @returns whether there was one that it did not have
   */
  apply(batches: readonly Batch[]): boolean {
    let applied = false;
    this.#environment.transactionSync(() => {
      for (const { seq, batch, changes } of batches) {
        const at = this.position.seq;
        // A replica that is being read completely will contain the commit anyway.
        if (at < 0 || seq <= at) continue;
        if (seq !== at + 1) break;
        for (const change of changes) this.#set(change);
        this.#move({ seq, batch });
        applied = true;
      }
    });
    this.refresh();
    return applied;
  }

  /** Marks the replica as incomplete, until `move` is called. */
  unread(): void {
    this.move(UNREAD);
  }

  move(position: Position): void {
    this.#environment.transactionSync(() => this.#move(position));
  }

  /** Replaces all records after a key, up to the last of the new ones; to the end without any. */
  replace(after: Buffer | null, records: readonly Change[]): void {
    const last = records.at(-1)?.key;
    this.#environment.transactionSync(() => {
      const held = this.#records.getKeys({
        ...(after === null ? {} : { start: after, exclusiveStart: true }),
        ...(last === undefined ? {} : { end: last }),
      });
      for (const key of [...held]) this.#records.removeSync(key);
      for (const record of records) this.#set(record);
    });
    this.refresh();
  }

  async close(): Promise<void> {
    await this.#environment.close();
    leaveFolder(this.#path);
  }

  #try(action: () => unknown, own: Map<string, Change>): Outcome<unknown> {
    this.#changed = own;
    try {
      const result: unknown = this.#environment.childTransaction(action);
      return { kind: 'done', result };
    } catch (error) {
      own.clear();
      this.#given.clear();
      return { kind: 'threw', error };
    } finally {
      this.#changed = null;
    }
  }

  #note(key: StoreKey, value: Buffer | null): Buffer {
    if (this.#changed === null) throw new Error('a store is written by the action of a write');
    const bytes = keyBytes(key);
    this.#changed.set(nameOf(bytes), { key: bytes, value });
    return bytes;
  }

  #set({ key, value }: Change): void {
    if (value === null) this.#records.removeSync(key);
    else this.#records.putSync(key, value);
  }

  #move(position: Position): void {
    this.#state.putSync(POSITION_KEY, Buffer.from(JSON.stringify(position)));
  }
}

/** What a Writer and a Follower work with. */
export interface WriterOptions {
  readonly place: DatabasePlace;
  readonly replica: Replica;
  /**
   * Reads the whole store into the replica, because the commits that it needs are not known any
   * more.
   */
  readonly load: () => Promise<void>;
  /** Called after each change of the replica that comes from another node. */
  readonly changed: () => void;
  /** Called with the time, on the clock of `performance`, at which the replica was up to date. */
  readonly fresh: (at: number) => void;
  readonly failed: (error: unknown) => void;
  /** Whether the database has answered just now, on any connection. */
  readonly isThere: () => boolean;
}
