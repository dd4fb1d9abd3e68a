/**
 * The LMDB layout of a dataset: one environment, one database per table, keys and records as
 * listed here and nowhere else.
 *
 * table       key                        value
 * meta        "structures"               JSON of the record structures
 * areas       area id                    AreaRecord
 * components  component id               ComponentRecord
 * zips        five-digit ZIP             ZipRecord
 * cities      "ST|NAME"                  CityRecord
 * documents   name                       any msgpack document ("states", "sources", "tic", …)
 * tiles       tile number                directory of cells (cell-index.ts)
 * leaves      leaf number                border edges (cell-index.ts)
 * streets     text key                   street records (street-index.ts)
 */
import { Packr, Unpackr } from 'msgpackr';
import { open, type Database, type RootDatabase } from 'lmdb';
import { READERS_MAX } from './manifest.js';
import { StreetKey } from './street-bytes.js';

/**
 * The seam between LMDB and the indexes kept in it: a table of bytes by key. Implementations may
 * return a view that the next `get` on any table overwrites, so readers copy what they keep.
 */
export interface ByteTable<K extends number | string> {
  get(key: K): Uint8Array | null;
}

/** The street table. Besides its texts it has groups of streets, by keys in bytes. */
export interface StreetTable extends ByteTable<string> {
  /**
   * A group, to be read by index up to its `length` only: the memory behind it may be larger, and
   * the next read of any table overwrites it.
   */
  group(key: StreetKey): Uint8Array | null;
}

/** Entries that a builder gives the writer: bytes by key, in any order, with unique keys. */
export type ByteEntries<K extends number | string> = Iterable<readonly [K, Uint8Array]>;

export const NUMBER_TABLES = ['areas', 'components', 'zips', 'tiles', 'leaves'] as const;
export const TEXT_TABLES = ['cities', 'documents', 'meta', 'streets'] as const;
export type NumberTable = (typeof NUMBER_TABLES)[number];
export type TextTable = (typeof TEXT_TABLES)[number];

export interface Tables {
  readonly root: RootDatabase;
  readonly number: Readonly<Record<NumberTable, Database<Uint8Array, number>>>;
  readonly text: Readonly<Record<TextTable, Database<Uint8Array, string>>>;
}

/** How lmdb encodes keys of the street table; the bytes are those of plain text. */
const STREET_KEY_ENCODER = {
  /** Also accepts bytes, because lmdb uses them for the bounds of a whole table. */
  writeKey(key: StreetKey | string | Uint8Array, target: Uint8Array, start: number): number {
    const { length } = key;
    const from =
      key instanceof StreetKey
        ? key.bytes
        : typeof key === 'string'
          ? Buffer.from(key, 'latin1')
          : key;
    for (let index = 0; index < length; index += 1) target[start + index] = from[index]!;
    const end = start + length;
    // The table compares whole words, so the bytes behind the key must be zero.
    target[end] = target[end + 1] = target[end + 2] = target[end + 3] = 0;
    return end;
  },
  readKey(source: Uint8Array, start: number, end: number): string {
    return Buffer.from(source.buffer, source.byteOffset + start, end - start).toString('latin1');
  },
  /** lmdb calls this; nothing is to do, since keys end in zeros already. */
  enableNullTermination(): void {},
};

/** Opens the tables of a release, or creates them for a build. */
export function openTables(file: string, mode: 'read' | 'build'): Tables {
  const root = open({
    path: file,
    readOnly: mode === 'read',
    maxDbs: NUMBER_TABLES.length + TEXT_TABLES.length + 1,
    maxReaders: READERS_MAX,
    encoding: 'binary',
    ...(mode === 'build' ? { mapSize: 16 * 1024 ** 3 } : {}),
  });
  const byNumber = (name: NumberTable): Database<Uint8Array, number> =>
    root.openDB<Uint8Array, number>({ name, encoding: 'binary', keyEncoding: 'uint32' });
  const byText = (name: TextTable): Database<Uint8Array, string> =>
    root.openDB<Uint8Array, string>({ name, encoding: 'binary' });
  // A variable of its own, because lmdb's types do not list the key encoder among a table's
  // options.
  const ownKeys = { name: 'streets', encoding: 'binary', keyEncoder: STREET_KEY_ENCODER } as const;
  const streets = mode === 'build' ? byText('streets') : root.openDB<Uint8Array, string>(ownKeys);
  return {
    root,
    number: {
      areas: byNumber('areas'),
      components: byNumber('components'),
      zips: byNumber('zips'),
      tiles: byNumber('tiles'),
      leaves: byNumber('leaves'),
    },
    text: {
      cities: byText('cities'),
      documents: byText('documents'),
      meta: byText('meta'),
      streets,
    },
  };
}

/**
 * A table as plain bytes. lmdb's fast read hands out a reused buffer whose real length is its
 * `length` property and not the length of the ArrayBuffer behind it, hence the subarray.
 */
export function byteTable<K extends number | string>(
  database: Database<Uint8Array, K>,
): ByteTable<K> {
  return {
    get(key: K): Uint8Array | null {
      const found = database.getBinaryFast(key);
      return found === undefined ? null : found.subarray(0, found.length);
    },
  };
}

/**
 * As `byteTable`, without the subarray, which costs a quarter of a read. For readers that use the
 * bytes only by index up to `length`.
 */
export function indexedTable<K extends number | string>(
  database: Database<Uint8Array, K>,
): ByteTable<K> {
  return { get: (key) => database.getBinaryFast(key) ?? null };
}

/**
 * The table with keys of type StreetKey; lmdb's types only allow text, but the encoder takes both.
 */
interface Groups {
  getBinaryFast(key: StreetKey | string): Uint8Array | undefined;
}

/** The street table. Its groups are views of the memory that lmdb reads into. */
export function streetTable(database: Database<Uint8Array, string>): StreetTable {
  const { get } = byteTable(database);
  const groups: Groups = database;
  return { get, group: (key) => groups.getBinaryFast(key) ?? null };
}

/** Encodes records with structures that the whole dataset shares, in the order of first use. */
export class RecordWriter {
  readonly #structures: object[] = [];
  readonly #packr = new Packr({ structures: this.#structures });

  encode(record: object): Uint8Array {
    return Uint8Array.from(this.#packr.pack(record));
  }

  /** The structures, which are stored under meta "structures" after the last record is encoded. */
  structures(): Uint8Array {
    return Buffer.from(JSON.stringify(this.#structures));
  }
}

/** Decodes records written by a RecordWriter. */
export function recordReader(structures: Uint8Array | null): Unpackr {
  const list = structures === null ? [] : JSON.parse(Buffer.from(structures).toString('utf8'));
  return new Unpackr({ structures: list as object[] });
}
