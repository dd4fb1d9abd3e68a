/** Makes the keys and bytes of the street table from merged and ordered streets. */
import {
  cityKey,
  cityNamesKey,
  localitiesKey,
  NAME_LENGTH_MAX,
  STATES_KEY,
  TOWN_BIT,
  townGroupKey,
  zipGroupKey,
  zipNamesKey,
} from '../../dataset/street-format.js';
import type { NearLine } from './apart.js';
import { ByteSink } from './bytes.js';
import type { StreetCollection } from './collection.js';
import { mergeDoors, writeStreet } from './encoding.js';
import type { FinalStreet } from './order.js';

export type Entry = readonly [key: string, bytes: Uint8Array];

/** Compares the bytes of keys, which are all ASCII. */
export function byKey(one: Entry, other: Entry): number {
  return one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0;
}

/** All entries by which streets are found, in the order of keys. */
export function streetEntries(
  collection: StreetCollection,
  streets: readonly FinalStreet[],
  nearLine: NearLine,
): Entry[] {
  return [
    ...groupEntries(collection, streets, nearLine),
    ...cityEntries(streets),
    ...nameEntries(streets),
  ].sort(byKey);
}

function* groupEntries(
  collection: StreetCollection,
  streets: readonly FinalStreet[],
  nearLine: NearLine,
): Generator<Entry> {
  const sink = new ByteSink();
  let key = '';
  for (const street of streets) {
    const own =
      street.zip > 0
        ? zipGroupKey(street.state, street.zip, street.fold)
        : townGroupKey(street.state, street.town, street.fold);
    if (own !== key && key !== '') {
      yield [key, sink.copy()];
      sink.clear();
    }
    key = own;
    writeStreet(
      sink,
      street,
      mergeDoors(collection, street.points),
      collection.sides,
      street.sides,
      nearLine,
    );
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

/**
 * Names by length: u32 offset of each length 1…63 and of the end, then the names of a length one
 * after the other in order. A search touches three lengths and steps by a fixed width.
 */
function encodeNames(names: Iterable<string>): Uint8Array {
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

/** The names in a list that `encodeNames` wrote. */
function* decodeNames(list: Uint8Array): Generator<string> {
  const bytes = Buffer.from(list.buffer, list.byteOffset, list.length);
  for (let length = 1; length <= NAME_LENGTH_MAX; length += 1) {
    const end = bytes.readUInt32LE(length * 4);
    for (let at = bytes.readUInt32LE((length - 1) * 4); at < end; at += length) {
      yield bytes.toString('utf8', at, at + length);
    }
  }
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
 * The bytes of a key for which several parts of a state have some: lists of places and of names are
 * united.
 * @throws Error for any other key, which only one part can have.
 */
export function unite(key: string, parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  if (key.startsWith('c|')) return encodePlaces(parts.flatMap((part) => [...decodePlaces(part)]));
  if (key.startsWith('m|')) return encodeNames(parts.flatMap((part) => [...decodeNames(part)]));
  throw new Error(`two parts of a state have the key ${key}`);
}

/** The entries for all states, and the localities of each. */
export function stateEntries(
  states: Iterable<string>,
  localitiesOf: (state: string) => object,
): Entry[] {
  const sorted = [...new Set(states)].sort();
  if (sorted.length === 0) return [];
  return [
    [STATES_KEY, Buffer.from(sorted.join(''), 'latin1')],
    ...sorted.map(
      (state): Entry => [
        localitiesKey(state),
        Buffer.from(JSON.stringify(localitiesOf(state)), 'utf8'),
      ],
    ),
  ];
}
