/**
 * What a node has of a store in PostgreSQL: all records, in an LMDB environment that can be made
 * anew at any time, and the commit up to which they are those of the database. Reading never waits.
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
 * Keys as bytes whose order is that of the keys: the parts in UTF-8 with a zero between them. The
 * two lowest characters are written as two bytes, so that no part holds the zero.
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

/** The key of some bytes. */
export function keyOf(bytes: Uint8Array): StoreKey {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const parts = text.split('\0');
  if (!text.includes('\x01')) return parts;
  return parts.map((part) => part.replace(/\x01[\x01\x02]/g, (each) => PLAIN.get(each)!));
}

/** Bytes of a key as a text, one character each. */
function nameOf(bytes: Buffer): string {
  return bytes.toString('latin1');
}

const MAP_BYTES = 4 * 1024 ** 3;
/** Bytes of changes that end a commit: what waits goes into the next one. */
const COMMIT_BYTES_MAX = 16 * 1_048_576;
/** The same of the time that actions take: nothing else is done meanwhile, here or elsewhere. */
const COMMIT_MS_MAX = 200;

/** Position of a replica that was not read whole: it has to be. */
const UNREAD: Position = { seq: -1, batch: '' };
const POSITION_KEY = 'position';

interface Attempt {
  /** In the order of the actions; fewer where they changed much or took long. */
  readonly outcomes: readonly Outcome<unknown>[];
  readonly changes: readonly Change[];
}

export class Replica {
  readonly #path: string;
  readonly #environment: RootDatabase<Buffer, string>;
  /** By the bytes of keys. */
  readonly #records: Database<Buffer, Uint8Array>;
  readonly #state: Database<Buffer, string>;
  /** What the action under way changed, by the text of the key; null outside of one. */
  #changed: Map<string, Change> | null = null;
  /** What the actions of an attempt were given to put, until one of them is undone. */
  readonly #given = new Map<string, StoredValue>();

  constructor(varDir: string, storeId: string) {
    this.#path = replicaFolder(varDir, storeId);
    this.#environment = open<Buffer, string>({
      path: this.#path,
      mapSize: MAP_BYTES,
      maxDbs: 2,
      // The database has it all; a machine that fails begins with an empty one.
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

  /** What the commit under way was given for a key and waits to be put; null where nothing does. */
  unstored(key: StoreKey): StoredValue | null {
    if (this.#changed === null) return null;
    return this.#given.get(nameOf(keyBytes(key))) ?? null;
  }

  /** Within an action alone, as `remove`. */
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

  /** From now on reading sees what was put in last. */
  refresh(): void {
    this.#records.resetReadTxn();
  }

  /**
   * What actions would change, one on what another left; nothing of it stays. Null where the
   * replica is not at the commit that is given, as where it is being read anew.
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
   * Takes over commits that follow what it has; those that it has are passed over.
   * @returns whether there was one that it did not have
   */
  apply(batches: readonly Batch[]): boolean {
    let applied = false;
    this.#environment.transactionSync(() => {
      for (const { seq, batch, changes } of batches) {
        const at = this.position.seq;
        // One that is being read whole comes to it by itself.
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

  /** From now on, until `move`, it counts as not read. */
  unread(): void {
    this.move(UNREAD);
  }

  move(position: Position): void {
    this.#environment.transactionSync(() => this.#move(position));
  }

  /** Puts these records in the place of all behind a key, up to the last of them or to the end. */
  replace(after: Buffer | null, records: readonly Change[], isEnd: boolean): void {
    const last = records.at(-1)?.key ?? null;
    this.#environment.transactionSync(() => {
      const held = this.#records.getKeys({
        ...(after === null ? {} : { start: after, exclusiveStart: true }),
        ...(isEnd || last === null ? {} : { end: last }),
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

/** What writes, and takes over what others write, with a replica. */
export interface WriterOptions {
  readonly place: DatabasePlace;
  readonly replica: Replica;
  /** Reads everything anew; the commits that the replica needs are not known any more. */
  readonly load: () => Promise<void>;
  /** Told after each change of the replica that another node made. */
  readonly changed: () => void;
  /** Told of the moment, as `performance.now`, as of which the replica is the newest. */
  readonly fresh: (at: number) => void;
  readonly failed: (error: unknown) => void;
  /** Whether the database answered a moment ago, whoever asked. */
  readonly isThere: () => boolean;
}
