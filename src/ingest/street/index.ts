/**
 * Builds the street table: address points, street ranges and ZIP+4 ranges → bytes by key, laid
 * out in dataset/street-format.ts. The same sources give the same bytes in whatever order they
 * come. States do not share keys, so a country can be built state by state.
 */
import type { Gazetteer } from '../../address/parsed.js';
import {
  cityKey, cityNamesKey, localitiesKey, STATES_KEY, TOWN_BIT, townGroupKey, zip9Key, zipGroupKey,
  zipNamesKey,
} from '../../dataset/street-format.js';
import { NAME_LENGTH_MAX } from '../../dataset/street-typo.js';
import type { ByteEntries } from '../../dataset/tables.js';
import { DOOR_SETBACK_METRES, interpolate } from '../../geo/interpolate.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { AddressPoint } from '../source/points.js';
import type { RangeSide, StreetRange } from '../source/ranges.js';
import { areaAshore } from './addresses.js';
import { ByteSink } from './bytes.js';
import { StreetCollection } from './collection.js';
import { mergeDoors, writeStreet } from './encoding.js';
import { type FinalStreet, finalStreets, LocalityNumbers } from './order.js';
import { encodeZip9, rangesByZip, type Zip9Range } from './zip9.js';

/** Tax area of a spot, −1 where there is none; the municipality is what the source states. */
export type AreaAt = (
  lat: Microdegrees,
  lng: Microdegrees,
  municipality: string | undefined,
  state: string,
) => number;

/** What was kept and what was left out. */
export interface StreetCounts {
  readonly points: number;
  readonly sides: number;
  readonly zip9: number;
  /** Points and sides outside every tax area. */
  readonly outside: number;
  /** Points and sides whose number or street cannot be read. */
  readonly unread: number;
}

/** Shares of a side's length at which its tax area is looked up. */
const SAMPLES = [0, 0.25, 0.5, 0.75, 1];

export class StreetIndexBuilder {
  readonly #areaAt: AreaAt;
  readonly #collection: StreetCollection;
  readonly #zip9: Zip9Range[] = [];
  #outside = 0;
  #unread = 0;

  constructor(areaAt: AreaAt, gazetteer: Gazetteer) {
    this.#areaAt = areaAt;
    this.#collection = new StreetCollection(gazetteer);
  }

  get counts(): StreetCounts {
    const { street, sides } = this.#collection;
    return {
      points: street.length,
      sides: sides.length,
      zip9: this.#zip9.length,
      outside: this.#outside,
      unread: this.#unread,
    };
  }

  addPoint(point: AddressPoint): void {
    const { municipality, state } = point;
    const area = areaAshore(point.lat, point.lng, (lat, lng) =>
      this.#areaAt(lat, lng, municipality || undefined, state));
    if (area < 0) this.#outside += 1;
    else if (!this.#collection.addPoint(point, area)) this.#unread += 1;
  }

  addRange(range: StreetRange): void {
    for (const right of [false, true]) {
      const side = right ? range.right : range.left;
      if (side === null) continue;
      const area = range.area ?? this.#areaAlong(range, side, right);
      if (area === null) this.#outside += 1;
      else if (!this.#collection.addSide(range, right, area)) this.#unread += 1;
    }
  }

  addZip9(range: Zip9Range): void {
    this.#zip9.push(range);
  }

  /** Every key with its bytes, in a fixed order. The builder is spent afterwards. */
  *entries(): Generator<readonly [string, Uint8Array]> {
    const collection = this.#collection;
    const localities = new LocalityNumbers(collection);
    const streets = finalStreets(collection, localities);
    const states = new Set(streets.map((street) => street.state));
    for (const { state } of this.#zip9) states.add(state);
    if (states.size > 0) yield [STATES_KEY, Buffer.from([...states].sort().join(''), 'latin1')];
    yield* groupEntries(collection, streets);
    yield* cityEntries(streets);
    yield* nameEntries(streets);
    for (const state of [...states].sort()) {
      yield [localitiesKey(state), Buffer.from(JSON.stringify(localities.rows(state)), 'utf8')];
    }
    const zips = rangesByZip(this.#zip9);
    for (const key of [...zips.keys()].sort()) {
      const zip = Number(key.slice(2));
      yield [zip9Key(key.slice(0, 2), zip), encodeZip9(zip, zips.get(key) ?? [])];
    }
  }

  /** The area of a side, −1 when it changes along it, null when a part lies in none. */
  #areaAlong(range: StreetRange, side: RangeSide, right: boolean): number | null {
    const municipality = range.municipality || undefined;
    const setback = DOOR_SETBACK_METRES[side.wideSetback ? 'wide' : 'usual'];
    let common = -2;
    for (const share of SAMPLES) {
      const { lat, lng } = interpolate(range.geometry, share, right ? setback : -setback);
      const area = this.#areaAt(lat, lng, municipality, range.state);
      if (area < 0) return null;
      if (common === -2) common = area;
      else if (common !== area) return -1;
    }
    return common;
  }
}

function* groupEntries(
  collection: StreetCollection,
  streets: readonly FinalStreet[],
): Generator<readonly [string, Uint8Array]> {
  const sink = new ByteSink();
  let key = '';
  for (const street of streets) {
    const own = street.zip > 0
      ? zipGroupKey(street.state, street.zip, street.fold)
      : townGroupKey(street.state, street.town, street.fold);
    if (own !== key && key !== '') {
      yield [key, sink.copy()];
      sink.clear();
    }
    key = own;
    writeStreet(sink, street, mergeDoors(collection, street.points), street.sides);
  }
  if (key !== '') yield [key, sink.copy()];
}

function gather<V>(into: Map<string, Set<V>>, key: string, value: V): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, new Set([value]));
  else known.add(value);
}

function* cityEntries(
  streets: readonly FinalStreet[],
): Generator<readonly [string, Uint8Array]> {
  const places = new Map<string, Set<number>>();
  for (const { state, zip, town, city, municipality, fold } of streets) {
    const place = zip > 0 ? zip : TOWN_BIT + town;
    if (city > 0) gather(places, cityKey(state, city, fold), place);
    if (municipality > 0) gather(places, cityKey(state, municipality, fold), place);
  }
  const sink = new ByteSink();
  for (const key of [...places.keys()].sort()) {
    sink.clear();
    for (const place of [...places.get(key)!].sort((a, b) => a - b)) sink.u32(place);
    yield [key, sink.copy()];
  }
}

function* nameEntries(
  streets: readonly FinalStreet[],
): Generator<readonly [string, Uint8Array]> {
  const names = new Map<string, Set<string>>();
  for (const { state, zip, city, municipality, names: own } of streets) {
    for (const name of own) {
      if (zip > 0) gather(names, zipNamesKey(state, zip), name);
      if (city > 0) gather(names, cityNamesKey(state, city), name);
      if (municipality > 0) gather(names, cityNamesKey(state, municipality), name);
    }
  }
  for (const key of [...names.keys()].sort()) yield [key, encodeNames(names.get(key)!)];
}

/** What a street table is built from. */
export interface StreetSources {
  readonly points: AsyncIterable<AddressPoint> | Iterable<AddressPoint>;
  readonly ranges: AsyncIterable<StreetRange> | Iterable<StreetRange>;
  readonly zip9: AsyncIterable<Zip9Range> | Iterable<Zip9Range>;
  readonly areaAt: AreaAt;
  /** Names of states, as the reader of addresses will know them. */
  readonly gazetteer: Gazetteer;
}

/** Reads the sources to their end and gives the entries of the street table. */
export async function buildStreetIndex(sources: StreetSources): Promise<ByteEntries<string>> {
  const builder = new StreetIndexBuilder(sources.areaAt, sources.gazetteer);
  for await (const point of sources.points) builder.addPoint(point);
  for await (const range of sources.ranges) builder.addRange(range);
  for await (const range of sources.zip9) builder.addZip9(range);
  return builder.entries();
}

// Lists of street names, for finding a name written with one typo.

/**
 * Names by length: u32 offset of each length 1…63 and of the end, then the names of a length one
 * after the other in order. A search touches three lengths and steps by a fixed width.
 */
export function encodeNames(names: Iterable<string>): Uint8Array {
  const byLength: Uint8Array[][] = [];
  for (const name of [...new Set(names)].sort()) {
    const bytes = Buffer.from(name, 'utf8');
    if (bytes.length < 1 || bytes.length > NAME_LENGTH_MAX) continue;
    (byLength[bytes.length] ??= []).push(bytes);
  }
  const sink = new ByteSink();
  let offset = (NAME_LENGTH_MAX + 1) * 4;
  for (let length = 1; length <= NAME_LENGTH_MAX; length += 1) {
    sink.u32(offset);
    offset += (byLength[length]?.length ?? 0) * length;
  }
  sink.u32(offset);
  for (const names of byLength) for (const bytes of names ?? []) sink.raw(bytes);
  return sink.copy();
}
