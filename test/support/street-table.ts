/**
 * Builds a street table in memory: address points, street ranges and ZIPs of boundary files → bytes
 * by key, laid out in dataset/street-format.ts. What a build makes of any size
 * (ingest/street/addresses.ts) is held against it.
 */
import type { Gazetteer } from '../../src/address/parsed.js';
import type { ByteEntries, StreetTable } from '../../src/dataset/layout.js';
import type { Microdegrees } from '../../src/geo/microdegrees.js';
import type { AddressPoint } from '../../src/ingest/source/points.js';
import type { StreetRange } from '../../src/ingest/source/ranges.js';
import type { NearLine } from '../../src/ingest/street/apart.js';
import { StreetCollection } from '../../src/ingest/street/collection.js';
import { byKey, type Entry, stateEntries, streetEntries } from '../../src/ingest/street/entries.js';
import { LocalityNumbers } from '../../src/ingest/street/localities.js';
import { finalStreets } from '../../src/ingest/street/order.js';
import { areaAlong, areaAshore } from '../../src/ingest/street/situate.js';
import { addDoor, SideWriter } from '../../src/ingest/street/stated.js';
import { StatedZips, type ZipRange } from '../../src/ingest/street/stated-zips.js';

/** Tax area of a spot, −1 where there is none; the municipality is what the source states. */
type AreaAt = (
  lat: Microdegrees,
  lng: Microdegrees,
  municipality: string | undefined,
  state: string,
) => number;

/** What was kept and what was left out. */
interface StreetCounts {
  readonly points: number;
  readonly sides: number;
  readonly zips: number;
  /** Points and sides outside every tax area. */
  readonly outside: number;
  /** Points and sides whose number or street cannot be read. */
  readonly unread: number;
}

export class StreetIndexBuilder {
  readonly #areaAt: AreaAt;
  readonly #nearLine: NearLine;
  readonly #collection: StreetCollection;
  readonly #zips = new StatedZips();
  readonly #sides = new SideWriter();
  #outside = 0;
  #unread = 0;

  /** Without `nearLine` no street is said to be far from lines. */
  constructor(areaAt: AreaAt, gazetteer: Gazetteer, nearLine: NearLine = () => true) {
    this.#areaAt = areaAt;
    this.#nearLine = nearLine;
    this.#collection = new StreetCollection(gazetteer);
  }

  get counts(): StreetCounts {
    const { doorStreet, sides } = this.#collection;
    return {
      points: doorStreet.length,
      sides: sides.length,
      zips: this.#zips.length,
      outside: this.#outside,
      unread: this.#unread,
    };
  }

  addPoint(point: AddressPoint): void {
    const { municipality, state } = point;
    const area = areaAshore(point.lat, point.lng, (lat, lng) =>
      this.#areaAt(lat, lng, municipality || undefined, state),
    );
    if (area < 0) this.#outside += 1;
    else if (!addDoor(this.#collection, point, area)) this.#unread += 1;
  }

  addRange(range: StreetRange): void {
    const { municipality, state } = range;
    for (const right of [false, true]) {
      const side = right ? range.right : range.left;
      if (side === null) continue;
      const area =
        range.area ??
        areaAlong(range, side, right, (lat, lng) =>
          this.#areaAt(lat, lng, municipality || undefined, state),
        );
      if (area === null) this.#outside += 1;
      else if (!this.#sides.add(this.#collection, range, right, area)) this.#unread += 1;
    }
  }

  addZips(range: ZipRange): void {
    if (!this.#zips.add(range)) this.#unread += 1;
  }

  /** Every key with its bytes, ascending. The builder is spent afterwards. */
  entries(): Entry[] {
    const collection = this.#collection;
    const localities = new LocalityNumbers(collection.labels.keys());
    const doubted = collection.pairs().disbelieved();
    const zips = Int32Array.from(collection.streets, ({ state, municipality, zip }) =>
      doubted.has(state, municipality, zip) ? 0 : zip,
    );
    const streets = finalStreets(collection, localities, zips);
    const states = new Set([...streets.map((street) => street.state), ...this.#zips.states()]);
    collection.stateZips(this.#zips);
    return [
      ...stateEntries(states, (state) => localities.rows(state, collection.labels)),
      ...streetEntries(collection, streets, this.#nearLine),
      ...this.#zips.entries(),
    ].sort(byKey);
  }
}

/** What a street table is built from. */
interface StreetSources {
  readonly points: AsyncIterable<AddressPoint> | Iterable<AddressPoint>;
  readonly ranges: AsyncIterable<StreetRange> | Iterable<StreetRange>;
  readonly zips: AsyncIterable<ZipRange> | Iterable<ZipRange>;
  readonly areaAt: AreaAt;
  /** Names of states, as the reader of addresses will know them. */
  readonly gazetteer: Gazetteer;
}

/** Reads the sources to their end and gives the entries of the street table. */
export async function buildStreetIndex(sources: StreetSources): Promise<ByteEntries<string>> {
  const builder = new StreetIndexBuilder(sources.areaAt, sources.gazetteer);
  for await (const point of sources.points) builder.addPoint(point);
  for await (const range of sources.ranges) builder.addRange(range);
  for await (const range of sources.zips) builder.addZips(range);
  return builder.entries();
}

/** A street table over whatever holds its entries by the text of their keys. */
export function streetTableOf(get: (key: string) => Uint8Array | null): StreetTable {
  return { get, group: (key) => get(key.toString()) };
}
