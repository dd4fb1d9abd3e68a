/** Keys of the street table with their bytes, from streets that were merged and ordered. */
import {
  cityKey, cityNamesKey, TOWN_BIT, townGroupKey, zipGroupKey, zipNamesKey,
} from '../../dataset/street-format.js';
import { ByteSink } from './bytes.js';
import type { StreetCollection } from './collection.js';
import { mergeDoors, writeStreet } from './encoding.js';
import { decodeNames, encodeNames } from './names.js';
import type { FinalStreet } from './order.js';

export type Entry = readonly [key: string, bytes: Uint8Array];

/** Ascending by the bytes of the key, which has letters, figures and signs of ASCII alone. */
export function byKey(one: Entry, other: Entry): number {
  return one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0;
}

/** Everything that streets are found by, in order of the keys. */
export function streetEntries(
  collection: StreetCollection, streets: readonly FinalStreet[],
): Entry[] {
  return [
    ...groupEntries(collection, streets), ...cityEntries(streets), ...nameEntries(streets),
  ].sort(byKey);
}

function* groupEntries(
  collection: StreetCollection, streets: readonly FinalStreet[],
): Generator<Entry> {
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
    writeStreet(sink, street, mergeDoors(collection, street.points), collection.sides,
      street.sides);
  }
  if (key !== '') yield [key, sink.copy()];
}

function gather<V>(into: Map<string, Set<V>>, key: string, value: V): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, new Set([value]));
  else known.add(value);
}

function encodePlaces(places: Iterable<number>): Uint8Array {
  const sink = new ByteSink();
  for (const place of [...new Set(places)].sort((a, b) => a - b)) sink.u32(place);
  return sink.copy();
}

function* decodePlaces(bytes: Uint8Array): Generator<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 4) yield view.getUint32(at, true);
}

function* cityEntries(streets: readonly FinalStreet[]): Generator<Entry> {
  const places = new Map<string, Set<number>>();
  for (const { state, zip, town, city, municipality, fold } of streets) {
    const place = zip > 0 ? zip : TOWN_BIT + town;
    if (city > 0) gather(places, cityKey(state, city, fold), place);
    if (municipality > 0) gather(places, cityKey(state, municipality, fold), place);
  }
  for (const [key, own] of places) yield [key, encodePlaces(own)];
}

function* nameEntries(streets: readonly FinalStreet[]): Generator<Entry> {
  const names = new Map<string, Set<string>>();
  for (const { state, zip, city, municipality, names: own } of streets) {
    for (const name of own) {
      if (zip > 0) gather(names, zipNamesKey(state, zip), name);
      if (city > 0) gather(names, cityNamesKey(state, city), name);
      if (municipality > 0) gather(names, cityNamesKey(state, municipality), name);
    }
  }
  for (const [key, own] of names) yield [key, encodeNames(own)];
}

/**
 * The bytes of one key of which several parts of a state have some: lists of places and of names
 * are united.
 * @throws Error for any other key, which one part alone can have.
 */
export function unite(key: string, parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  if (key.startsWith('c|')) return encodePlaces(parts.flatMap((part) => [...decodePlaces(part)]));
  if (key.startsWith('m|')) return encodeNames(parts.flatMap((part) => [...decodeNames(part)]));
  throw new Error(`two parts of a state have the key ${key}`);
}
