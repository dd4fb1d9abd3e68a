/** Opens a release read-only. One per thread; every read is synchronous. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CellIndex } from './cell-index.js';
import type { Dataset } from './dataset.js';
import {
  byteTable,
  type ByteTable,
  indexedTable,
  openTables,
  recordReader,
  streetTable,
  type Tables,
} from './layout.js';
import { DATA_FILE, readManifest, releaseName } from './manifest.js';
import { pageProblem } from './page-check.js';
import { NumberCache, RecentCache, WordTable } from '../base/tables.js';
import type {
  AreaRecord,
  CityRecord,
  ComponentRecord,
  SourceRecord,
  StateRecord,
  ZipRecord,
} from './records.js';
import { StreetIndex } from './street-index.js';

/** Records kept decoded per table and thread, in each of two generations. */
const RECORDS_MAX = 16_384;

type Decode = (bytes: Uint8Array) => unknown;

/** No city's name is as long; what is longer is not looked for, and its absence not kept. */
const CITY_NAME_LENGTH_MAX = 100;

/** Where decoded records are kept. */
interface Kept<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

class RecordTable<K extends number | string, V> {
  readonly #recent: Kept<K, V>;
  readonly #bytes: ByteTable<K>;
  readonly #decode: Decode;
  readonly #missing: RecentCache<K, true> | null;

  /** `missing`, where given, keeps the keys that have no record. */
  constructor(
    bytes: ByteTable<K>,
    decode: Decode,
    recent: Kept<K, V>,
    missing: RecentCache<K, true> | null = null,
  ) {
    this.#recent = recent;
    this.#bytes = bytes;
    this.#decode = decode;
    this.#missing = missing;
  }

  find(key: K): V | null {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    if (this.#missing?.get(key) === true) return null;
    const bytes = this.#bytes.get(key);
    if (bytes === null) {
      this.#missing?.set(key, true);
      return null;
    }
    const record = this.#decode(bytes) as V;
    this.#recent.set(key, record);
    return record;
  }

  require(key: K, what: string): V {
    const record = this.find(key);
    if (record === null) throw new Error(`dataset has no ${what} ${key}`);
    return record;
  }
}

function decoderOf({ root, text }: Tables): Decode {
  try {
    const reader = recordReader(byteTable(text.meta).get('structures'));
    return (bytes) => reader.unpack(bytes);
  } catch (error) {
    void root.close();
    throw error;
  }
}

/**
 * The same of one shape: as they are read some lack `partial`, and where objects have several
 * shapes a look at a member takes several times as long.
 */
function ofOneShape(area: AreaRecord): AreaRecord {
  return {
    id: area.id,
    country: area.country,
    state: area.state,
    stateName: area.stateName,
    stateFips: area.stateFips,
    countyFips: area.countyFips,
    countyName: area.countyName,
    countyFullName: area.countyFullName,
    placeName: area.placeName,
    placeGeoid: area.placeGeoid,
    incorporated: area.incorporated,
    components: area.components,
    unknown: area.unknown,
    staleAfter: area.staleAfter,
    estimated: area.estimated,
    partial: area.partial,
  };
}

/** A dataset whose contents can be listed: for tools, not for answers. */
export interface ListedDataset extends Dataset {
  areaIds(): Iterable<number>;
  /** ZIPs as numbers, ascending. */
  zipNumbers(): Iterable<number>;
}

class LmdbDataset implements ListedDataset {
  readonly id: string;
  readonly cells: CellIndex;
  readonly streets: StreetIndex;
  readonly #tables: Tables;
  readonly #layers: ReadonlySet<string>;
  readonly #areas: RecordTable<number, AreaRecord>;
  /** The tax area that was asked for last: an answer asks for its own several times. */
  #area: AreaRecord | null = null;
  readonly #components: RecordTable<number, ComponentRecord>;
  readonly #zips: RecordTable<number, ZipRecord>;
  readonly #cities: RecordTable<string, CityRecord>;
  readonly #documents: RecordTable<string, unknown>;
  readonly #sources: readonly SourceRecord[];
  readonly #states: readonly StateRecord[];
  readonly #statesByCode: WordTable<StateRecord>;

  constructor(dir: string) {
    const manifest = readManifest(dir);
    this.id = releaseName(manifest);
    const file = join(dir, DATA_FILE);
    if (!existsSync(file)) throw new Error(`dataset ${this.id} has no ${DATA_FILE}`);
    const cut = pageProblem(file);
    if (cut !== null) throw new Error(`dataset ${this.id} cannot be opened: ${cut}`);
    const tables = openTables(file, 'read');
    this.#tables = tables;
    const decode = decoderOf(tables);
    this.#layers = new Set(manifest.layers);
    this.#areas = new RecordTable(
      byteTable(tables.number.areas),
      (bytes) => ofOneShape(decode(bytes) as AreaRecord),
      new NumberCache(RECORDS_MAX),
    );
    this.#components = new RecordTable(
      byteTable(tables.number.components),
      decode,
      new NumberCache(RECORDS_MAX),
    );
    this.#zips = new RecordTable(
      byteTable(tables.number.zips),
      decode,
      new NumberCache(RECORDS_MAX),
    );
    this.#cities = new RecordTable(
      byteTable(tables.text.cities),
      decode,
      new RecentCache(RECORDS_MAX),
      // Most words of addresses that could be a city are none.
      new RecentCache(RECORDS_MAX),
    );
    this.#documents = new RecordTable(
      byteTable(tables.text.documents),
      decode,
      new RecentCache(RECORDS_MAX),
    );
    this.#sources = manifest.sources;
    this.#states = this.#firstRecords();
    this.#statesByCode = new WordTable(this.#states.map((state) => [state.code, state] as const));
    this.cells = new CellIndex(byteTable(tables.number.tiles), indexedTable(tables.number.leaves));
    this.streets = new StreetIndex(streetTable(tables.text.streets));
  }

  /** Whatever does not open leaves nothing open: it may be tried again with every request. */
  #firstRecords(): readonly StateRecord[] {
    try {
      return this.#documents.require('states', 'document') as readonly StateRecord[];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  hasLayer(name: string): boolean {
    return this.#layers.has(name);
  }

  area(id: number): AreaRecord {
    if (this.#area?.id === id) return this.#area;
    return (this.#area = this.#areas.require(id, 'tax area'));
  }

  component(id: number): ComponentRecord {
    return this.#components.require(id, 'component');
  }

  source(id: number): SourceRecord {
    const source = this.#sources[id];
    if (source === undefined) throw new Error(`dataset has no source ${id}`);
    return source;
  }

  states(): readonly StateRecord[] {
    return this.#states;
  }

  state(code: string): StateRecord | null {
    return this.#statesByCode.get(code) ?? null;
  }

  zip(zip: number): ZipRecord | null {
    return this.#zips.find(zip);
  }

  city(state: string, name: string): CityRecord | null {
    return name.length > CITY_NAME_LENGTH_MAX ? null : this.#cities.find(`${state}|${name}`);
  }

  document(name: string): unknown {
    return this.#documents.find(name);
  }

  areaIds(): Iterable<number> {
    return this.#tables.number.areas.getKeys();
  }

  zipNumbers(): Iterable<number> {
    return this.#tables.number.zips.getKeys();
  }

  close(): void {
    void this.#tables.root.close();
  }
}

/**
 * Opens the release in a folder.
 * @throws Error when the folder holds no dataset, or one of another format.
 */
export function openDataset(dir: string): ListedDataset {
  return new LmdbDataset(dir);
}
