/** A store in PostgreSQL that is shared by any number of nodes; each reads from its own replica. */
import { StoreFault } from '../fault.js';
import { FORMAT_KEY, FORMAT_VERSION, FORMATS_READ, type StoreKey } from '../format.js';
import { packPlain, type StoredValue, unpackRecord } from '../record-bytes.js';
import type { RecordBytes, RecordRange, Root, RootWriteOptions } from '../root.js';
import { catchUp, Follower } from './change-log.js';
import { Connection } from './connection.js';
import { loadReplica } from './whole-store.js';
import { TURN_MS_MAX } from './pending.js';
import { databasePlace, type DatabasePlace } from './place.js';
import { Replica, type WriterOptions } from './replica.js';
import { migrate } from './schema.js';
import { Writer } from './writer.js';

/** Longest wait for the tables of a store, which another node may be making. */
const MIGRATE_QUERY_MS_MAX = 60_000;
/** A database that answered within this time counts as reachable. */
const THERE_MS = 2_000;

export class PostgresRoot implements Root {
  readonly #place: DatabasePlace;
  readonly #replica: Replica;
  readonly #writer: Writer;
  readonly #follower: Follower;
  readonly #watchers = new Set<() => void>();
  /** When the replica was last known to be up to date, on the clock of `performance`. */
  #freshAt = performance.now();
  #loading: Promise<void> | null = null;
  #written = 0;

  private constructor(place: DatabasePlace, replica: Replica, failed: (error: unknown) => void) {
    this.#place = place;
    this.#replica = replica;
    const options: WriterOptions = {
      place,
      replica,
      failed,
      load: () => this.#load(),
      changed: () => this.#changed(),
      fresh: (at) => {
        this.#freshAt = Math.max(this.#freshAt, at);
      },
      isThere: () => this.age() < THERE_MS,
    };
    this.#writer = new Writer(options);
    const covered = (from: number): boolean => this.#writer.covers(from);
    this.#follower = new Follower({ ...options, covered });
  }

  /**
   * Opens the store at an address, or makes it. The replica is in a folder of variables.
   * @throws Error when the database cannot be reached or a newer program made the store.
   */
  static async open(
    url: string,
    varDir: string,
    failed: (error: unknown) => void,
  ): Promise<PostgresRoot> {
    const place = databasePlace(url);
    const connection = await Connection.open(place, {
      use: 'start',
      queryMs: MIGRATE_QUERY_MS_MAX,
    });
    const replica = await PostgresRoot.#newest(connection, place, varDir).finally(() =>
      connection.close(),
    );
    const root = new PostgresRoot(place, replica, failed);
    try {
      await root.#begin();
      return root;
    } catch (error) {
      await root.close();
      throw error;
    }
  }

  /** A replica that is up to date, which may take longer than a write may wait. */
  static async #newest(
    connection: Connection,
    place: DatabasePlace,
    varDir: string,
  ): Promise<Replica> {
    const { id } = await migrate(connection, place);
    const replica = new Replica(varDir, id);
    const at = await catchUp(connection, replica, () => undefined);
    if (at === null) await loadReplica(place, replica);
    return replica;
  }

  get(key: StoreKey): Buffer | undefined {
    return this.#replica.get(key);
  }

  peek(key: StoreKey): Buffer | undefined {
    return this.#replica.get(key);
  }

  unstored(key: StoreKey): StoredValue | null {
    return this.#replica.unstored(key);
  }

  /** Always null: other nodes may have written at any time. */
  known(key: StoreKey): StoredValue | null {
    return this.#replica.unstored(key);
  }

  range(range: RecordRange): Iterable<RecordBytes> {
    return this.#replica.range(range);
  }

  keys(range: RecordRange): Iterable<StoreKey> {
    return this.#replica.keys(range);
  }

  put(key: StoreKey, value: StoredValue): void {
    this.#replica.put(key, value);
  }

  remove(key: StoreKey): void {
    this.#replica.remove(key);
  }

  async write<T>(action: () => T, { certain = false }: RootWriteOptions = {}): Promise<T> {
    // After so long without the database, waiting would be in vain. The replica may also be old
    // because the process stood still; then the database was not tried yet.
    const isFailing = this.#follower.isFailing || this.#writer.isFailing;
    if (isFailing && this.age() > TURN_MS_MAX) throw new StoreFault('unreachable');
    const result = (await this.#writer.write(action, certain)) as T;
    this.#written += 1;
    return result;
  }

  get written(): number {
    return this.#written;
  }

  refresh(): void {
    this.#replica.refresh();
  }

  bytes(): number {
    return this.#replica.bytes();
  }

  entries(): number {
    return this.#replica.entries();
  }

  users(): readonly number[] {
    return [];
  }

  copy(): Promise<void> {
    return Promise.reject(
      new Error(
        `the store is in ${this.#place.shown}: back it up with ` +
          'pg_dump or what else the database has for it, or copy it into a folder with ' +
          '"situs store copy" first',
      ),
    );
  }

  age(): number {
    return performance.now() - this.#freshAt;
  }

  watch(changed: () => void): void {
    this.#watchers.add(changed);
  }

  leave(): void {
    this.#writer.leave();
  }

  async close(): Promise<void> {
    await this.#writer.close();
    await this.#follower.close();
    await this.#loading?.catch(() => undefined);
    await this.#replica.close();
  }

  /** Records the format in a new store. @throws Error when the store has a newer one. */
  async #begin(): Promise<void> {
    const problem = await this.#writer.write(() => {
      const found = this.get(FORMAT_KEY);
      const format = found === undefined ? undefined : unpackRecord(FORMAT_KEY, found);
      if (format === FORMAT_VERSION) return null;
      if (format !== undefined && !FORMATS_READ.includes(format)) {
        return (
          `the store in ${this.#place.shown} has format ${String(format)}, this version ` +
          `reads ${FORMAT_VERSION}`
        );
      }
      this.put(FORMAT_KEY, packPlain(FORMAT_VERSION));
      return null;
    }, false);
    if (typeof problem === 'string') throw new Error(problem);
  }

  #load(): Promise<void> {
    this.#loading ??= loadReplica(this.#place, this.#replica)
      .then(() => this.#changed())
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  #changed(): void {
    for (const changed of this.#watchers) changed();
  }
}
