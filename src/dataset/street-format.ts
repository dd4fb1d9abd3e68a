/**
 * Layout of the street table, shared by its writer and its reader. Everything belongs to one
 * state, so that the states of a country can be built apart and read apart.
 *
 * key               value
 * s                 two letters of every state held
 * p|ST              localities: JSON list of [name, label, flags], the index is the id
 * z|STzzzzz|FOLD    the streets of that folded name in a ZIP
 * t|ST:id|FOLD      the same for streets of a locality whose ZIP is not known
 * c|ST:id|FOLD      where a locality has such streets: u32 each, a ZIP or TOWN_BIT + locality
 * n|STzzzzz         names of a ZIP's streets, words apart, for search with a typo
 * m|ST:id           the same of a locality
 * 4|STzzzzz         tax areas of a ZIP's add-ons by day, as the state's boundary file has them
 * 5|STzzzzz         tax areas of a ZIP by day; the layout of both stands in stated-areas.ts
 *
 * A group (z, t) is a run of streets that differ in type, direction or locality. Columns are of
 * fixed width, so a number is found by bisection where it lies, without decoding the street:
 *
 * u32 bytes · u32 points · u16 ranges · u16 areas · u16 city · u16 municipality ·
 * i32 south · i32 west · u8 pre · u8 post · u8 flags · u8 suffix length · u8 label length ·
 * suffix · label · areas u32 · numbers u16|u32 · lat and lng u16|u32 over south and west ·
 * [area index u16] · [ZIP+4 and 1 u16] · [text offset u16] · [text size u16, texts] · ranges
 *
 * range: u16 bytes · u16 vertices · u8 flags · u8 0 · u32 low · u32 high · u16 area index and 1 ·
 * u16 ZIP+4 and 1 · u32 begin date · [u32 last day, where the state's boundary file states it] ·
 * [i32 lat, i32 lng, then zigzag varint steps]
 */
import { Buffer } from 'node:buffer';
import { zipText } from './city-names.js';

export const STREET_HEAD_BYTES = 29;
export const RANGE_HEAD_BYTES = 22;

/** Marks an entry of a `c` list as a locality; without it, the entry is a ZIP. */
export const TOWN_BIT = 0x8000_0000;

export const FLAG_WIDE_NUMBERS = 1;
export const FLAG_WIDE_POINTS = 2;
export const FLAG_ZIP4 = 4;
export const FLAG_TEXTS = 8;
/** Some ranges of the street come from the state's boundary file. */
export const FLAG_STATED = 16;
/**
 * No line between tax areas is so near to a door that answers mention it. Older releases lack it.
 */
export const FLAG_APART = 32;

export const RANGE_ODD = 1;
export const RANGE_EVEN = 2;
/** Numbers decrease along the line. */
export const RANGE_DESCENDING = 4;
export const RANGE_RIGHT = 8;
/** Doors stand farther from the line than usual. */
export const RANGE_WIDE_SETBACK = 16;
/** The range comes from the state's boundary file, with its tax area, first and last day. */
export const RANGE_STATED = 32;
/** The range is stated for some units of its buildings only. */
export const RANGE_UNITS = 64;

export const STATES_KEY = 's';

export function localitiesKey(state: string): string {
  return `p|${state}`;
}

export function zipGroupKey(state: string, zip: number, fold: string): string {
  return `z|${state}${zipText(zip)}|${fold}`;
}

export function townGroupKey(state: string, locality: number, fold: string): string {
  return `t|${state}:${locality}|${fold}`;
}

export function cityKey(state: string, locality: number, fold: string): string {
  return `c|${state}:${locality}|${fold}`;
}

function ofZip(kind: string): (state: string, zip: number) => string {
  return (state, zip) => `${kind}|${state}${zipText(zip)}`;
}

export const zipNamesKey = ofZip('n');
export const addOnsKey = ofZip('4');
export const statedZipKey = ofZip('5');

export function cityNamesKey(state: string, locality: number): string {
  return `m|${state}:${locality}`;
}

/** Bytes of a group. */
export interface Group {
  readonly bytes: Uint8Array;
  /** Index of the first byte, and of the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** Whether it is valid until the next group is read, or only until the next read of any table. */
  readonly isLasting: boolean;
}

/** Adds the entries of a `c` list, without duplicates: ZIPs, and −id of localities. */
export function addPlaces({ bytes, start, end }: Group, into: number[]): void {
  for (let at = start; at + 4 <= end; at += 4) {
    const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    const place = (low | (bytes[at + 3]! << 24)) >>> 0;
    const signed = place >= TOWN_BIT ? TOWN_BIT - place : place;
    if (!into.includes(signed)) into.push(signed);
  }
}

/** Longest name in a list. */
export const NAME_LENGTH_MAX = 63;

/** Adds the names that differ by one changed, missing, extra or swapped letter. */
export function namesWithinOneTypo(list: Uint8Array | null, name: string, into: string[]): void {
  if (list === null) return;
  const view = new DataView(list.buffer, list.byteOffset, list.byteLength);
  const wanted = Buffer.from(name, 'utf8');
  const longest = Math.min(NAME_LENGTH_MAX, wanted.length + 1);
  for (let length = Math.max(1, wanted.length - 1); length <= longest; length += 1) {
    const end = view.getUint32(length * 4, true);
    for (let at = view.getUint32((length - 1) * 4, true); at < end; at += length) {
      if (!isOneTypo(list, at, length, wanted)) continue;
      const found = Buffer.from(list.subarray(at, at + length)).toString('utf8');
      if (!into.includes(found)) into.push(found);
    }
  }
}

function isOneTypo(list: Uint8Array, at: number, length: number, name: Uint8Array): boolean {
  const shorter = Math.min(length, name.length);
  let head = 0;
  while (head < shorter && list[at + head] === name[head]) head += 1;
  let tail = 0;
  const rest = shorter - head;
  while (tail < rest && list[at + length - 1 - tail] === name[name.length - 1 - tail]) tail += 1;
  if (length !== name.length) return head + tail === shorter;
  const differing = length - head - tail;
  return (
    differing === 1 ||
    (differing === 2 && list[at + head] === name[head + 1] && list[at + head + 1] === name[head])
  );
}
