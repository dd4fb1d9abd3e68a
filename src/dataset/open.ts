/** Opens a release read-only. Each thread opens its own; every read is synchronous. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CellIndex } from './cell-index.js';
import type { Dataset } from './dataset.js';
import {
  byteTable,
  indexedTable,
  openTables,
  recordReader,
  streetTable,
  type Tables,
} from './layout.js';
import { DATA_FILE, readManifest, releaseName } from './manifest.js';
import { pageProblem } from './page-check.js';
import { NumberCache, RecentCache, RecordTable, WordTable } from '../base/tables.js';
import type {
  AreaRecord,
  CityRecord,
  ComponentRecord,
  SourceRecord,
  StateRecord,
  ZipRecord,
} from './records.js';
import { StreetIndex } from './street-index.js';

/** Decoded records kept per table and thread, in each of two generations of the cache. */
const RECORDS_MAX = 16_384;

type Decode = (bytes: Uint8Array) => unknown;

/** No city has so long a name. Longer ones are not looked up, so they do not fill the cache. */
const CITY_NAME_LENGTH_MAX = 100;

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
 * A copy of the record with all members. Some decoded records lack `partial`, and reading members
 * of objects of several shapes takes several times as long.
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

/** A dataset whose contents can be listed, for commands and not for answers. */
export interface ListedDataset extends Dataset {
  areaIds(): Iterable<number>;
  /** All ZIPs as numbers, ascending. */
  zipNumbers(): Iterable<number>;
}

class LmdbDataset implements ListedDataset {
  readonly id: string;
  readonly cells: CellIndex;
  readonly streets: StreetIndex;
  readonly #tables: Tables;
  readonly #layers: ReadonlySet<string>;
  readonly area: (id: number) => AreaRecord;
  readonly component: (id: number) => ComponentRecord;
  readonly zip: (zip: number) => ZipRecord | null;
  readonly #cities: RecordTable<string, CityRecord>;
  /** Names that no city has: most words of an address that may be a city are none. */
  readonly #noCities = new RecentCache<string, true>(RECORDS_MAX);
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
    const { number, text } = tables;
    this.area = new RecordTable<number, AreaRecord>({
      what: 'tax area',
      bytes: byteTable(number.areas),
      decode: (bytes) => ofOneShape(decode(bytes) as AreaRecord),
      recent: new NumberCache(RECORDS_MAX),
    }).one;
    this.component = new RecordTable<number, ComponentRecord>({
      what: 'component',
      bytes: byteTable(number.components),
      decode: (bytes) => decode(bytes) as ComponentRecord,
      recent: new NumberCache(RECORDS_MAX),
    }).one;
    this.zip = new RecordTable<number, ZipRecord>({
      what: 'ZIP',
      bytes: byteTable(number.zips),
      decode: (bytes) => decode(bytes) as ZipRecord,
      recent: new NumberCache(RECORDS_MAX),
    }).find;
    this.#cities = new RecordTable({
      what: 'city',
      bytes: byteTable(text.cities),
      decode: (bytes) => decode(bytes) as CityRecord,
      recent: new RecentCache(RECORDS_MAX),
    });
    this.#documents = new RecordTable({
      what: 'document',
      bytes: byteTable(text.documents),
      decode,
      recent: new RecentCache(RECORDS_MAX),
    });
    this.#sources = manifest.sources;
    this.#states = this.#firstRecords();
    this.#statesByCode = new WordTable(this.#states.map((state) => [state.code, state] as const));
    this.cells = new CellIndex(byteTable(number.tiles), indexedTable(number.leaves));
    this.streets = new StreetIndex(streetTable(text.streets));
  }

  /**
   * Closes the dataset where reading fails, since opening it may be repeated with every request.
   */
  #firstRecords(): readonly StateRecord[] {
    try {
      return this.#documents.one('states') as readonly StateRecord[];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  hasLayer(name: string): boolean {
    return this.#layers.has(name);
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

  city(state: string, name: string): CityRecord | null {
    const key = `${state}|${name}`;
    if (name.length > CITY_NAME_LENGTH_MAX || this.#noCities.get(key) === true) return null;
    const found = this.#cities.find(key);
    if (found === null) this.#noCities.set(key, true);
    return found;
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
